"""The idle sweep: what is up, does nothing and could be paused (needs.md need 5)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from quarterdeck.fleet.sandbox_state import UP
from quarterdeck.fleet.sandboxes import SandboxRow

THRESHOLD = timedelta(minutes=30)
"""What is offered at first."""


@dataclass(frozen=True, slots=True)
class IdleRow:
    """A sandbox that has been quiet for long enough."""

    row: SandboxRow
    quiet: timedelta
    spent: float
    """US dollars so far."""

    @property
    def id(self) -> str:
        """The sandbox's."""
        return self.row.id


@dataclass(frozen=True, slots=True)
class Sweep:
    """What a sweep finds; nothing is done by finding it."""

    rows: tuple[IdleRow, ...]
    """The longest quiet first."""
    unknown: tuple[SandboxRow, ...]
    """What is up and of which it is not known how long it has been quiet."""

    @property
    def spent(self) -> float:
        """US dollars all of `rows` have cost so far."""
        return sum(found.spent for found in self.rows)


def sweep(rows: Iterable[SandboxRow], threshold: timedelta, now: datetime) -> Sweep:
    """Find what is up and has been quiet for the threshold or longer; what is being paused is left out."""
    found: list[IdleRow] = []
    unknown: list[SandboxRow] = []
    for row in rows:
        if row.working or row.state(now).known not in UP:
            continue
        quiet = row.quiet(now)
        if quiet is None:
            unknown.append(row)
        elif quiet >= threshold:
            found.append(IdleRow(row, quiet, row.spent))
    found.sort(key=lambda idle: (-idle.quiet, idle.id))
    return Sweep(tuple(found), tuple(unknown))
