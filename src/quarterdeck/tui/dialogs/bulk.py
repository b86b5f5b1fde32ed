"""Bulk commands: the dialog with the plan, the dialog with the progress, and their texts."""

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from textual import on
from textual.widget import Widget
from textual.widgets import Static

from quarterdeck.client.models.enums import ExecutionStatus
from quarterdeck.fleet.bulk import SANDBOXES, BulkJob, BulkRow, N, NamedRow, Plan, RowState, counts
from quarterdeck.fleet.sandboxes import SandboxRow
from quarterdeck.tui import text
from quarterdeck.tui.cells import EMPTY, Cell, Tone, cell, indented
from quarterdeck.tui.columns.details import title_or_untitled
from quarterdeck.tui.commands import bindings
from quarterdeck.tui.copying import Copyable
from quarterdeck.tui.dialogs.base import SCROLL, Dialog
from quarterdeck.tui.dialogs.confirm import ConfirmDialog
from quarterdeck.tui.glyphs import glyph, signed
from quarterdeck.tui.paint import content
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.bars import Hints
from quarterdeck.tui.widgets.table import Table
from quarterdeck.tui.widgets.table_layout import Column

LISTED = 200
"""How many rows of one kind are listed one by one."""
STRANDS = "Pausing in the middle of a step can leave its run stuck after the resume."
_DONE_WORDS = {"Pause": "paused", "Resume": "resumed", "Delete": "deleted", "Dismiss": "dismissed"}
NOTHING_TO_DO: Hints = (("n", "close (enter too)"), SCROLL)
WELL = frozenset({RowState.DONE, RowState.SKIPPED})
"""Final states that need no attention."""


class PlanDialog(ConfirmDialog):
    """Asks whether to carry out a plan; `h` includes the marked rows that the filter hides."""

    BINDINGS = bindings({"h": "hidden"})
    HINTS = (("y", "do it"), ("n", "no (enter too)"), SCROLL)

    def __init__(
        self, verb: str, planned: Plan[SandboxRow], warnings: Callable[[Sequence[SandboxRow]], Sequence[Cell]]
    ) -> None:
        """Create the dialog; `warnings` returns what to know before it is done to these rows."""
        super().__init__(lambda: _title(verb, self.planned), self._lines)
        self.planned = planned
        """The plan that is agreed to."""
        self._plan = planned
        self._verb = verb
        self._warnings = warnings

    def on_mount(self) -> None:
        """Show the plan."""
        self._show()

    def _lines(self) -> Sequence[Cell]:
        return (*self._warnings(self.planned.rows), *plan_lines(self._verb, self.planned))

    def _show(self) -> None:
        self.renew()
        hidden: Hints = (("h", "hidden ones too, or not"),) if self._plan.hidden else ()
        self.hint((*(self.HINTS if self.planned.rows else NOTHING_TO_DO), *hidden))

    def action_accept(self) -> None:
        """Agree to the plan, if it applies to any row."""
        if self.planned.rows:
            super().action_accept()
        else:
            self.complain("There is no row it applies to.")

    def action_hidden(self) -> None:
        """Include the rows that the filter hides, or leave them out."""
        self.planned = self._plan.with_hidden() if self.planned is self._plan else self._plan
        self.complain(None)
        self._show()


class ProgressDialog(Dialog[Copyable]):
    """Shows every row of a job, which also runs without the dialog. Dismisses with a summary to save to a file."""

    BINDINGS = bindings(
        {"escape,q": "stop_or_close", "b": "cancel", "R": "retry", "enter,i": "why", "y": "copy", "f": "save"}
    )
    HINTS = ()

    def __init__(self, job: BulkJob, begin: Callable[[BulkJob], None]) -> None:
        super().__init__(job.title, wide=True)
        self._job = job
        self._begin = begin
        self._ended = False
        self._counts = Static(id="counts")
        job, title = self._job, self._job.action.noun.one.upper()

        def words(row: BulkRow, now: datetime) -> Cell:
            title = cell(job.named[row.id].title, Tone.MUTED)
            tone = Tone.MUTED if row.state is RowState.SKIPPED else Tone.WARN
            return ((Shown(f"{text.line(row.words)}  "), tone), *title) if row.words else title

        columns: list[Column[BulkRow]] = [
            Column("state", "STATE", 12, lambda row, now: signed(row.state)),
            Column("id", title, max(9, len(title)), lambda row, now: cell(job.named[row.id].short_id)),
            Column("words", "", 12, words, flex=1),
        ]
        self._table = Table(columns, clock=lambda: datetime.min, id="rows")

    def body(self) -> Iterable[Widget]:
        """The counts, and one line per row."""
        yield self._counts
        yield self._table

    def on_mount(self) -> None:
        """Show the rows."""
        self._table.show(list(self._job.rows), self._job.rows, anew=True)

    def renew(self) -> None:
        """Show the progress."""
        super().renew()
        job, ended, table = self._job, self._job.ended, self._table
        table.redraw_changed()
        saved = Shown(f"  {job.saved}" if ended else " ")
        self._counts.update(content((*counts_cell(job), (saved, Tone.STRONG))))
        if ended and not self._ended:
            went = table.cursor_id != table.ids[0]  # a person did, and reads there
            ids = sorted(job.rows, key=lambda row_id: job.rows[row_id].state in WELL)  # problems first
            table.show(ids, job.rows, anew=True)
            if not went:
                table.move_to(ids[0])
        self._ended = ended
        self.hint(self._hints_now())

    def _hints_now(self) -> Hints:
        if not self._ended:
            behind: Hints = (("b", "go on in the background"), ("y", "copy"))
            return (("esc", "stop the rest"), *behind) if self._can_stop else (*behind, ("esc", "close"))
        retry: Hints = (("R", "retry the rest"), ("enter", "why")) if self._job.left else ()
        return (*retry, ("y", "copy"), ("f", "save"), ("esc", "close"))

    def action_stop_or_close(self) -> None:
        """While rows wait for their turn, send nothing more and follow what was sent; otherwise close."""
        if self._can_stop:
            self._job.stop()
            self.renew()
        else:
            self.dismiss(None)

    @property
    def _can_stop(self) -> bool:
        return RowState.WAITING in counts(self._job.rows.values())

    def action_retry(self) -> None:
        """Retry the rows that failed or were stopped."""
        if not self._job.ended:
            self.complain("R tries again what is left, once all have ended.")
        elif not self._job.retry():
            self.complain("Nothing is left to retry.")
        else:
            self._begin(self._job)
            self.complain(None)
            self.renew()

    @on(Table.Chosen)
    def action_why(self) -> None:
        """Say the whole name of the row, and the reason if there is one: its line may be too short for them."""
        if (row := self._job.rows.get(self._table.cursor_id or "")) is not None:
            self.say(name_of(self._job.named[row.id], row.words))

    def action_copy(self) -> None:
        """Copy the result of each row."""
        self.say(self.app.copy_text("the summary", self._job.summary, "; f saves it to a file"))

    def action_save(self) -> None:
        """Save the result of each row to a file."""
        self.dismiss(Copyable("summary", self._job.summary, to_file=True))


def leave_job_dialog(job: BulkJob) -> ConfirmDialog:
    """Return the dialog that asks whether to leave a job before it has ended; it says so once it has."""
    return ConfirmDialog(lambda: "Leave now?" if job.ended else "Leave before it has ended?", lambda: _left_behind(job))


def _left_behind(job: BulkJob) -> list[Cell]:
    said = cell(job.result if job.ended else f"Still going on: {job.title}.")
    waits = cell("Rows that wait for their turn are then not changed.", Tone.WARN)
    return [said, waits] if RowState.WAITING in counts(job.rows.values()) else [said]


# The plan


def _title(verb: str, planned: Plan[N]) -> str:
    return f"{verb} {SANDBOXES.counted(len(planned.rows))}?" if planned.rows else f"Nothing to {verb.lower()}"


def plan_lines(verb: str, planned: Plan[N]) -> list[Cell]:
    """Return the rows the command applies to, those left out and why, and those hidden by the filter."""
    said = [cell(f"{len(planned.rows):,} will be {_DONE_WORDS[verb]}", Tone.STRONG)]
    said += _named([(row, "") for row in planned.rows], Tone.PLAIN)
    if planned.hidden:
        said += [EMPTY, cell(f"{len(planned.hidden):,} marked, but hidden by the filter: left out", Tone.WARN)]
        said += _named([(row, "") for row in planned.hidden], Tone.MUTED)
    if planned.skipped:
        said += [EMPTY, cell(f"{len(planned.skipped):,} skipped", Tone.STRONG)]
        said += _named(planned.skipped, Tone.MUTED)
    return said


def _named(rows: Sequence[tuple[NamedRow, str]], tone: Tone) -> list[Cell]:
    named = [name_of(row, why, tone, indent="  ") for row, why in rows[:LISTED]]
    return [*named, indented(Shown(f"and {len(rows) - LISTED:,} more"), Tone.MUTED)] if len(rows) > LISTED else named


def name_of(row: NamedRow, why: str = "", tone: Tone = Tone.PLAIN, indent: str = "") -> Cell:
    """Return the short id of a row, its name, and why it is left out or failed."""
    short_id = Shown(f"{indent}{text.line(row.short_id):<7} ")
    return ((short_id, tone), (text.line(": ".join(filter(None, (text.name(row.title), why)))), tone))


def stranding(rows: Iterable[SandboxRow], risk: str = STRANDS) -> list[Cell]:
    """Return a warning with its `risk` if agents work in these sandboxes or wait for a person; otherwise empty."""
    named = [
        record.title or "a conversation"
        for row in rows
        for record in row.conversations
        if record.execution_status in (ExecutionStatus.RUNNING, ExecutionStatus.WAITING_FOR_CONFIRMATION)
    ]
    if not named:
        return []
    others = f", and {len(named) - 1:,} more," if len(named) > 1 else ""
    words = f"The agent of {text.name(named[0])}{others} is at work or waits for an answer. {risk}"
    return [cell(words, Tone.WARN), EMPTY]


def gone_with(rows: Sequence[SandboxRow]) -> list[Cell]:
    """Return what a deletion removes, and what stays."""
    titles = [title for row in rows for title in row.conversation_titles]
    workspaces = "The workspace and all files in it" if len(rows) == 1 else "The workspaces and all files in them"
    said = [cell(f"{workspaces} are deleted too. They cannot be restored.")]
    if titles:
        said += [EMPTY, *stranding(rows, ""), cell("Conversations that live there stay listed, without a sandbox:")]
        said += titles_listed(titles)
    return said


def titles_listed(titles: Sequence[str]) -> list[Cell]:
    """Return the first titles, one per line."""
    return [indented(title_or_untitled(title), Tone.MUTED) for title in titles[:LISTED]]


# The progress


def counts_cell(job: BulkJob) -> Cell:
    """Return how many rows are in each state."""
    said = [(Shown(f"{count:,} {state}"), glyph(state)[1]) for state, count in counts(job.rows.values()).items()]
    if not job.ended and (waits := math.ceil(job.waits)) > 0:
        said.append((Shown(f"the server asked to wait {waits}s"), Tone.WARN))
    return tuple(part for each in said for part in ((Shown(", "), Tone.MUTED), each))[1:]
