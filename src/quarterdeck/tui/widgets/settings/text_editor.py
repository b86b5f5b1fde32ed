"""The editors of a line of text: alone, or with what the server suggests under it."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual import getters, on
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import OptionList

from quarterdeck.settings import words
from quarterdeck.tui import text
from quarterdeck.tui.cells import Tone
from quarterdeck.tui.paint import plain
from quarterdeck.tui.widgets.settings.editor import FieldEditor
from quarterdeck.tui.widgets.settings.line_input import LineInput, abridged

MOST = 200
"""Suggestions that are listed; typing narrows them down."""


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
        self._shown = abridged(words.editable(self.entry, self._value))
        yield LineInput(self._shown, placeholder=self.entry.default or "not set")

    def start(self) -> None:
        """Take the focus."""
        self.screen.set_focus(self.field)

    @on(LineInput.Changed)
    def _changed(self, event: LineInput.Changed) -> None:
        event.stop()
        untouched = event.value == self._shown
        self.post_message(self.Changed(self._value if untouched else self.entry.reads(event.value)))

    @on(LineInput.Submitted)
    def _submitted(self, event: LineInput.Submitted) -> None:
        event.stop()
        self.action_leave(0)


class SuggestEditor(TextEditor):
    """A line of text, and under it what the server suggests; any other text is as good."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "choose(1)", "Next suggestion", show=False),
        Binding("up", "choose(-1)", "Suggestion before", show=False),
    ]
    HINTS = (("↓ ↑", "suggestions"), *FieldEditor.HINTS)
    choices = getters.query_one(OptionList)

    def controls(self) -> Iterable[Widget]:
        """The field, and room for the suggestions."""
        self._suggested: Sequence[str] = ()
        self._listed: Sequence[str] = ()
        yield from super().controls()
        choices = OptionList(compact=True, markup=False)
        choices.can_focus = False
        choices.display = False
        yield choices

    def suggest(self, values: Sequence[str]) -> None:
        """Offer what the server suggests, beginning with all of it."""
        self._suggested = values
        self._list("")

    def action_choose(self, step: int) -> None:
        """Put a neighbouring suggestion into the field; where there is none, go on to the next field."""
        if not self._listed:
            self.action_leave(step)
            return
        (self.choices.action_cursor_down if step > 0 else self.choices.action_cursor_up)()

    def _list(self, query: str) -> None:
        wanted = query.casefold()
        self._listed = [value for value in self._suggested if wanted in value.casefold()][:MOST]
        with self.prevent(OptionList.OptionHighlighted):
            self.choices.set_options([plain(text.line(value), Tone.PLAIN) for value in self._listed])
            self.choices.highlighted = None
        self.choices.display = bool(self._listed)

    @on(LineInput.Changed)
    def _narrow(self, event: LineInput.Changed) -> None:
        self._list("" if event.value == self._shown else event.value.strip())

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        if event.option_index < len(self._listed):
            value = self._listed[event.option_index]
            with self.prevent(LineInput.Changed):
                self.field.value = text.line(value)
            self.field.cursor_position = len(self.field.value)
            self.post_message(self.Changed(self.entry.reads(value)))

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_leave(0)
