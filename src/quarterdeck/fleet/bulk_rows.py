"""What becomes of each row of a bulk command, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from quarterdeck.fleet.plan import Plan, R


class Noun(NamedTuple):
    """What the rows of a command are called."""

    one: str
    many: str

    def counted(self, count: int) -> str:
        """So many of them."""
        return f"{count:,} {self.one if count == 1 else self.many}"


SANDBOXES = Noun("sandbox", "sandboxes")
CONVERSATIONS = Noun("conversation", "conversations")


class RowState(StrEnum):
    """Where one row of a bulk command is; the value is the word for it."""

    WAITING = "waiting"
    SENT = "sent"
    """Asked for; the readings have not told yet what became of it."""
    DONE = "done"
    """A reading confirmed it."""
    UNCHANGED = "unchanged"
    """The server said that it did it, and the readings say that it did not."""
    UNDONE = "undone"
    """It was done, and is so no longer: something else changed it since."""
    FAILED = "failed"
    GONE = "gone"
    """It is not there any more."""
    SKIPPED = "skipped"
    """It could not be done to this one, so nothing was asked for."""
    STOPPED = "stopped"
    """Its turn did not come."""


ENDED = frozenset(RowState) - {RowState.WAITING, RowState.SENT}
"""States that only a retry leaves."""
RETRIED = frozenset({RowState.FAILED, RowState.UNCHANGED, RowState.UNDONE})
"""States that a retry tries again: the readings have shown that it is not so."""


@dataclass(frozen=True, slots=True)
class BulkRow:
    """One row of a bulk command."""

    id: str
    state: RowState = RowState.WAITING
    words: str = ""
    """Why it is so, raw: it may hold a server's text."""


class Verdict(StrEnum):
    """What the readings say of a row that something was asked of."""

    DONE = "done"
    UNDONE = "undone"
    """It was done, and is so no longer."""
    BROKEN = "broken"
    """It has failed instead."""
    GONE = "gone"


def counted(rows: Iterable[BulkRow]) -> str:
    """How many rows are in which state: "194 done, 3 failed, 2 gone, 1 skipped"."""
    counts = Counter(row.state for row in rows)
    return ", ".join(f"{counts[state]} {state}" for state in RowState if counts[state])


def summary(rows: Iterable[BulkRow], noun: Noun = SANDBOXES) -> str:
    """What became of all rows, as text to copy: how many of each, then a line a row."""
    rows = list(rows)
    lines = [f"{row.id}  {row.state}" + (f"  {' '.join(row.words.split())}" if row.words else "") for row in rows]
    return "\n".join([f"{noun.counted(len(rows))}: {counted(rows)}", *lines])


def rows_of(plan: Plan[R]) -> dict[str, BulkRow]:
    """The rows of a plan before anything is done, those that are left out among them."""
    rows = {row.id: BulkRow(row.id) for row in plan.rows}
    rows |= {row.id: BulkRow(row.id, RowState.SKIPPED, reason) for row, reason in plan.skipped}
    return rows | {row.id: BulkRow(row.id, RowState.SKIPPED, "The filter hides it.") for row in plan.hidden}
