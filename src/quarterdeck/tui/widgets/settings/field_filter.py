"""The filter of the fields: out of sight until it is opened, and as long as it is empty."""

from dataclasses import dataclass
from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Static

from quarterdeck.tui.cells import Tone
from quarterdeck.tui.paint import plain
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.settings.line_input import LineInput


class FieldFilter(Horizontal):
    """A line to type into; escape shows all fields again, enter and down go back to the list."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "clear", "Show all", show=False),
        Binding("enter,down,tab", "keep", "Back to the list", show=False, priority=True),
    ]
    field = getters.query_one(LineInput)

    @dataclass
    class Changed(Message):
        """The words to look for changed."""

        words: str

    @dataclass
    class Done(Message):
        """The keyboard goes back to the list."""

    def compose(self) -> ComposeResult:
        """A mark and the field."""
        yield Static(plain(Shown("/"), Tone.KEY), id="field-filter-mark")
        yield LineInput(placeholder="part of a label, a key or a help text")

    @property
    def words(self) -> str:
        """The filter as typed."""
        return self.field.value

    def open(self) -> None:
        """Type into the filter."""
        self.add_class("-open")
        self.screen.set_focus(self.field)

    def action_clear(self) -> None:
        """Show all fields again."""
        self.field.value = ""
        self.action_keep()

    def action_keep(self) -> None:
        """Keep what is typed and go back to the list."""
        self.set_class(bool(self.words), "-open")
        self.post_message(self.Done())

    @on(LineInput.Changed)
    def _typed(self, event: LineInput.Changed) -> None:
        event.stop()
        self.post_message(self.Changed(event.value))
