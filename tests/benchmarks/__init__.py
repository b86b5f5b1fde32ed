"""Benchmarks: `python -m tests.benchmarks` prints each budget as a ratio to a floor or to the plain deck.

The floor (`floor.py`) is the smallest useful Textual app, the plain deck (`plain.py`) the plainest one that reads a
server. The programs run in turns in terminals of their own; nothing asserts a time.
"""
