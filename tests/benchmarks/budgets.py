"""Each budget and what was measured against it, one line each."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Measured:
    """One figure: mostly a ratio to the floor, or to what the name says, measured in turns in the same run."""

    name: str
    value: float
    budget: float
    unit: str = ""

    def __str__(self) -> str:
        kept = "" if self.value <= self.budget else "  over"
        return f"{self.name:66}{self.value:10.2f} {self.unit:8}<= {self.budget:g}{kept}"


def ratio(values: Sequence[float], floor: Sequence[float]) -> float:
    """Of the medians."""
    return statistics.median(values) / statistics.median(floor)


def share(values: Sequence[float], percent: int) -> float:
    """The value that so many percent stay below."""
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]
