"""A yes-or-no field that can be read without colour."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from quarterdeck.tui.cells import Tone
from quarterdeck.tui.paint import content
from quarterdeck.tui.text import Shown


class Toggle(Widget, can_focus=True):
    """`[x] label`, turned by space or a click."""

    DEFAULT_CSS = """
    Toggle { height: 1; width: auto; }
    Toggle:focus { background: $row-cursor; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("space,enter", "turn", "Turn", show=False)]

    on: reactive[bool] = reactive(default=False)

    def __init__(self, label: Shown, *, on: bool = False) -> None:
        super().__init__()
        self._label = label
        self.set_reactive(Toggle.on, on)

    def render(self) -> Content:
        """The box and its label."""
        return content(((Shown("[x] " if self.on else "[ ] "), Tone.KEY), (self._label, Tone.PLAIN)))

    def action_turn(self) -> None:
        """Turn it."""
        self.on = not self.on

    def on_click(self) -> None:
        """A click turns it."""
        self.action_turn()
