"""A page of lines to read: a detail, the help, the request log."""

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from quarterdeck.tui.cells import Cell
from quarterdeck.tui.dialogs.base import SCROLLING, Dialog
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.lines import Lines


class PageDialog(Dialog[None]):
    """Lines that scroll; `said` is asked again each second. `label` is the width of what stands before a line."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,enter,question_mark", "cancel", "Close", show=False),
        *SCROLLING,
    ]
    HINTS = ((" ↑ ↓", "scroll"), ("escape", "close"))

    def __init__(self, title: Shown, said: Callable[[], Sequence[Cell]], *, label: int = 0) -> None:
        super().__init__(title)
        self._said = said
        self._label = label

    def body(self) -> Iterable[Widget]:
        """The lines."""
        yield Lines(hang=self._label)

    def on_mount(self) -> None:
        """Show the lines, and keep them true."""
        self._show()
        self.set_interval(1.0, self._show)

    def _show(self) -> None:
        self.query_one(Lines).say(self._said())
