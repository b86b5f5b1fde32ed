"""What the deck costs while nobody touches it and 1 % of the records change each two seconds."""

from collections.abc import Iterator

from tests.benchmarks import cases
from tests.benchmarks.budgets import Measured
from tests.benchmarks.keys import PER_PAGE

SECONDS = 120.0
"""Long enough for rows to change places by themselves."""
CPU = {100: 2.0, 10_000: 3.0}
MEMORY = {100: 1.25, 10_000: 1.45, 100_000: 3.5}
BYTES = {100: 50.0, 10_000: 50.0}
LOCAL_SECONDS, LOCAL_MEMORY = 15.0, 1.8


def measure(sizes: tuple[int, ...]) -> Iterator[Measured]:
    """CPU against a floor at rest beside it, bytes a second, and the most memory against the floor's."""
    for size in sizes:
        with (
            cases.floor() as still,
            cases.server(size, churn=0.01, tick=2.0) as address,
            cases.deck(address) as terminal,
        ):
            still.start()
            terminal.until(cases.FIRST_ROW)
            terminal.press(cases.SANDBOXES)
            terminal.rest(5 + size / 100 * PER_PAGE)
            before = still.cpu()
            cost = terminal.rest(SECONDS)
            floor, floor_memory = still.cpu() - before, still.most_memory
            if size in CPU:
                yield Measured(f"CPU watching {size:,} sandboxes / a floor at rest", cost.cpu / floor, CPU[size])
            if size in BYTES:
                written = cost.written / SECONDS
                said = f"bytes to the terminal, {size:,} rows of which 1 % change"
                yield Measured(said, written, BYTES[size], "bytes/s")
            yield Measured(f"memory with {size:,} records / floor", terminal.most_memory / floor_memory, MEMORY[size])
    yield _on_the_local_service()


def _on_the_local_service() -> Measured:
    with cases.floor() as still, cases.deck() as terminal:
        still.start()
        terminal.until(cases.NO_ROW)
        terminal.press(cases.SANDBOXES)
        terminal.rest(LOCAL_SECONDS)
        return Measured("memory on the local service / floor", terminal.most_memory / still.most_memory, LOCAL_MEMORY)
