"""From a key to its answer on the screen, in the list of sandboxes, while records change."""

import random
from collections.abc import Iterator

from quarterdeck.tui.widgets.table_drawer import CURSOR
from tests.benchmarks import cases
from tests.benchmarks.budgets import Measured, share
from tests.benchmarks.terminal import Terminal

WAY = 10
"""Keys from the top of the list down, and as many back up, before it is the other program's turn."""
TURNS = 20
PER_PAGE = 1 / 4
"""Seconds the deck takes for a page, at its pace."""
DOWN, UP, TOP = "\x1b[B", "\x1b[A", "\x1b[H"
ESCAPE = b"\x1b["
AT_CURSOR = CURSOR.encode()
"""What is written where the cursor comes to, each time; its colour may be the one that was written last."""


def measure(sizes: tuple[int, ...]) -> Iterator[Measured]:
    """Percentiles against a still floor, for lists of these sizes; none has batch reads, so every page is read anew.

    Both programs take turns: a machine that others use too is not as fast at one minute as at the next.
    """
    shares: list[float] = []
    for size in sizes:
        with (
            cases.floor() as still,
            cases.server(size, churn=0.01, batches=False) as address,
            cases.deck(address) as terminal,
        ):
            still.start()
            terminal.until(cases.FIRST_ROW)
            terminal.press(cases.SANDBOXES)
            terminal.rest(5 + size / 100 * PER_PAGE)
            floor, known = _in_turns((still, ESCAPE), (terminal, AT_CURSOR))
        shares.append(_p95(known) / _p95(floor))
        yield Measured(f"key to paint p95, {size:,} changing rows / a still floor", shares[-1], 1.25)
        yield Measured(f"key to paint p99 / p95, {size:,} changing rows", share(known, 99) / _p95(known), 3)
    if len(sizes) > 1:
        # Minutes lie between the first list and the last: each is held against its own floor.
        growth = shares[-1] / shares[0]
        yield Measured(f"growth of key to paint p95, {sizes[0]:,} to {sizes[-1]:,} rows", growth, 1.5)


def _in_turns(*programs: tuple[Terminal, bytes]) -> list[list[float]]:
    """How long each key waited for these bytes, for each of the programs.

    Each turn begins at the top: between two of them a list may be put in order, and a key that has nowhere to go has
    no answer.
    """
    chance = random.Random(1)
    waited: list[list[float]] = [[] for _ in programs]
    for _ in range(TURNS):
        for known, (terminal, shown) in zip(waited, programs, strict=True):
            terminal.answers([TOP], shown, lambda: 0.0)
            known += terminal.answers([DOWN] * WAY + [UP] * WAY, shown, lambda: chance.uniform(0.1, 0.15))
    return waited


def _p95(seconds: list[float]) -> float:
    return share(seconds, 95)
