"""The editors of fields: each is shown in place of a row, and knows the value typed so far."""

import re
from collections.abc import Hashable, Mapping, Sequence
from itertools import chain
from typing import Any

from rich.cells import cell_len
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
from quarterdeck.tui.widgets.bars import Hints
from quarterdeck.tui.widgets.choices import ChoiceList
from quarterdeck.tui.widgets.form.lines import label_width
from quarterdeck.tui.widgets.inputs import KEEP, ChoiceLine, FormControl, FormRow, LineInput, SecretControl
from quarterdeck.tui.widgets.strips import CURSOR

MOST = 200
"""How many suggestions are listed; typing narrows them down."""
BESIDE = 4
"""Cells of what stands beside the choices."""
AS_TYPED = "as typed"
OFFERED = "offered by this server"


class FieldEditor(FormRow):
    """The editor of a field; the form handles its keys. `value` is the current value, or `KEEP`."""

    class Changed(Message):
        """The value changed."""

    def __init__(self, entry: Field, draft: Draft, control: FormControl, *below: Widget, hints: Hints = ()) -> None:
        """Create an editor for a field of a draft; `hints` are additional keys."""
        self.entry = entry
        self.draft = draft
        self._hints = hints
        self._suggested: Sequence[str] = ()
        self._width = 0
        mark = ((Shown(CURSOR), Tone.BUSY), (Shown(f" {text.line(entry.label)}"), Tone.STRONG))
        super().__init__(content(mark), control, *below)
        self.add_class("field-editor")

    @property
    def hints(self) -> Hints:
        """The keys that work while it is open."""
        return (*self._hints, ("enter", "done"), ("tab", "next field"), ("^s", "review & save"))

    def choose(self, step: int) -> bool:
        """Go to the next or previous choice; returns False if there is none."""
        return False

    def suggest(self, values: Sequence[str]) -> None:
        """Offer the server's suggestions, too."""
        self._suggested = values
        self._offer()

    def _offer(self) -> None:
        """List what can be chosen, if the editor has a list."""

    def fit(self, width: int) -> None:
        """Place the value where the lines have it, and what can be chosen below, if it is not too long for that.

        Its list calls this: of what is mounted in a screen that has just been scrolled, Textual may report no size.
        """
        self._width = width
        label = label_width(self.draft.fields, width) + 1
        self.query_one(".row-label").styles.width = label
        for choices in self.query(ChoiceList):
            room = width - max((cell_len(str(each.prompt)) for each in choices.options), default=0) - BESIDE
            choices.styles.margin = (0, 1, 0, max(1, min(label, room)))

    @on(LineInput.Changed)
    @on(ChoiceLine.Picked)
    def _changed(self, event: Message) -> None:
        event.stop()
        event.prevent_default()  # the form shows what is wrong
        self.post_message(self.Changed())


class TextEditor(FieldEditor):
    """A line of text or a number, with the server's suggestions below; any other text is allowed."""

    def __init__(self, entry: Field, draft: Draft) -> None:
        self._was = draft.value(entry.key)
        self._offered: Sequence[str] = ()
        self._chosen: str | None = None
        self._field = LineInput(words.editable(entry, self._was), placeholder=text.line(entry.default or "not set"))
        self._choices = ChoiceList(focusable=False)
        self._choices.display = False
        super().__init__(entry, draft, self._field, self._choices)

    @property
    def hints(self) -> Hints:
        """The keys, with those for suggestions once there are any."""
        return (*((("↓ ↑", "suggestions"),) if self._suggested else ()), *super().hints)

    @property
    def value(self) -> Any:
        """What was typed; exactly the former value if the line is unchanged."""
        return self._was if self._field.untouched else self.entry.parse(self._field.value)

    def choose(self, step: int) -> bool:
        """Put the next or previous suggestion into the line, if there are any."""
        if self._offered:
            self._choices.action_step(step)
            self._take(self._choices.highlighted or 0)
        return bool(self._offered)

    def _offer(self) -> None:
        """List the suggestions that contain what was typed, those that begin so first."""
        wanted = "" if self._field.untouched else self._field.value.strip().casefold()
        found = [value for value in self._suggested if wanted in value.casefold()]
        self._offered = sorted(found, key=lambda value: not value.casefold().startswith(wanted))[:MOST]
        self._choices.set_options([plain(value) for value in self._offered])
        self._choices.highlighted = None
        self.fit(self._width)
        self._choices.display = bool(self._offered)

    def _take(self, number: int) -> None:
        self._chosen = self._field.value = text.editable_line(self._offered[number])
        self._field.cursor_position = len(self._field.value)

    @on(LineInput.Changed)
    def _narrow(self, event: LineInput.Changed) -> None:
        if event.value != self._chosen:
            self._offer()

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        self._take(event.option_index)


class SelectEditor(FieldEditor):
    """A list of choices that narrows while typing; the typed text can also be used as it is."""

    def __init__(self, entry: Field, draft: Draft) -> None:
        self._was = draft.value(entry.key)
        self._offered: Sequence[Any] = ()
        self._field = LineInput()
        self._choices = ChoiceList(focusable=False)
        hints = (("↑ ↓", "choose"), ("type", "to find or set another"))
        super().__init__(entry, draft, self._field, self._choices, hints=hints)

    def on_mount(self) -> None:
        """List the choices."""
        self._offer()

    @property
    def value(self) -> Any:
        """The selected choice."""
        return self._offered[self._choices.highlighted or 0]

    def choose(self, step: int) -> bool:
        """Go to the next or previous item of the list."""
        self._choices.action_step(step)
        self._prompt()
        self.post_message(self.Changed())
        return True

    def suggest(self, values: Sequence[str]) -> None:
        """Offer the server's suggestions, too; what is chosen stays chosen."""
        chosen = self.value if self._offered else self._was
        super().suggest(values)
        self._choices.highlighted = self._offered.index(chosen)
        self._prompt()

    def _prompt(self) -> None:
        """Name what is selected in the field while nothing is typed."""
        self._field.placeholder = text.line(words.editable(self.entry, self.value) or "not set")

    @on(LineInput.Changed)
    def _offer(self) -> None:
        """List what matches the typed text, with the best match selected."""
        query = self._field.value.strip()
        known: dict[Any, str] = dict.fromkeys(self._suggested, OFFERED)
        known |= self.entry.choices
        own = self.entry.parse(query)
        rows: dict[Any, str] = {None: ""} if self.entry.nullable else {}
        rows[self._was] = ""  # also None: before the first save, even a field that cannot be unset is not set
        rows |= known
        if query:
            rows = {value: said for value, said in rows.items() if _matches(value, said, query)}
            if own not in rows:
                rows[own] = AS_TYPED
        self._offered = list(rows)
        self._choices.set_options([content(_choice(value, said)) for value, said in rows.items()])
        self._choices.highlighted = self._offered.index(_best(rows, own, query) if query else self._was)
        self._prompt()
        self.fit(self._width)


def editor_for(entry: Field, draft: Draft) -> FieldEditor | None:
    """Return the editor of a field; None if it is not edited in place."""
    match entry.control:
        case _ if entry.absent:
            return None
        case Control.SELECT if isinstance(draft.value(entry.key), Hashable):
            return SelectEditor(entry, draft)
        case Control.TEXT | Control.SELECT:  # also a list or an object, which no choice can be
            return TextEditor(entry, draft)
        case Control.SWITCH:
            value = draft.value(entry.key)
            choices: dict[bool | None, Shown] = {True: Shown("on"), False: Shown("off")}
            if entry.nullable or value is None:
                choices = {None: Shown("not set"), **choices}
            return FieldEditor(entry, draft, ChoiceLine(choices, value), hints=(("← →", "choose"),))
        case Control.SECRET:
            value = draft.value(entry.key) if entry.key in draft.edits else KEEP
            control = SecretControl(stored=draft.stored(entry.key), value=value)
            return FieldEditor(entry, draft, control, hints=(("← →", "choose while empty"), ("^t", "show typed")))
    return None


def _matches(value: Any, said: str, query: str) -> bool:
    return query.casefold() in _text(value, said).casefold()


def _text(value: Any, said: str) -> str:
    return f"{typed(value) or 'not set'} {said}"


def _best(rows: Mapping[Any, str], own: Any, query: str) -> Any:
    """Return the choice typed in full, else one with a word that begins so, else what was typed."""
    if own in rows and rows[own] != AS_TYPED:
        return own
    wanted = re.compile(rf"\b{re.escape(query)}", re.IGNORECASE)
    others = [(value, _text(value, said)) for value, said in rows.items() if value != own]
    by_value = (value for value, words in others if wanted.match(words))
    by_words = (value for value, words in others if wanted.search(words))
    return next(chain(by_value, by_words), own)


def _choice(value: Any, said: str) -> Cell:
    if value is None:
        return ((Shown("not set"), Tone.MUTED),)
    return ((text.line(typed(value)), Tone.PLAIN), (Shown("  "), Tone.PLAIN), (text.line(said), Tone.MUTED))
