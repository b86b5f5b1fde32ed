"""The editors of fields: each stands in the list in place of its row, and knows the value typed so far."""

from collections.abc import Mapping, Sequence
from typing import Any

from textual import on
from textual.message import Message
from textual.widget import Widget
from textual.widgets import OptionList

from quarterdeck.settings import words
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.fields import Control, Field, typed
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.paint import content, plain
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.form.inputs import KEEP, ChoiceLine, FormControl, FormRow, LineInput, SecretControl
from quarterdeck.tui.widgets.strips import CURSOR

Hints = Sequence[tuple[str, str]]
"""Keys, with what each does."""
MOST = 200
"""Suggestions that are listed; typing narrows them down."""
AS_TYPED = "as typed"
OFFERED = "offered by this server"


class FieldEditor(FormRow):
    """A field being edited. The form has its keys; `value` is what stands in it, or `KEEP`."""

    class Changed(Message):
        """The field has another value."""

    def __init__(self, entry: Field, draft: Draft, control: FormControl, *below: Widget, hints: Hints = ()) -> None:
        """Edit the field of a draft; `hints` are keys of its own."""
        self.entry = entry
        self.draft = draft
        self.control = control
        self._hints = hints
        mark = ((Shown(CURSOR), Tone.BUSY), (text.line(f" {entry.label}"), Tone.STRONG))
        super().__init__(content(mark), control, *below)
        self.add_class("field-editor")

    @property
    def hints(self) -> Hints:
        """The keys that work while it is edited."""
        return (*self._hints, ("enter", "done"), ("tab", "next field"), ("^s", "review & save"))

    @property
    def value(self) -> Any:
        """The value as it stands."""
        return self.control.entered

    def choose(self, step: int) -> bool:
        """Go to a neighbouring choice; False where there is none to go to."""
        return False

    def suggest(self, values: Sequence[str]) -> None:
        """Offer what the server suggests, where there is room for it."""

    @on(LineInput.Changed)
    @on(ChoiceLine.Picked)
    def _changed(self, event: Message) -> None:
        event.stop()
        event.prevent_default()  # what is wrong is said by the form
        self.post_message(self.Changed())

    @on(LineInput.Noticed)
    def _noticed(self, event: LineInput.Noticed) -> None:
        event.stop()
        self.say(event.words, stops=False)


class Choices(OptionList):
    """A list below a line, which keeps the keyboard."""

    def __init__(self) -> None:
        super().__init__(compact=True, markup=False)
        self.can_focus = False

    def step(self, step: int) -> int:
        """Go to a neighbour, and return its number."""
        (self.action_cursor_down if step > 0 else self.action_cursor_up)()
        return self.highlighted or 0


class TextEditor(FieldEditor):
    """A line of text or a number; under it what the server suggests, where any other text is as good."""

    def __init__(self, entry: Field, draft: Draft) -> None:
        self._was = draft.value(entry.key)
        self._suggested: Sequence[str] = ()
        self._offered: Sequence[str] = ()
        self._chosen = ""
        self._field = LineInput(words.editable(entry, self._was), placeholder=text.line(entry.default or "not set"))
        self._choices = Choices()
        self._choices.display = False
        super().__init__(entry, draft, self._field, self._choices)

    @property
    def hints(self) -> Hints:
        """With those for suggestions, once there are any."""
        return (*((("↓ ↑", "suggestions"),) if self._suggested else ()), *super().hints)

    @property
    def value(self) -> Any:
        """What was typed; a line that was left alone is the very value it had."""
        return self._was if self._field.untouched else self.entry.reads(self._field.value)

    def suggest(self, values: Sequence[str]) -> None:
        """Offer what the server suggests, beginning with all of it."""
        self._suggested = values
        self._offer("")

    def choose(self, step: int) -> bool:
        """Put a neighbouring suggestion into the line, if there are any."""
        if self._offered:
            self._take(self._choices.step(step))
        return bool(self._offered)

    def _offer(self, query: str) -> None:
        wanted = query.casefold()
        found = [value for value in self._suggested if wanted in value.casefold()]
        self._offered = sorted(found, key=lambda value: not value.casefold().startswith(wanted))[:MOST]
        self._choices.set_options([plain(text.line(value), Tone.PLAIN) for value in self._offered])
        self._choices.highlighted = None
        self._choices.display = bool(self._offered)

    def _take(self, number: int) -> None:
        self._chosen = text.line(self._offered[number])
        self._field.value = self._chosen
        self._field.cursor_position = len(self._chosen)

    @on(LineInput.Changed)
    def _narrow(self, event: LineInput.Changed) -> None:
        if not self._chosen or event.value != self._chosen:
            self._offer("" if self._field.untouched else event.value.strip())

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        self._take(event.option_index)


class SelectEditor(FieldEditor):
    """A list to choose from that narrows as one types; what is typed can be taken as it is."""

    def __init__(self, entry: Field, draft: Draft) -> None:
        self._was = draft.value(entry.key)
        self._suggested: Sequence[str] = ()
        self._offered: Sequence[Any] = ()
        self._field = LineInput(placeholder="type to find a choice, or another value")
        self._choices = Choices()
        hints = (("↑ ↓", "choose"), ("type", "to find or set another"))
        super().__init__(entry, draft, self._field, self._choices, hints=hints)

    def on_mount(self) -> None:
        """List the choices."""
        self._offer()

    @property
    def value(self) -> Any:
        """The choice taken."""
        return self._offered[self._choices.highlighted or 0]

    def suggest(self, values: Sequence[str]) -> None:
        """Offer what the server suggests besides the choices."""
        self._suggested = values
        self._offer()

    def choose(self, step: int) -> bool:
        """Go to a neighbour in the list."""
        self._choices.step(step)
        self.post_message(self.Changed())
        return True

    @on(LineInput.Changed)
    def _offer(self) -> None:
        """List what matches what is typed, the best one taken."""
        query = self._field.value.strip()
        known: dict[Any, str] = dict.fromkeys(self._suggested, OFFERED)
        known |= self.entry.choices
        own = self.entry.reads(query)
        rows: dict[Any, str] = {None: ""} if self.entry.nullable else {}
        rows[self._was] = ""  # also where that is nothing: before the first save even what cannot be unset is not set
        rows |= known
        if query:
            rows = {value: said for value, said in rows.items() if _matches(value, said, query)}
            if own not in rows:
                rows[own] = AS_TYPED
        self._offered = list(rows)
        self._choices.set_options([content(_choice(value, said)) for value, said in rows.items()])
        self._choices.highlighted = self._offered.index(_best(rows, own, query) if query else self._was)


def editor_for(entry: Field, draft: Draft) -> FieldEditor | None:
    """The editor of a field; None for one that is not edited in place."""
    match entry.control:
        case _ if entry.absent:
            return None
        case Control.TEXT:
            return TextEditor(entry, draft)
        case Control.SELECT:
            return SelectEditor(entry, draft)
        case Control.SWITCH:
            value = draft.value(entry.key)
            choices: dict[bool | None, Shown] = {True: Shown("on"), False: Shown("off")}
            if entry.nullable or value is None:
                choices = {None: Shown("not set"), **choices}
            return FieldEditor(entry, draft, ChoiceLine(choices, value), hints=(("← →", "choose"),))
        case Control.SECRET:
            value = draft.value(entry.key) if entry.key in draft.edits else KEEP
            control = SecretControl(stored=draft.stored(entry.key), value=value)
            return FieldEditor(entry, draft, control, hints=(("← →", "choose"), ("^t", "show typed")))
    return None


def _matches(value: Any, said: str, query: str) -> bool:
    return query.casefold() in f"{typed(value) or 'not set'} {said}".casefold()


def _best(rows: Mapping[Any, str], own: Any, query: str) -> Any:
    """The choice typed in full; else one whose value, then whose words begin so; else the first."""
    if own in rows and rows[own] != AS_TYPED:
        return own
    wanted = query.casefold()
    by_value = (value for value in rows if typed(value).casefold().startswith(wanted) and value != own)
    by_words = (value for value, said in rows.items() if said.casefold().startswith(wanted))
    return next(by_value, None) or next(by_words, None) or next(iter(rows))


def _choice(value: Any, said: str) -> Cell:
    if value is None:
        return ((Shown("not set"), Tone.MUTED),)
    return ((text.line(typed(value)), Tone.PLAIN), (Shown("  "), Tone.PLAIN), (text.line(said), Tone.MUTED))
