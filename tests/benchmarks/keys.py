"""From a key to its answer on the screen, in the list of sandboxes, while records change twice a second."""

import random
import time
from collections.abc import Iterator

from tests.benchmarks import programs
from tests.benchmarks.figures import Figure, share
from tests.benchmarks.terminal import Terminal

SIZES = (100, 10_000, 100_000)
WAY, TURNS = 10, 12
"""Keys from the top of the list down, and as many back up, before it is another program's turn; and how many turns."""
PER_PAGE = 1 / 4
"""Seconds the deck takes for a page, at its pace."""
DOWN, UP, TOP = "\x1b[B", "\x1b[A", "\x1b[H"
INTERVAL = (0.1, 0.15)
"""Seconds from one key to the next, whatever the program does; a key that waits longer is late."""


def measure() -> Iterator[Figure]:
    """Percentiles for lists of these sizes; none can be read by ids, so every page is read anew."""
    p95s: list[float] = []
    for size in SIZES:
        changes = ("--churn", "0.01", "--tick", "0.5", "--no-batches")
        with (
            programs.server(size, *changes) as address,
            programs.floor() as floor,
            programs.deck(address) as deck,
        ):
            floor.until(programs.FLOOR_ROW)
            deck.until(programs.CONVERSATION)
            deck.type_unread(programs.SANDBOXES)
            time.sleep(5 + size / 100 * PER_PAGE)
            still, ours = _in_turns(floor, deck)
        p95, rows = share(ours, 95), f"{size:,} changing rows"
        p95s.append(p95 / share(still, 95))
        if size == 10_000:  # what the other sizes may cost is said by the growth
            yield Figure(f"key to paint p95, {rows} / a still floor", p95s[-1], 1.25)
        yield Figure(f"key to paint p99 / p95, {rows}", share(ours, 99) / p95, 3)
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
