"""What all dialogs share: a frame with a title, a body, a line of hints, and escape that only cancels."""

from collections.abc import Iterable, Sequence
from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.types import CSSPathType
from textual.widget import Widget
from textual.widgets import Static

from quarterdeck.tui.cells import Tone
from quarterdeck.tui.paint import content, plain
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.key_bar import hint_cell

Result = TypeVar("Result")


class Dialog(ModalScreen[Result | None]):
    """A question above a screen. It acts on nothing: it dismisses with the answer, or with None for escape."""

    CSS_PATH: ClassVar[CSSPathType | None] = "dialog.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "Cancel", show=False)]
    HINTS: ClassVar[Sequence[tuple[str, str]]] = (("esc", "cancel"),)
    """Key and label of each hint in the last line."""

    def __init__(self, title: Shown) -> None:
        super().__init__()
        self._title = title

    def compose(self) -> ComposeResult:
        """The frame; what is inside comes from `body`."""
        with Vertical(id="frame"):
            yield Static(plain(self._title, Tone.STRONG), id="title")
            with VerticalScroll(id="body", can_focus=False):
                yield from self.body()
            with Vertical(id="foot"):
                yield Static("", id="problem")
                hints = (span for key, label in self.HINTS for span in hint_cell(key, label, works=True))
                yield Static(content(hints), id="hints")

    def body(self) -> Iterable[Widget]:
        """The widgets inside the frame."""
        return ()

    def complain(self, problem: Shown | None) -> None:
        """Show one sentence about what is wrong with the answer, or take it away."""
        line = self.query_one("#problem", Static)
        line.update(plain(problem or Shown(""), Tone.BAD))
        line.display = problem is not None

    def action_cancel(self) -> None:
        """Leave without an answer."""
        self.dismiss(None)
