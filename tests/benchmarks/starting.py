"""Start to first paint, to usable, what is kept in memory, and leaving."""

import random
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from tests.benchmarks import cases
from tests.benchmarks.budgets import Measured, ratio

ROUNDS = 30
"""Fewer would have a machine's moods decide."""
QUIT = "\x11"


def measure() -> Iterator[Measured]:
    """All of it, the programs in turns, in another order each time: one may leave the machine warmer than another."""
    painted: dict[str, list[float]] = {"floor": [], "deck": []}
    usable: dict[int, list[float]] = {100: [], 10_000: []}
    gone: list[float] = []
    with cases.server(100) as small, cases.server(10_000) as large:

        def start_floor() -> None:
            with cases.floor() as terminal:
                painted["floor"].append(terminal.until(cases.FLOOR_ROW))

        def start_deck(size: int, address: str) -> None:
            with cases.deck(address) as terminal:
                painted["deck"].append(terminal.until(cases.FIRST_FRAME))
                usable[size].append(terminal.until(cases.FIRST_ROW))
                terminal.rest(0.5)
                gone.append(terminal.leave(QUIT))

        starts: list[Callable[[], None]] = [
            start_floor,
            partial(start_deck, 100, small),
            partial(start_deck, 10_000, large),
        ]
        for start in starts:
            start()
        for seconds in (*painted.values(), *usable.values(), gone):
            seconds.clear()  # who starts first reads from the disk
        for _ in range(ROUNDS):
            random.shuffle(starts)
            for start in starts:
                start()
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
