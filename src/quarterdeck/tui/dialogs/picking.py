"""A dialog whose answer is chosen from a list of lines, by keys that are never typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from quarterdeck.tui.cells import Cell
from quarterdeck.tui.dialogs.base import Dialog
from quarterdeck.tui.paint import content

Result = TypeVar("Result")


def option(cell: Cell, *, option_id: str | None = None, disabled: bool = False) -> Option:
    """A line of a list."""
    return Option(content(cell) if cell else Content(""), id=option_id, disabled=disabled)


def option_list(cells: Sequence[Cell]) -> OptionList:
    """A list of lines to choose from."""
    return OptionList(*(option(cell) for cell in cells), id="choices", markup=False)


class PickingDialog(Dialog[Result]):
    """A dialog around one list with the id `choices`; `j`, `k` and `q` work in it too."""

    CSS_PATH = ["dialog.tcss", "lists.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "move(1)", "Down", show=False),
        Binding("k", "move(-1)", "Up", show=False),
        Binding("q", "cancel", "Cancel", show=False),
    ]

    @property
    def choices(self) -> OptionList:
        """The list."""
        return self.query_one("#choices", OptionList)

    def action_move(self, step: int) -> None:
        """Move by a line."""
        if step > 0:
            self.choices.action_cursor_down()
        else:
            self.choices.action_cursor_up()
