"""Everything known about one row, as it changes."""

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from quarterdeck.tui.cells import Cell
from quarterdeck.tui.dialogs.base import Dialog
from quarterdeck.tui.lists.listing import LABEL_WIDE
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.lines import Lines


class DetailDialog(Dialog[None]):
    """A page of lines that scrolls; `said` is asked again each second."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,enter", "cancel", "Close", show=False),
        Binding("j,down", "scroll(1)", "Down", show=False),
        Binding("k,up", "scroll(-1)", "Up", show=False),
        Binding("pagedown,ctrl+d,space", "scroll(15)", "Page down", show=False),
        Binding("pageup,ctrl+u", "scroll(-15)", "Page up", show=False),
        Binding("g,home", "go(0)", "To the top", show=False),
        Binding("G,end", "go(1)", "To the end", show=False),
    ]
    HINTS = (("↑ ↓", "scroll"), ("esc", "close"))

    def __init__(self, title: Shown, said: Callable[[], Sequence[Cell]]) -> None:
        super().__init__(title)
        self._said = said

    def body(self) -> Iterable[Widget]:
        """The lines."""
        yield Lines(hang=LABEL_WIDE)

    def on_mount(self) -> None:
        """Show the lines, and keep them true."""
        self._show()
        self.set_interval(1.0, self._show)

    def _show(self) -> None:
        self.query_one(Lines).say(self._said())

    def action_scroll(self, step: int) -> None:
        """Scroll by lines."""
        self.query_one("#body").scroll_relative(y=step, animate=False)

    def action_go(self, end: int) -> None:
        """Scroll to the end, or to the top."""
        body = self.query_one("#body")
        body.scroll_to(y=end * body.max_scroll_y, animate=False)
