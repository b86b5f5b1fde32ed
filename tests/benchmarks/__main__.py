"""`python -m tests.benchmarks [start] [keys] [watch]`: every budget in under twenty minutes, or only these.

Each is a ratio to the floor (`floor.py`), the smallest useful Textual app, or to the plain deck (`plain.py`), the
plainest one that reads a server. The programs run in turns in terminals of their own; nothing asserts a time.
"""

import random
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial

from tests.benchmarks import programs
from tests.benchmarks.programs import Terminal


@dataclass(frozen=True)
class Figure:
    name: str
    value: float
    budget: float
    unit: str = ""

    def __str__(self) -> str:
        over = "" if self.value <= self.budget else "  over"
        return f"{self.name:58}{self.value:10.2f} {self.unit:8}<= {self.budget:g}{over}"


def ratio(values: Sequence[float], others: Sequence[float]) -> float:
    return statistics.median(values) / statistics.median(others)


def percentile(values: Sequence[float], percent: int) -> float:
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]


ROUNDS = 15
Start = Callable[[], AbstractContextManager[Terminal]]


def starts() -> Iterator[Figure]:
    """All of it, the programs in turns, in another order each time: one may leave the machine warmer than another."""
    with programs.server(100) as small, programs.server(10_000) as large:
        seconds: dict[str, list[float]] = defaultdict(list)
        left: list[int] = []
        programs_shown: list[tuple[Start, dict[str, bytes]]] = [
            (programs.floor, {"floor": programs.FLOOR_ROW}),
            (partial(programs.plain, small), {"plain 100": programs.SANDBOX}),
            (partial(programs.plain, large), {"plain 10,000": programs.SANDBOX}),
            (partial(programs.deck, small), {"frame": programs.FRAME, "deck 100": programs.CONVERSATION}),
            (partial(programs.deck, large), {"frame": programs.FRAME, "deck 10,000": programs.CONVERSATION}),
            (programs.deck, {"frame": programs.FRAME, "deck local": programs.NO_CONVERSATION}),
        ]
        for number in range(ROUNDS + 1):
            random.shuffle(programs_shown)
            for start, shown in programs_shown:
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


SIZES = (100, 10_000, 100_000)
WAY, TURNS = 10, 12
"""Keys from the top of the list down, and as many back up, before it is another program's turn; and how many turns."""
PER_PAGE = 1 / 4
"""Seconds the deck takes for a page, at its pace."""
DOWN, UP, TOP = "\x1b[B", "\x1b[A", "\x1b[H"
INTERVAL = (0.1, 0.15)
"""Seconds from one key to the next, whatever the program does; a key that waits longer is late."""


def key_answers() -> Iterator[Figure]:
    """Percentiles for lists of these sizes; none can be read by ids, so every page is read anew."""
    p95s: list[float] = []
    for size in SIZES:
        with (
            programs.server(size, "--churn", "0.01", "--tick", "0.5", "--no-batches") as address,
            programs.floor() as floor,
            programs.deck(address) as deck,
        ):
            floor.until(programs.FLOOR_ROW)
            programs.at_sandboxes(deck, 5 + size / 100 * PER_PAGE)
            still, ours = _in_turns(floor, deck)
        p95, rows = percentile(ours, 95), f"{size:,} changing rows"
        p95s.append(p95 / percentile(still, 95))
        if size == 10_000:  # what the other sizes may cost is said by the growth
            yield Figure(f"key to paint p95, {rows} / a still floor", p95s[-1], 1.25)
        yield Figure(f"key to paint p99 / p95, {rows}", percentile(ours, 99) / p95, 3)
        yield Figure(f"late keys, {rows}", sum(waited > INTERVAL[0] for waited in ours), 0)
    # Minutes lie between the first list and the last: each is held against its own floor.
    yield Figure(f"growth of key to paint p95, {SIZES[0]:,} to {SIZES[-1]:,}", p95s[-1] / p95s[0], 1.5)


def _in_turns(*terminals: Terminal) -> list[list[float]]:
    """How long each key waited for its answer, for each of the programs; each turn begins at the top."""
    chance = random.Random(1)
    waited: list[list[float]] = [[] for _ in terminals]
    for _ in range(TURNS):
        for known, terminal in zip(waited, terminals, strict=True):
            terminal.type_unread(TOP)
            time.sleep(0.3)
            known += terminal.answers([DOWN] * WAY + [UP] * WAY, lambda: chance.uniform(*INTERVAL))
    return waited


SECONDS, MEMORY = 60.0, {100: 1.3, 10_000: 1.6}
"""The most that watching so many sandboxes may take, against the plain deck on the same server."""
SCREENFUL = 6_000
"""Bytes that a screen of 120 by 40 takes; it may be painted anew at each reading, of two seconds."""


def watching() -> Iterator[Figure]:
    """CPU and memory against the plain deck beside it, and bytes a second."""
    plain_memory = 0.0
    for size, budget in MEMORY.items():
        with (
            programs.server(size, "--churn", "0.01", "--tick", "2") as address,
            programs.plain(address) as plain,
            programs.deck(address) as deck,
        ):
            plain.until(programs.SANDBOX)
            programs.at_sandboxes(deck, 15 + size / 100 * PER_PAGE)
            before = plain.cpu, deck.cpu
            written, rows = deck.count(SECONDS), f"{size:,} sandboxes"
            ours, plainly = deck.cpu - before[1], plain.cpu - before[0]
            yield Figure(f"CPU watching {rows} / plain", ours / plainly, 1.3)
            yield Figure(f"memory watching {rows} / plain", deck.most_memory / plain.most_memory, budget)
            plain_memory = plain_memory or plain.most_memory
            if size == 100:
                yield Figure("bytes, 1 % change place, default order", written / SECONDS, SCREENFUL / 2, "bytes/s")
    with (
        programs.server(100, "--churn", "0.01", "--tick", "2", "--changing", "spec") as address,
        programs.deck(address) as deck,
    ):
        programs.at_sandboxes(deck, 10)
        yield Figure("bytes, 1 % change, no row its place", deck.count(SECONDS) / SECONDS, 100, "bytes/s")
    with programs.deck() as deck:
        programs.at_sandboxes(deck, 15, after=programs.NO_CONVERSATION)
        yield Figure("memory on the local service / plain", deck.most_memory / plain_memory, 1.8)


PARTS: dict[str, Callable[[], Iterator[Figure]]] = {"start": starts, "keys": key_answers, "watch": watching}


def main(words: list[str]) -> None:
    if unknown := set(words) - set(PARTS):
        sys.exit(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    for name in words or PARTS:
        for figure in PARTS[name]():
            print(figure, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
