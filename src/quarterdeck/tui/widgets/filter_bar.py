"""The lines above a list: its counts, and below them the filter with the number of matches, if there is a filter."""

from dataclasses import dataclass

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input, Static

from quarterdeck.tui.cells import Cell, Span, Tone, cell
from quarterdeck.tui.commands import bindings
from quarterdeck.tui.paint import plain
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.bars import working
from quarterdeck.tui.widgets.inputs import LineInput
from quarterdeck.tui.widgets.lines import CellLines
from quarterdeck.tui.widgets.strips import fit_cell

NO_TOKENS = Shown("")
BETWEEN = "  "
"""What stands between two counts or tokens."""
LONG = 20
"""Cells of a filter that takes the room of its tokens, too: in 60 columns its field has no more beside them."""
FILTERING = working((("enter", "keep it"), ("esc", "show all"), ("f4", "$EDITOR")))
"""What the key bar says while a filter is typed."""


class FilterBar(Vertical):
    """Counts of a list; its filter is shown while it is typed or set."""

    BINDINGS = bindings({"escape": "clear"}) + bindings({"enter,down,tab": "keep"}, priority=True)

    @dataclass
    class Changed(Message):
        """The text of the filter changed."""

        words: str

    class Done(Message):
        """The filter is complete; the focus returns to the list."""

    def __init__(self, tokens: Shown = NO_TOKENS, *, hint: str = "words, tokens, !not") -> None:
        """Create a bar for a filter with these tokens; `hint` is its placeholder. Without tokens, it has no counts."""
        super().__init__()
        self._tokens = tokens
        self._above = CellLines(fit=fit_parts if tokens else fit_cell, id="counts")
        self._said: Cell = ()
        self._problem: Cell = ()
        """What is wrong with the filter: it stands in place of what was said, where it has more room."""
        self._field = LineInput(placeholder=hint, id="filter")
        self._found = CellLines(fit=fit_parts, id="found")

    def compose(self) -> ComposeResult:
        """The counts, the filter, and its matches."""
        yield self._above
        mark = Static(plain("/", Tone.KEY), id="filter-mark")
        yield Horizontal(mark, self._field, self._found, id="filter-line")

    @property
    def words(self) -> str:
        """The filter as typed."""
        return self._field.value

    def say(self, said: Cell) -> None:
        """Show the counts that fit, or a sentence."""
        self._said = said
        self._above.paint([self._problem or said])

    def say_found(self, shown: int, known: int, problems: tuple[str, ...]) -> None:
        """Show how many rows match, what is wrong with the filter, and its tokens while it is typed and short."""
        chip = ((Shown(f" {shown:,} of {known:,} "), Tone.EDITED),) if known and self.words.strip() else ()
        typing = self.screen.focused is self._field
        kept = cell_len(self.words) >= LONG or not (problems or typing)
        self._problem = cell(problems[0], Tone.BAD) if problems else ()
        self.say(self._said)
        self._found.paint([(*chip, (Shown(f" {NO_TOKENS if kept else self._tokens}"), Tone.MUTED))])
        self.set_class(kept, "-kept")

    def put(self, words: str) -> None:
        """Set a filter that was not typed here."""
        if words != self.words:
            self._field.value = words
            self._field.cursor_position = 0
            self.set_class(bool(words), "-open")

    def open(self) -> None:
        """Open the filter and focus it."""
        self.add_class("-open")
        self.screen.set_focus(self._field)

    def action_clear(self) -> None:
        """Clear the filter."""
        self._field.value = ""
        self.action_keep()

    def action_keep(self) -> None:
        """Keep the filter, shown from its beginning, and return to the list."""
        self._field.value = self.words.strip()
        self._field.cursor_position = 0
        self.set_class(bool(self.words), "-open")
        self.post_message(self.Done())

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Changed(event.value))


def fit_parts(line: Cell, width: int) -> list[Span]:
    """Fill a width with the counts or tokens that fit whole: a number cut short is another number."""
    words = "".join(span for span, _ in line).rstrip()
    whole = len(words) <= width
    end = len(words) if whole else words.rfind(BETWEEN, 0, width - 1) + len(BETWEEN)
    if end < len(BETWEEN):
        return fit_cell(line, width)  # it has no parts
    fitting: list[Span] = []
    for span, tone in line:
        fitting.append((Shown(span[:end]), tone))
        end = max(end - len(span), 0)
    return fit_cell((*fitting, (Shown("" if whole else "…"), Tone.MUTED)), width)
