"""What the table costs against the floor's: the same change or key in both programs, in turns."""

import signal
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence

from tests.benchmarks.budgets import Measured
from tests.benchmarks.terminal import Cost, Terminal

ROUNDS = 3
TIMES = 12
"""How often each is done in a round."""
LINES = 101
"""A terminal that shows a hundred rows at once: what a change costs a DataTable is to draw all that it shows."""
What = signal.Signals | str
"""A signal, or keys."""
CHANGE, DOWN, FILL = signal.SIGUSR1, "\x1b[B", "f"


def measure(rows: int) -> Iterator[Measured]:
    """Medians of the deck's table, in milliseconds, bytes, and as shares of a DataTable's."""
    costs: dict[str, dict[What, list[Cost]]] = {"floor": {}, "live": {}}
    for _ in range(ROUNDS):
        for program, known in costs.items():
            for what, more in _costs(program, rows).items():
                known.setdefault(what, []).extend(more)

    def share(what: What, value: Callable[[Cost], float]) -> float:
        return _median(costs["live"][what], value) / _median(costs["floor"][what], value)

    yield Measured(f"one cell changed, {rows:,} rows", _median(costs["live"][CHANGE], _cpu), 2.5, "ms CPU")
    yield Measured(f"one cell changed, {rows:,} rows, CPU / DataTable", share(CHANGE, _cpu), 1 / 30)
    yield Measured(f"one cell changed, {rows:,} rows, bytes / DataTable", share(CHANGE, _written), 1 / 30)
    yield Measured(f"cursor down, {rows:,} rows, CPU / DataTable", share(DOWN, _cpu), 1)
    yield Measured(f"whole list reversed, {rows:,} rows, CPU / DataTable", share(FILL, _cpu), 1)


def _costs(program: str, rows: int) -> dict[What, list[Cost]]:
    """Costs of each in one run of a program; the first of its kind is thrown away."""
    command = [sys.executable, "-m", f"tests.benchmarks.{program}", "--rows", str(rows)]
    with Terminal(command, lines=LINES) as terminal:
        terminal.until(f"row-{rows - 1}".encode())  # from then on it listens to the signal
        terminal.rest(1.0)

        def cost(what: What) -> Cost:
            return terminal.press(what) if isinstance(what, str) else terminal.send(what)

        costs: dict[What, list[Cost]] = {}
        for what in (CHANGE, DOWN, FILL):
            cost(what)
            costs[what] = [cost(what) for _ in range(2 if what == FILL else TIMES)]
        return costs


def _cpu(cost: Cost) -> float:
    return cost.cpu * 1000


def _written(cost: Cost) -> float:
    return float(cost.written)


def _median(costs: Sequence[Cost], value: Callable[[Cost], float]) -> float:
    return statistics.median(value(cost) for cost in costs)
