"""The editor of a field with choices: a list that narrows as one types."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from textual import getters, on
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import OptionList

from quarterdeck.settings.fields import typed
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.paint import content
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.settings.editor import FieldEditor
from quarterdeck.tui.widgets.settings.line_input import LineInput

AS_TYPED = "as typed"
OFFERED = "offered by this server"


class SelectEditor(FieldEditor):
    """A list to choose from that narrows as one types; what is typed can be taken as it is."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "move(1)", "Next choice", show=False),
        Binding("up", "move(-1)", "Choice before", show=False),
    ]
    HINTS = (("↑ ↓", "choose"), ("type", "to find or set another"), *FieldEditor.HINTS)
    field = getters.query_one(LineInput)
    choices = getters.query_one(OptionList)

    def controls(self) -> Iterable[Widget]:
        """The field to type into, and the choices."""
        self._value = self.draft.value(self.entry.key)
        self._offered: list[Any] = []
        self._suggested: Sequence[str] = ()
        yield LineInput(placeholder="type to find a choice, or another value")
        choices = OptionList(compact=True, markup=False)
        choices.can_focus = False
        yield choices

    def start(self) -> None:
        """Take the focus."""
        self._offer("")
        self.screen.set_focus(self.field)

    def suggest(self, values: Sequence[str]) -> None:
        """Offer what the server suggests besides the choices."""
        self._suggested = values
        self._offer(self.field.value.strip())

    def action_move(self, step: int) -> None:
        """Go to a neighbour in the list."""
        (self.choices.action_cursor_down if step > 0 else self.choices.action_cursor_up)()

    def _offer(self, query: str) -> None:
        """List what matches, the best one taken."""
        known: dict[Any, str] = dict.fromkeys(self._suggested, OFFERED)
        known |= {choice.value: choice.words for choice in self.entry.choices}
        own = self.entry.reads(query)
        rows: dict[Any, str] = {None: ""} if self.entry.nullable else {}
        if self._value is not None:
            rows[self._value] = ""
        rows |= known
        if query:
            rows = {value: words for value, words in rows.items() if _matches(value, words, query)}
            if own not in rows:
                rows[own] = AS_TYPED
        self._offered = list(rows)
        with self.prevent(OptionList.OptionHighlighted):
            self.choices.set_options([content(_choice_cell(value, words)) for value, words in rows.items()])
        best = self._value if not query else _best(rows, own, query)
        self.choices.highlighted = self._offered.index(best)

    @on(LineInput.Changed)
    def _typed(self, event: LineInput.Changed) -> None:
        event.stop()
        self._offer(event.value.strip())

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        if event.option_index < len(self._offered):
            self.post_message(self.Changed(self._offered[event.option_index]))

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_leave(0)

    @on(LineInput.Submitted)
    def _submitted(self, event: LineInput.Submitted) -> None:
        event.stop()
        self.action_leave(0)


def _matches(value: Any, words: str, query: str) -> bool:
    return query.casefold() in f"{typed(value) or 'not set'} {words}".casefold()


def _best(rows: Mapping[Any, str], own: Any, query: str) -> Any:
    """The choice typed in full; else one whose value, then whose words begin so; else the first."""
    if own in rows and rows[own] != AS_TYPED:
        return own
    wanted = query.casefold()
    by_value = (value for value in rows if typed(value).casefold().startswith(wanted) and value != own)
    by_words = (value for value, words in rows.items() if words.casefold().startswith(wanted))
    return next(by_value, None) or next(by_words, None) or next(iter(rows))


def _choice_cell(value: Any, words: str) -> Cell:
    if value is None:
        return ((Shown("not set"), Tone.MUTED),)
    return ((text.line(typed(value)), Tone.PLAIN), (Shown("  "), Tone.PLAIN), (text.line(words), Tone.MUTED))
