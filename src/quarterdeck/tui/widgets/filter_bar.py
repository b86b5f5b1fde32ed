"""Above a list: its counts, and below them, while there is one, its filter and how much that lets through."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input, Static

from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.paint import content, plain
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.lines import Lines

NO_TOKENS = Shown("")


class FilterBar(Vertical):
    """Counts of a list, and its filter; the field is made when it is first needed."""

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
        """The filter is typed; the keyboard goes back to the list."""

    def __init__(self, tokens: Shown = NO_TOKENS) -> None:
        super().__init__()
        self._tokens = tokens
        self._counts = Lines(id="counts")
        self._found: Cell = ()

    def compose(self) -> ComposeResult:
        """The counts, and room for the filter."""
        yield self._counts
        yield Horizontal(id="filter-line")

    @property
    def words(self) -> str:
        """The filter as typed."""
        return "".join(field.value for field in self.query(Input))

    def say(self, counts: Cell) -> None:
        """Show the counts."""
        self._counts.say((counts,))

    def say_found(self, shown: int, known: int, problems: tuple[Shown, ...]) -> None:
        """Show how much the filter lets through, and what is wrong with it."""
        if not self.has_class("-open"):
            return
        chip = cell(Shown(f" {shown:,} of {known:,} "), Tone.EDITED) if self.words.strip() else ()
        rest = cell(problems[0], Tone.BAD) if problems else cell(self._tokens, Tone.MUTED)
        found = (*chip, (Shown(" "), Tone.MUTED), *rest)
        if found != self._found:
            self._found = found
            self.query_one("#found", Static).update(content(found), layout=False)

    def put(self, words: str) -> None:
        """Take a filter that was not typed here."""
        if words == self.words:
            return
        if words:
            self._make()
        for field in self.query(Input):
            field.value = words
        self.set_class(bool(words), "-open")

    def open(self) -> None:
        """Type into the filter."""
        self._make()
        self.screen.set_focus(self.query_one(Input))

    def _make(self) -> None:
        self.add_class("-open")
        if not self.query(Input):
            mark = Static(plain(Shown("/"), Tone.KEY), id="filter-mark")
            field = Input(placeholder="words, tokens, !not", id="filter", compact=True)
            self.query_one("#filter-line").mount(mark, field, Static(id="found"))

    def clear(self) -> None:
        """Forget what was typed."""
        self.put("")
        self.remove_class("-open")

    def action_clear(self) -> None:
        """Show all rows again."""
        self.clear()
        self.post_message(self.Done())

    def action_keep(self) -> None:
        """Keep what is typed and go back to the list."""
        self.set_class(bool(self.words), "-open")
        self.post_message(self.Done())

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Changed(event.value))
