"""Which sandboxes are up, do nothing and could be paused."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from quarterdeck.fleet.sandbox_state import UP
from quarterdeck.fleet.sandboxes import SandboxRow

THRESHOLD = timedelta(minutes=30)
"""What is offered at first."""


@dataclass(frozen=True, slots=True)
class QuietRow:
    """A sandbox that has been quiet for long enough."""

    row: SandboxRow
    quiet: timedelta

    @property
    def id(self) -> str:
        """The sandbox's."""
        return self.row.id

    @property
    def spent(self) -> float:
        """US dollars so far."""
        return self.row.spent


@dataclass(frozen=True, slots=True)
class Sweep:
    """What a sweep finds; nothing is done by finding it."""

    rows: tuple[QuietRow, ...]
    """The longest quiet first."""
    unknown: tuple[SandboxRow, ...]
    """What is up and of which it is not known how long it has been quiet."""

    @property
    def spent(self) -> float:
        """US dollars all of `rows` have cost so far."""
        return sum(found.spent for found in self.rows)


def sweep(rows: Iterable[SandboxRow], threshold: timedelta, now: datetime) -> Sweep:
    """Find what is up and has been quiet for the threshold or longer; what is being paused is left out."""
    up = [(row, row.quiet(now)) for row in rows if not row.working and row.state(now).known in UP]
    found = [QuietRow(row, quiet) for row, quiet in up if quiet is not None and quiet >= threshold]
    found.sort(key=lambda each: (-each.quiet, each.id))
    return Sweep(tuple(found), tuple(row for row, quiet in up if quiet is None))
