"""Quiet sandboxes: since when nothing happened in them and what they cost, before anything is paused."""

import math
from collections.abc import Callable, Iterable

from textual import on
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Static

from quarterdeck.fleet.ages import age
from quarterdeck.fleet.filters import Kind, example, quantity
from quarterdeck.fleet.sandboxes import QuietSandboxes, SandboxRow, find_quiet
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.columns.details import money
from quarterdeck.tui.columns.sandboxes import COLUMNS
from quarterdeck.tui.dialogs.base import Dialog
from quarterdeck.tui.paint import lines, plain
from quarterdeck.tui.widgets.inputs import LineInput
from quarterdeck.tui.widgets.table import Table
from quarterdeck.tui.widgets.table_layout import chosen

THRESHOLD = 1800.0
"""Seconds of quiet that are offered first."""
SHOWN = ("sandbox", "quiet", "cost", "status", "conversation")
"""The columns shown, of those that the list has."""


class QuietDialog(Dialog[QuietSandboxes]):
    """Asks for a threshold and shows what it finds; nothing is paused here. Dismisses with what was found."""

    HINTS = (("enter", "go on to the plan"), ("↑ ↓", "move"), ("esc", "cancel"))

    def __init__(self, rows: Callable[[], Iterable[SandboxRow]]) -> None:
        super().__init__("Quiet sandboxes: what would be paused", wide=True)
        self._rows = rows
        self._threshold = THRESHOLD
        """Seconds; endless where what is typed is no time."""
        self._found = QuietSandboxes()
        self._table = Table(chosen(COLUMNS, SHOWN), clock=self.app.clock, id="found")
        self._table.can_focus = False
        self._total = Static(id="total")

    def body(self) -> Iterable[Widget]:
        """The threshold, what it finds, and what is left out."""
        quiet = plain("Quiet for at least", Tone.MUTED)
        yield Horizontal(Static(quiet, id="quiet"), LineInput(age(THRESHOLD), id="threshold"), id="asked")
        yield self._table
        yield self._total

    def renew(self) -> None:
        """Show what the threshold finds by now."""
        super().renew()
        self._found = find_quiet(self._rows(), self._threshold, self.app.clock())
        rows = {row.id: row for row in self._found.rows}
        self._table.show(list(rows), rows, anew=True)
        self.hint(self.HINTS if rows else self.HINTS[-1:])
        nothing = ("Nothing has been quiet for so long.", "A shorter time may find some.")
        self._table.say_empty(*(nothing if self._threshold < math.inf else ("", "")))
        self._total.update(lines(self._sums()))

    def _sums(self) -> list[Cell]:
        found = self._found
        said = []
        if found.rows:
            cost = f"; they have cost {money(found.spent)} so far" if found.spent else ""
            said.append(cell(f"{len(found.rows):,} would be paused{cost}.", Tone.STRONG))
        if found.unknown:
            names = ", ".join(row.short_id for row in found.unknown)
            said.append(cell(f"{len(found.unknown):,} left out, quiet time not known (yet): {names}", Tone.WARN))
        return said

    @on(LineInput.Changed)
    def _typed(self, event: LineInput.Changed) -> None:
        event.stop()
        seconds = _seconds(event.value)
        self.complain(f"Write a time like {example(Kind.DURATION)}." if seconds is None else None)
        self._threshold = math.inf if seconds is None else seconds
        self.renew()

    @on(LineInput.Submitted)
    def _go_on(self, event: LineInput.Submitted) -> None:
        if _seconds(event.value) is None:
            return
        self.renew()
        if self._found.rows:
            self.dismiss(self._found)
        else:
            self.complain("There is nothing to pause.")

    def action_move(self, lines: int) -> None:
        """Move in the result."""
        self._table.action_move(lines)

    def action_page(self, pages: float) -> None:
        """Move in the result by pages."""
        self._table.action_page(pages)


def _seconds(typed: str) -> float | None:
    return quantity(typed.strip().casefold(), Kind.DURATION)
