"""Benchmarks print ratios to a floor program run in turns with the deck's parts; nothing asserts a time.

`python -m tests.benchmarks` prints each budget; `pytest -m benchmark -s` those of the table alone.
"""
