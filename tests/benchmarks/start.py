"""Start to the first frame and to the first row, and leaving."""

import random
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from tests.benchmarks import programs
from tests.benchmarks.figures import Figure, ratio

ROUNDS = 15


def measure() -> Iterator[Figure]:
    """All of it, the programs in turns, in another order each time: one may leave the machine warmer than another."""
    with programs.server(100) as small, programs.server(10_000) as large:
        seconds: dict[str, list[float]] = defaultdict(list)
        left: list[int] = []

        def floor() -> None:
            with programs.floor() as terminal:
                seconds["floor"].append(terminal.until(programs.FLOOR_ROW))

        def plain(name: str, address: str) -> None:
            with programs.plain(address) as terminal:
                seconds["plain frame"].append(terminal.until(programs.PLAIN_FRAME))
                seconds[name].append(terminal.until(programs.SANDBOX))

        def deck(name: str, address: str | None, row: bytes) -> None:
            with programs.deck(address) as terminal:
                seconds["frame"].append(terminal.until(programs.FRAME))
                seconds[name].append(terminal.until(row))
                time.sleep(0.5)
                seconds["leaving"].append(terminal.leave(programs.QUIT))
                left.append(terminal.left_behind)

        starts: list[Callable[[], None]] = [
            floor,
            lambda: plain("plain 100", small),
            lambda: plain("plain 10,000", large),
            lambda: deck("deck 100", small, programs.CONVERSATION),
            lambda: deck("deck 10,000", large, programs.CONVERSATION),
            lambda: deck("deck local", None, programs.NO_CONVERSATION),
        ]
        for number in range(ROUNDS + 1):
            random.shuffle(starts)
            for start in starts:
                start()
            if number == 0:
                seconds.clear()  # who starts first reads from the disk
    yield Figure("start to first paint / floor", ratio(seconds["frame"], seconds["floor"]), 1.0)
    yield Figure("start to first paint, plain / floor", ratio(seconds["plain frame"], seconds["floor"]))
    for size in ("100", "10,000"):
        ours, plainly = seconds[f"deck {size}"], seconds[f"plain {size}"]
        yield Figure(f"start to usable, {size} records / plain", ratio(ours, plainly), 1.25)
        yield Figure(f"start to usable, {size} records, plain / floor", ratio(plainly, seconds["floor"]))
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
