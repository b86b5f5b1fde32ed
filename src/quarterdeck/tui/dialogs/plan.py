"""The question before a command for several rows: what it will do, and what it leaves out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Static

from quarterdeck.fleet.bulk import Plan
from quarterdeck.fleet.sandboxes import SandboxRow
from quarterdeck.tui.cells import Cell
from quarterdeck.tui.dialogs.base import Dialog
from quarterdeck.tui.lists.plans import plan_lines
from quarterdeck.tui.paint import content, lines
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.key_bar import hint_cell


class PlanDialog(Dialog[Plan[SandboxRow]]):
    """Ask whether to go on: `y` does, enter and escape do not. Dismisses with the plan to carry out."""

    CSS_PATH = ["dialog.tcss", "lists.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "accept", "Yes", show=False),
        Binding("n,enter,q", "cancel", "No", show=False),
        Binding("h", "hidden", "Include what the filter hides", show=False),
        Binding("j,down", "scroll(1)", "Down", show=False),
        Binding("k,up", "scroll(-1)", "Up", show=False),
        Binding("pagedown,ctrl+d,space", "scroll(12)", "Page down", show=False),
        Binding("pageup,ctrl+u", "scroll(-12)", "Page up", show=False),
    ]
    HINTS = (("y", "do it"), ("n", "no (enter too)"), ("↑ ↓", "scroll"))

    def __init__(self, title: Shown, verb: str, planned: Plan[SandboxRow], warnings: Sequence[Cell] = ()) -> None:
        super().__init__(title)
        self._verb = verb
        self._planned = planned
        self._warnings = warnings
        self._with_hidden = False

    def body(self) -> Iterable[Widget]:
        """What will happen."""
        yield Static(id="plan")

    def on_mount(self) -> None:
        """Show it, and the key for hidden rows where there are any."""
        self._show()
        if self._planned.hidden:
            hints = (*self.HINTS, ("h", "hidden ones too, or not"))
            spans = (span for key, label in hints for span in hint_cell(key, label, works=True))
            self.query_one("#hints", Static).update(content(spans))

    def _show(self) -> None:
        said = [*self._warnings, *plan_lines(self._verb, self._planned, with_hidden=self._with_hidden)]
        self.query_one("#plan", Static).update(lines(said))

    def action_accept(self) -> None:
        """Yes."""
        planned = self._planned.with_hidden() if self._with_hidden else self._planned
        if planned.rows:
            self.dismiss(planned)
        else:
            self.complain(Shown("There is nothing to do it to."))

    def action_hidden(self) -> None:
        """Include the rows the filter hides, or leave them out."""
        if self._planned.hidden:
            self._with_hidden = not self._with_hidden
            self._show()

    def action_scroll(self, step: int) -> None:
        """Scroll by lines."""
        self.query_one("#body").scroll_relative(y=step, animate=False)
