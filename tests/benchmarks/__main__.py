"""`python -m tests.benchmarks [start] [keys] [watch] [refresh] [table] [long]`: every budget, or only these.

`long` adds lists of 100,000 records, which the deck reads for four minutes.
"""

import sys
from collections.abc import Callable, Iterable, Iterator

from tests.benchmarks import keys, refreshing, starting, table, watching
from tests.benchmarks.budgets import Measured

SIZES = (100, 10_000)
LONG = (100_000,)


def main(words: list[str]) -> None:
    """Print a line as soon as it is known."""
    sizes = SIZES + LONG * ("long" in words)
    parts: dict[str, Callable[[], Iterable[Measured]]] = {
        "start": starting.measure,
        "keys": lambda: keys.measure(sizes),
        "watch": lambda: watching.measure(sizes),
        "refresh": refreshing.measure,
        "table": lambda: _tables(SIZES),
    }
    chosen = [word for word in words if word in parts] or parts
    for name in chosen:
        for line in parts[name]():
            print(line, flush=True)


def _tables(sizes: Iterable[int]) -> Iterator[Measured]:
    for size in sizes:
        yield from table.measure(size)


if __name__ == "__main__":
    main(sys.argv[1:])
