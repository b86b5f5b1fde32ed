"""The editors: a line of text or number, a switch, a list to choose from, a secret."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from textual import getters, on
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import OptionList

from quarterdeck.draft import masks
from quarterdeck.draft.draft import Draft
from quarterdeck.draft.field import Control, Field
from quarterdeck.draft.reading import typed
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.paint import content
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.settings.choice_line import ChoiceLine
from quarterdeck.tui.widgets.settings.editor import KEEP, FieldEditor
from quarterdeck.tui.widgets.settings.line_input import LineInput
from quarterdeck.tui.widgets.settings.secret_control import SecretAction, SecretControl

AS_TYPED = "as typed"


class TextEditor(FieldEditor):
    """A line of text, or a number."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "leave(1)", "Next field", show=False),
        Binding("up", "leave(-1)", "Field before", show=False),
    ]
    field = getters.query_one(LineInput)

    def controls(self) -> Iterable[Widget]:
        """One field, filled with what is there."""
        self._value = self.draft.value(self.entry.key)
        self._shown = text.line(masks.address(typed(self._value)))
        yield LineInput(self._shown, placeholder=self.entry.default or "not set")

    def start(self) -> None:
        """Take the focus."""
        self.field.focus()

    @on(LineInput.Changed)
    def _changed(self, event: LineInput.Changed) -> None:
        event.stop()
        untouched = event.value == self._shown
        self.post_message(self.Changed(self._value if untouched else self.entry.reads(event.value)))

    @on(LineInput.Submitted)
    def _submitted(self, event: LineInput.Submitted) -> None:
        event.stop()
        self.action_leave(0)


class ChoiceEditor(FieldEditor):
    """On or off, and where it may be so: not set."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "leave(0)", "Done", show=False),
        Binding("down", "leave(1)", "Next field", show=False),
        Binding("up", "leave(-1)", "Field before", show=False),
    ]
    HINTS = (("← →", "choose"), *FieldEditor.HINTS)
    choices = getters.query_one(ChoiceLine)

    def controls(self) -> Iterable[Widget]:
        """The choices in one line."""
        self._values: Sequence[bool | None] = (
            (None, True, False) if self.entry.control is Control.THREE_WAY else (True, False)
        )
        words = {None: Shown("not set"), True: Shown("on"), False: Shown("off")}
        taken = self._values.index(self.draft.value(self.entry.key))
        yield ChoiceLine([words[value] for value in self._values], taken)

    def start(self) -> None:
        """Take the focus."""
        self.choices.focus()

    @on(ChoiceLine.Picked)
    def _picked(self, event: ChoiceLine.Picked) -> None:
        event.stop()
        self.post_message(self.Changed(self._values[event.number]))


class SecretEditor(FieldEditor):
    """Keep, replace or clear."""

    HINTS = (("← →", "choose"), ("^t", "show typed"), *FieldEditor.HINTS)
    secret = getters.query_one(SecretControl)

    def controls(self) -> Iterable[Widget]:
        """The three choices, and the field of a replacement."""
        action, value = SecretAction.KEEP, self.draft.value(self.entry.key)
        if self.entry.key in self.draft.edits:
            action = SecretAction.CLEAR if value is None else SecretAction.REPLACE
        yield SecretControl(stored=self.draft.stored(self.entry.key), action=action, typed=value)

    def start(self) -> None:
        """Take the focus."""
        self.secret.field.focus()

    @on(SecretControl.Changed)
    def _changed(self, event: SecretControl.Changed) -> None:
        event.stop()
        values: dict[SecretAction, Any] = {
            SecretAction.KEEP: KEEP,
            SecretAction.REPLACE: self.secret.typed,
            SecretAction.CLEAR: None,
        }
        self.post_message(self.Changed(values[self.secret.action]))

    @on(SecretControl.Done)
    def _done(self, event: SecretControl.Done) -> None:
        event.stop()
        self.action_leave(0)


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
        yield LineInput(placeholder="type to find a choice, or another value")
        choices = OptionList(compact=True, markup=False)
        choices.can_focus = False
        yield choices

    def start(self) -> None:
        """Take the focus."""
        self._offer("")
        self.field.focus()

    def action_move(self, step: int) -> None:
        """Go to a neighbour in the list."""
        (self.choices.action_cursor_down if step > 0 else self.choices.action_cursor_up)()

    def _offer(self, query: str) -> None:
        """List what matches, the best one taken."""
        known = {choice.value: choice.words for choice in self.entry.choices}
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
    return ((text.line(typed(value)), Tone.PLAIN), (Shown("  "), Tone.PLAIN), (Shown(words), Tone.MUTED))


def editor_for(entry: Field, draft: Draft) -> FieldEditor | None:
    """The editor of a field; None for one that is not edited in place."""
    match entry.control:
        case Control.TEXT:
            return TextEditor(entry, draft)
        case Control.SWITCH | Control.THREE_WAY:
            return ChoiceEditor(entry, draft)
        case Control.SELECT:
            return SelectEditor(entry, draft)
        case Control.SECRET:
            return SecretEditor(entry, draft)
        case _:
            return None
