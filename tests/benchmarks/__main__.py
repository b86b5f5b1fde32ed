"""`python -m tests.benchmarks [rows ...]`."""

import sys

from tests.benchmarks.table import report

for size in [int(word) for word in sys.argv[1:]] or [100, 10_000]:
    print("\n".join(report(size)))
