"""Start to the first frame and to the first row, and leaving."""

import random
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial

from tests.benchmarks import programs
from tests.benchmarks.figures import Figure, ratio
from tests.benchmarks.terminal import Terminal

ROUNDS = 15
Start = Callable[[], AbstractContextManager[Terminal]]


def measure() -> Iterator[Figure]:
    """All of it, the programs in turns, in another order each time: one may leave the machine warmer than another."""
    with programs.server(100) as small, programs.server(10_000) as large:
        seconds: dict[str, list[float]] = defaultdict(list)
        left: list[int] = []
        starts: list[tuple[Start, dict[str, bytes]]] = [
            (programs.floor, {"floor": programs.FLOOR_ROW}),
            (partial(programs.plain, small), {"plain 100": programs.SANDBOX}),
            (partial(programs.plain, large), {"plain 10,000": programs.SANDBOX}),
            (partial(programs.deck, small), {"frame": programs.FRAME, "deck 100": programs.CONVERSATION}),
            (partial(programs.deck, large), {"frame": programs.FRAME, "deck 10,000": programs.CONVERSATION}),
            (programs.deck, {"frame": programs.FRAME, "deck local": programs.NO_CONVERSATION}),
        ]
        for number in range(ROUNDS + 1):
            random.shuffle(starts)
            for start, shown in starts:
                with start() as terminal:
                    for name, words in shown.items():
                        seconds[name].append(terminal.until(words))
                    if "frame" in shown:
                        time.sleep(0.5)
                        seconds["leaving"].append(terminal.leave(programs.QUIT))
                        left.append(terminal.left_behind)
            if number == 0:
                seconds.clear()  # who starts first reads from the disk
    yield Figure("start to first paint / floor", ratio(seconds["frame"], seconds["floor"]), 1.0)
    for size in ("100", "10,000"):
        slower = ratio(seconds[f"deck {size}"], seconds[f"plain {size}"])
        yield Figure(f"start to usable, {size} records / plain", slower, 1.25)
    yield Figure("start to usable, local service / plain", ratio(seconds["deck local"], seconds["plain 100"]), 2.0)
    yield Figure("leaving, the longest", max(seconds["leaving"]), 0.35, "s")
    yield Figure("processes and terminal modes left behind", max(left), 0)
    yield Figure("--version / python -c pass", ratio(_run(programs.VERSION), _run(programs.PASS)), 3.0)


def _run(command: Sequence[str]) -> list[float]:
    seconds = []
    for _ in range(ROUNDS + 1):
        began = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds.append(time.perf_counter() - began)
    return seconds[1:]
