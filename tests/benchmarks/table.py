"""What the table costs against the floor's: the same key in both programs, in turns."""

import statistics
import sys
from collections.abc import Callable, Iterator, Sequence

from tests.benchmarks.budgets import Measured
from tests.benchmarks.terminal import Cost, Terminal

ROUNDS = 3
TIMES = 12
"""Presses of each key in a round."""
CHANGE, DOWN, FILL = "x", "\x1b[B", "f"


def measure(rows: int) -> Iterator[Measured]:
    """Medians of the deck's table, in milliseconds, bytes, and as shares of a DataTable's."""
    costs: dict[str, dict[str, list[Cost]]] = {"floor": {}, "live": {}}
    for _ in range(ROUNDS):
        for program, known in costs.items():
            for key, more in _press(program, rows).items():
                known.setdefault(key, []).extend(more)

    def share(key: str, value: Callable[[Cost], float]) -> float:
        return _median(costs["live"][key], value) / _median(costs["floor"][key], value)

    yield Measured(f"one cell changed, {rows:,} rows", _median(costs["live"][CHANGE], _cpu), 2.5, "ms CPU")
    yield Measured(f"one cell changed, {rows:,} rows, CPU / DataTable", share(CHANGE, _cpu), 1 / 30)
    yield Measured(f"one cell changed, {rows:,} rows, bytes / DataTable", share(CHANGE, _written), 1 / 30)
    yield Measured(f"cursor down, {rows:,} rows, CPU / DataTable", share(DOWN, _cpu), 1)
    yield Measured(f"whole list reversed, {rows:,} rows, CPU / DataTable", share(FILL, _cpu), 1)


def _press(program: str, rows: int) -> dict[str, list[Cost]]:
    """Costs of each key in one run of a program; the first press of each is thrown away."""
    command = [sys.executable, "-m", "tests.benchmarks.programs", program, "--rows", str(rows)]
    with Terminal(command) as terminal:
        terminal.start()
        costs: dict[str, list[Cost]] = {}
        for key in (CHANGE, DOWN, FILL):
            terminal.press(key)
            costs[key] = [terminal.press(key) for _ in range(2 if key == FILL else TIMES)]
        return costs


def _cpu(cost: Cost) -> float:
    return cost.cpu * 1000


def _written(cost: Cost) -> float:
    return float(cost.written)


def _median(costs: Sequence[Cost], value: Callable[[Cost], float]) -> float:
    return statistics.median(value(cost) for cost in costs)
