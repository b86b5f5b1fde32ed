"""The line above a list: its counts, and before them a field to type into while filtering."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.paint import content, plain
from quarterdeck.tui.text import Shown

NO_TOKENS = Shown("")


class FilterBar(Horizontal):
    """Counts of a list, and its filter; the field is made when it is first opened."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "clear", "Clear the filter", show=False),
        Binding("enter,down", "keep", "Back to the list", show=False, priority=True),
    ]

    class Changed(Message):
        """The text of the filter changed."""

        def __init__(self, words: str) -> None:
            super().__init__()
            self.words = words

    class Done(Message):
        """The keyboard goes back to the list."""

    def __init__(self, tokens: Shown = NO_TOKENS) -> None:
        super().__init__()
        self._tokens = tokens
        self._counts: Cell = ()

    def compose(self) -> ComposeResult:
        """The counts."""
        yield Static(id="counts")

    @property
    def words(self) -> str:
        """The filter as typed."""
        return "".join(field.value for field in self.query(Input))

    def say(self, counts: Cell) -> None:
        """Show the counts."""
        if counts == self._counts:
            return
        self._counts = counts
        self.query_one("#counts", Static).update(content(counts))

    def open(self) -> None:
        """Type into the filter."""
        self.add_class("-open")
        if not self.query(Input):
            mark = Static(plain(Shown("/ "), Tone.KEY), id="filter-mark")
            field = Input(placeholder=f"text {self._tokens} !not", id="filter", compact=True)
            self.mount(mark, field, before=0)
        self.query_one(Input).focus()

    def clear(self) -> None:
        """Forget what was typed."""
        for field in self.query(Input):
            field.value = ""
        self.remove_class("-open")

    def action_clear(self) -> None:
        """Show all rows again."""
        self.clear()
        self.post_message(self.Done())

    def action_keep(self) -> None:
        """Keep what is typed and go back to the list."""
        self.set_class(bool(self.query_one(Input).value), "-open")
        self.post_message(self.Done())

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Changed(event.value))
