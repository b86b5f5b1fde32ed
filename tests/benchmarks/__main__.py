"""`python -m tests.benchmarks [start] [keys] [watch]`: every budget in under twenty minutes, or only these."""

import sys
from collections.abc import Callable, Iterator

from tests.benchmarks import keys, start, watch
from tests.benchmarks.figures import Figure

PARTS: dict[str, Callable[[], Iterator[Figure]]] = {
    "start": start.measure,
    "keys": keys.measure,
    "watch": watch.measure,
}


def main(words: list[str]) -> None:
    """Print a line as soon as it is known."""
    if unknown := set(words) - set(PARTS):
        sys.exit(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    for name in words or PARTS:
        for figure in PARTS[name]():
            print(figure, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
