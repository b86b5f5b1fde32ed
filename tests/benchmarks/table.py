"""What the table costs against the floor: the same key in both programs, in turns."""

import statistics
import sys
from collections.abc import Callable, Sequence

from tests.benchmarks.terminal import Cost, Terminal

ROUNDS = 3
TIMES = 12
"""Presses of each key in a round."""
KEYS = {"one cell changed": "x", "cursor down": "\x1b[B", "whole list reversed": "f"}
FIGURES: dict[str, tuple[str, Callable[[Cost], float]]] = {
    "CPU": ("ms", lambda cost: cost.cpu * 1000),
    "to last byte": ("ms", lambda cost: cost.last * 1000),
    "written": ("bytes", lambda cost: float(cost.written)),
}


def measure(program: str, rows: int) -> dict[str, list[Cost]]:
    """Costs of each key in one run of a program; the first press of each is thrown away."""
    command = [sys.executable, "-m", "tests.benchmarks.programs", program, "--rows", str(rows)]
    with Terminal(command) as terminal:
        terminal.start()
        costs: dict[str, list[Cost]] = {}
        for name, key in KEYS.items():
            terminal.press(key)
            costs[name] = [terminal.press(key) for _ in range(TIMES if key != "f" else 2)]
        return costs


def report(rows: int) -> list[str]:
    """Lines with the medians of both programs and their ratio."""
    costs: dict[str, dict[str, list[Cost]]] = {"floor": {}, "live": {}}
    for _ in range(ROUNDS):
        for program, known in costs.items():
            for name, more in measure(program, rows).items():
                known.setdefault(name, []).extend(more)
    lines = [f"{rows} rows", f"  {'':34}{'DataTable':>12}{'LiveTable':>12}{'ratio':>9}"]
    for name in KEYS:
        for figure, (unit, value) in FIGURES.items():
            floor, live = (median(costs[program][name], value) for program in ("floor", "live"))
            lines.append(f"  {f'{name}, {figure} ({unit})':34}{floor:12.1f}{live:12.1f}{live / floor:9.3f}")
    return lines


def median(costs: Sequence[Cost], value: Callable[[Cost], float]) -> float:
    """The median of one figure."""
    return statistics.median(value(cost) for cost in costs)
