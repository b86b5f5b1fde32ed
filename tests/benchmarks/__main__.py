"""`python -m tests.benchmarks [start] [keys] [watch]`: every budget in under twenty minutes, or only these.

Each is a ratio to the floor (`floor.py`), the smallest useful Textual app, or to the plain deck (`plain.py`), the
plainest one that reads a server. The programs run in turns in terminals of their own; nothing asserts a time.
"""

import sys
from collections.abc import Callable, Iterator

from tests.benchmarks.budgets import Figure, key_answers, starts, watching

PARTS: dict[str, Callable[[], Iterator[Figure]]] = {"start": starts, "keys": key_answers, "watch": watching}


def main(words: list[str]) -> None:
    if unknown := set(words) - set(PARTS):
        sys.exit(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    for name in words or PARTS:
        for figure in PARTS[name]():
            print(figure, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
