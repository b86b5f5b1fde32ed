"""What was measured and its budget, a line each."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One figure."""

    name: str
    value: float
    budget: float
    unit: str = ""

    def __str__(self) -> str:
        over = "" if self.value <= self.budget else "  over"
        return f"{self.name:58}{self.value:10.2f} {self.unit:8}<= {self.budget:g}{over}"


def ratio(values: Sequence[float], others: Sequence[float]) -> float:
    """Of the medians."""
    return statistics.median(values) / statistics.median(others)


def share(values: Sequence[float], percent: int) -> float:
    """The value that so many percent stay below."""
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]
