"""Start to first paint, to usable, what is kept in memory, and leaving."""

import subprocess
import time
from collections.abc import Iterator, Sequence

from tests.benchmarks import cases
from tests.benchmarks.budgets import Measured, ratio

ROUNDS = 7
QUIT = "\x11"


def measure() -> Iterator[Measured]:
    """All of it, the programs in turns."""
    painted: dict[str, list[float]] = {"floor": [], "deck": []}
    usable: dict[int, list[float]] = {100: [], 10_000: []}
    gone: list[float] = []
    with cases.server(100) as small, cases.server(10_000) as large:
        for number in range(ROUNDS + 1):
            with cases.floor() as terminal:
                seconds = [("floor", terminal.until(cases.FLOOR_ROW))]
            for size, address in ((100, small), (10_000, large)):
                with cases.deck(address) as terminal:
                    seconds.append(("deck", terminal.until(cases.FIRST_FRAME)))
                    rows = terminal.until(cases.FIRST_ROW)
                    terminal.rest(0.5)
                    left = terminal.leave(QUIT)
                if number:
                    usable[size].append(rows)
                    gone.append(left)
            for name, value in seconds if number else ():
                painted[name].append(value)
    yield Measured("start to first paint", ratio(painted["deck"], painted["floor"]), 1.0)
    yield Measured("start to usable, 100 records", ratio(usable[100], painted["floor"]), 1.15)
    yield Measured("start to usable, 10,000 records", ratio(usable[10_000], painted["floor"]), 1.2)
    yield Measured("leaving", max(gone), 0.35, "s")
    yield Measured("--version / python -c pass", ratio(_run(cases.VERSION), _run(cases.PASS)), 3.0)


def _run(command: Sequence[str]) -> list[float]:
    seconds = []
    for _ in range(ROUNDS + 1):
        began = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds.append(time.perf_counter() - began)
    return seconds[1:]
