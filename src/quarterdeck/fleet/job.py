"""One command for several rows, from the plan to what became of each."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from quarterdeck.fleet.bulk import RETRIED, SANDBOXES, BulkRow, BulkRun, N, Named, Noun, Plan, RowState, Verdict

STATES = (
    RowState.DONE,
    RowState.FAILED,
    RowState.UNCHANGED,
    RowState.UNDONE,
    RowState.GONE,
    RowState.SENT,
    RowState.WAITING,
    RowState.STOPPED,
    RowState.SKIPPED,
)
"""In the order in which they are counted."""


@dataclass(frozen=True)
class Order:
    """Something that can be asked of rows; `verb` is what a person calls it, `noun` what they are."""

    verb: str
    act: Callable[[str], Awaitable[None]]
    """Asks for it; raises ServiceError."""
    verdict: Callable[[str], Verdict | None]
    """What the readings say of one it was asked of, by its id."""
    noun: Noun = SANDBOXES


class Job:
    """An order for the rows of a plan, its rows as they were when it was given, and how far it is."""

    def __init__(self, order: Order, planned: Plan[N], place: str, *, sweep: bool = False) -> None:
        self.order = order
        self.place = place
        """Where it was asked for."""
        self.sweep = sweep
        """Whether it pauses what is quiet, whose end says what that saved."""
        left_out = [row for row, _ in planned.skipped]
        self.rows: Mapping[str, Named] = {row.id: row for row in (*planned.rows, *left_out, *planned.hidden)}
        self._changed: dict[str, BulkRow] = {}
        self.run: BulkRun[Any] = BulkRun(planned, order.act, order.verdict, progress=self._progress)

    def _progress(self, row: BulkRow) -> None:
        self._changed[row.id] = row

    def take_changes(self) -> Mapping[str, BulkRow]:
        """Rows that changed since this was asked last, by id."""
        changed, self._changed = self._changed, {}
        return changed

    @property
    def title(self) -> str:
        """What is being done."""
        count = sum(row.state is not RowState.SKIPPED for row in self.run.rows.values())
        what = "Idle sweep: pause" if self.sweep else self.order.verb
        return f"{what} {self.order.noun.counted(count)}"

    @property
    def summary(self) -> str:
        """What became of all rows, as text to copy."""
        return self.run.summary(self.order.noun)

    @property
    def failed(self) -> bool:
        """Whether something was tried and not done, so that it can be tried again."""
        return any(row.state in RETRIED for row in self.run.rows.values())

    @property
    def counts(self) -> Mapping[RowState, int]:
        """How many rows have come how far, what matters most first; none are left out."""
        counts = Counter(row.state for row in self.run.rows.values())
        return {state: counts[state] for state in STATES if counts[state]}

    @property
    def result(self) -> str:
        """What became of it, in one line."""
        counted = ", ".join(f"{count:,} {state}" for state, count in self.counts.items())
        return f"{self.title}: {counted}. {self.saved}".strip()

    @property
    def saved(self) -> str:
        """What a sweep of quiet sandboxes stopped, and what that had cost."""
        if not self.sweep:
            return ""
        done = [row_id for row_id, row in self.run.rows.items() if row.state is RowState.DONE]
        spent = sum(self.rows[row_id].spent for row_id in done)
        return f"It stopped {len(done):,}, which had cost ${spent:,.2f} so far."
