"""What the deck costs while nobody touches it and 1 % of the records change each two seconds."""

import time
from collections.abc import Iterator

from tests.benchmarks import programs
from tests.benchmarks.figures import Figure
from tests.benchmarks.keys import PER_PAGE

SECONDS = 60.0
MEMORY = {100: 1.3, 10_000: 1.6}
"""The most that watching so many sandboxes may take, against the plain deck on the same server."""
READINGS = SECONDS / 2
SCREENFUL = 6_000
"""Bytes that a screen of 120 by 40 takes."""


def measure() -> Iterator[Figure]:
    """CPU and memory against the plain deck beside it, and bytes a second."""
    plain_memory = 0.0
    for size, budget in MEMORY.items():
        with (
            programs.server(size, "--churn", "0.01", "--tick", "2") as address,
            programs.plain(address) as plain,
            programs.deck(address) as deck,
        ):
            plain.until(programs.SANDBOX)
            deck.until(programs.CONVERSATION)
            deck.type_unread(programs.SANDBOXES)
            time.sleep(15 + size / 100 * PER_PAGE)
            before = plain.cpu, deck.cpu
            written = deck.count(SECONDS)
            rows = f"{size:,} sandboxes"
            ours, plainly = deck.cpu - before[1], plain.cpu - before[0]
            yield Figure(f"CPU watching {rows} / plain", ours / plainly, 1.3)
            yield Figure(f"memory watching {rows} / plain", deck.most_memory / plain.most_memory, budget)
            plain_memory = plain_memory or plain.most_memory
            if size == 100:
                allowed = SCREENFUL * READINGS / SECONDS
                yield Figure("bytes, 1 % change place, default order", written / SECONDS, allowed, "bytes/s")
    yield from _rows_that_stay()
    yield from _local(plain_memory)


def _rows_that_stay() -> Iterator[Figure]:
    with (
        programs.server(100, "--churn", "0.01", "--tick", "2", "--changing", "spec") as address,
        programs.deck(address) as deck,
    ):
        deck.until(programs.CONVERSATION)
        deck.type_unread(programs.SANDBOXES)
        time.sleep(10)
        yield Figure("bytes, 1 % change, no row its place", deck.count(SECONDS) / SECONDS, 100, "bytes/s")


def _local(plain_memory: float) -> Iterator[Figure]:
    with programs.deck() as deck:
        deck.until(programs.NO_CONVERSATION)
        deck.type_unread(programs.SANDBOXES)
        time.sleep(15)
        yield Figure("memory on the local service / plain", deck.most_memory / plain_memory, 1.8)
