"""How far a command for several rows is, row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Static

from quarterdeck.fleet.bulk import BulkJob, BulkRow, RowState
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.copying import Copyable
from quarterdeck.tui.dialogs.base import Dialog
from quarterdeck.tui.dialogs.copy import CopyWish
from quarterdeck.tui.lists.job_cells import counts_cell, state_cell
from quarterdeck.tui.paint import content, plain
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.key_bar import hint_cell
from quarterdeck.tui.widgets.table import Table
from quarterdeck.tui.widgets.table_layout import Column

LOOKS = 0.25
"""Seconds between two looks at how far it is."""
Hints = tuple[tuple[str, str], ...]
UNDER_WAY: Hints = (("esc", "stop the rest"), ("b", "go on in the background"), ("y", "copy"))
STOPPING: Hints = (("b", "go on in the background"), ("y", "copy"))
WITH_FAILED: Hints = (("R", "retry failed"), ("y", "copy"), ("f", "save"), ("esc", "close"))
ENDED: Hints = (("y", "copy"), ("f", "save"), ("esc", "close"))
_TROUBLE_FIRST = (
    RowState.FAILED, RowState.UNCHANGED, RowState.UNDONE, RowState.GONE, RowState.STOPPED, RowState.DONE,
)  # fmt: skip


class ProgressDialog(Dialog[CopyWish]):
    """Every row of a job as it goes; it goes on without the dialog. Dismisses with a summary to be saved to a file."""

    CSS_PATH = ["dialog.tcss", "lists.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "stop_or_close", "Stop the rest, or close", show=False, priority=True),
        Binding("b", "cancel", "Go on in the background", show=False),
        Binding("R", "retry", "Retry failed", show=False),
        Binding("y", "copy", "Copy the summary", show=False),
        Binding("f", "save", "Save the summary", show=False),
    ]
    HINTS = ()

    def __init__(self, job: BulkJob, begin: Callable[[BulkJob], None]) -> None:
        super().__init__(Shown(job.title))
        self._job = job
        self._begin = begin
        self._stopping = False
        self._hints: Hints = ()
        self._ended = False

    def body(self) -> Iterable[Widget]:
        """The counts, and a line a row."""
        yield Static(id="counts")
        title = self._job.order.noun.one.upper()
        columns: list[Column[BulkRow]] = [
            Column("state", "STATE", 12, lambda row, now: state_cell(row)),
            Column("id", title, max(9, len(title)), self._short_id),
            Column("words", "", 12, self._words, flex=1),
        ]
        yield Table(columns, clock=lambda: datetime.min, id="rows")

    def _short_id(self, row: BulkRow, now: datetime) -> Cell:
        return cell(text.line(self._job.named[row.id].short_id))

    def _words(self, row: BulkRow, now: datetime) -> Cell:
        if row.words:
            return cell(text.line(row.words), Tone.WARN if row.state is not RowState.SKIPPED else Tone.MUTED)
        return cell(text.line(self._job.named[row.id].name), Tone.MUTED)

    @property
    def table(self) -> Table[BulkRow]:
        """The rows."""
        return self.query_one("#rows", Table)

    def on_mount(self) -> None:
        """Show how far it is, and follow it."""
        self._job.take_changes()
        self.table.show(list(self._job.rows.values()))
        self.set_focus(self.table)
        self.set_interval(LOOKS, self._look)
        self._look()

    def _look(self) -> None:
        job, ended = self._job, self._job.ended
        self.table.patch(job.take_changes())
        self.query_one("#counts", Static).update(content((*counts_cell(job), (Shown(" "), Tone.PLAIN))))
        if ended and not self._ended:
            rows = sorted(job.rows.values(), key=_place)
            self.table.show(rows)
            self.table.move_to(rows[0].id)
            if job.saved:
                self._say(Shown(job.saved), Tone.STRONG)
        self._ended = ended
        self._show_hints()

    def _say(self, sentence: Shown, tone: Tone = Tone.PLAIN) -> None:
        line = self.query_one("#problem", Static)
        line.update(plain(sentence, tone))
        line.display = True

    def _show_hints(self) -> None:
        if self._ended:
            hints = WITH_FAILED if self._job.failed else ENDED
        else:
            hints = STOPPING if self._stopping else UNDER_WAY
        if hints != self._hints:
            self._hints = hints
            spans = (span for key, label in hints for span in hint_cell(key, label, works=True))
            self.query_one("#hints", Static).update(content(spans))

    def action_stop_or_close(self) -> None:
        """While it goes on, ask for nothing more; what was asked for is followed to its end. Else close."""
        if self._job.ended:
            self.dismiss(None)
        else:
            self._stopping = True
            self._job.stop()
            self._look()

    def action_retry(self) -> None:
        """Try again what was tried and not done."""
        if not self._job.ended:
            self.complain(Shown("R tries again what failed once the rest has ended."))
        elif not self._job.retry_failed():
            self.complain(Shown("Nothing has failed."))
        else:
            self._begin(self._job)
            self.complain(None)
            self._stopping = False
            self._look()

    def action_copy(self) -> None:
        """Copy what became of each row."""
        self.app.copy_to_clipboard(self._job.summary)
        self._say(Shown("Copied the summary, if your terminal takes copies (OSC 52); f saves it to a file."))

    def action_save(self) -> None:
        """Save what became of each row to a file."""
        self.dismiss(CopyWish(Copyable(Shown("summary"), self._job.summary), to_file=True))


def _place(row: BulkRow) -> int:
    return _TROUBLE_FIRST.index(row.state) if row.state in _TROUBLE_FIRST else len(_TROUBLE_FIRST)
