"""What the deck costs while nobody touches it and 1 % of the records change each two seconds."""

from collections.abc import Iterator
from typing import NamedTuple

from tests.benchmarks import cases
from tests.benchmarks.budgets import Measured
from tests.benchmarks.keys import PER_PAGE

SECONDS = 120.0
"""Long enough for rows to change places by themselves."""
LOCAL_SECONDS, LOCAL_MEMORY = 15.0, 1.8
PAGE = 100
SIMULATED = 10_000
SIMULATED_SANDBOXES = 4_800
"""As many as come with so many conversations that both together are the records above."""


class Budgets(NamedTuple):
    """What watching may cost: CPU and memory of the floor, bytes a second; None where nothing is set."""

    cpu: float | None
    written: float | None
    memory: float


BUDGETS = {100: Budgets(2.0, 50.0, 1.25), 10_000: Budgets(3.0, 50.0, 1.45), 100_000: Budgets(None, None, 3.5)}


def measure(sizes: tuple[int, ...]) -> Iterator[Measured]:
    """CPU against a floor at rest beside it, bytes a second, and the most memory against the floor's."""
    for size in sizes:
        with cases.server(size, churn=0.01, tick=2.0) as address:
            yield from _watched(address, cases.FIRST_ROW, size, f"{size:,} sandboxes", BUDGETS[size])
    with cases.simulation(SIMULATED_SANDBOXES, churn=0.5) as address:
        words = f"{SIMULATED:,} simulated records"
        yield from _watched(address, cases.A_SIMULATED_ROW, SIMULATED, words, BUDGETS[SIMULATED])
    yield _on_the_local_service()


def _watched(address: str, row: bytes, records: int, words: str, budgets: Budgets) -> Iterator[Measured]:
    with cases.floor() as still, cases.deck(address) as terminal:
        still.start()
        terminal.until(row)
        terminal.press(cases.SANDBOXES)
        terminal.rest(5 + records / PAGE * PER_PAGE)
        before = still.cpu()
        cost = terminal.rest(SECONDS)
        floor, floor_memory = still.cpu() - before, still.most_memory
        if budgets.cpu is not None:
            yield Measured(f"CPU watching {words} / a floor at rest", cost.cpu / floor, budgets.cpu)
        if budgets.written is not None:
            said = f"bytes to the terminal, {words} of which 1 % change"
            yield Measured(said, cost.written / SECONDS, budgets.written, "bytes/s")
        yield Measured(f"memory watching {words} / floor", terminal.most_memory / floor_memory, budgets.memory)


def _on_the_local_service() -> Measured:
    with cases.floor() as still, cases.deck() as terminal:
        still.start()
        terminal.until(cases.NO_ROW)
        terminal.press(cases.SANDBOXES)
        terminal.rest(LOCAL_SECONDS)
        return Measured("memory on the local service / floor", terminal.most_memory / still.most_memory, LOCAL_MEMORY)
