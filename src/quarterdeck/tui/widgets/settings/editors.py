"""The editors of switches and secrets, and which editor is for a field."""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from textual import getters, on
from textual.binding import Binding, BindingType
from textual.widget import Widget

from quarterdeck.settings.draft import Draft
from quarterdeck.settings.fields import Control, Field
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.settings.choice_line import ChoiceLine
from quarterdeck.tui.widgets.settings.editor import KEEP, FieldEditor
from quarterdeck.tui.widgets.settings.secret_control import SecretAction, SecretControl
from quarterdeck.tui.widgets.settings.select_editor import SelectEditor
from quarterdeck.tui.widgets.settings.text_editor import SuggestEditor, TextEditor

SUGGESTED = frozenset({"llm_model"})
"""Lines of text that servers suggest values for."""


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
        value = self.draft.value(self.entry.key)
        three_way = self.entry.control is Control.THREE_WAY and self.entry.nullable
        self._values: Sequence[bool | None] = (None, True, False) if three_way or value is None else (True, False)
        said = {None: Shown("not set"), True: Shown("on"), False: Shown("off")}
        yield ChoiceLine([said[value] for value in self._values], self._values.index(value))

    def start(self) -> None:
        """Take the focus."""
        self.screen.set_focus(self.choices)

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
        self.screen.set_focus(self.secret.field)

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


def editor_for(entry: Field, draft: Draft) -> FieldEditor | None:
    """The editor of a field; None for one that is not edited in place."""
    if entry.absent:
        return None
    match entry.control:
        case Control.TEXT:
            return SuggestEditor(entry, draft) if entry.key in SUGGESTED else TextEditor(entry, draft)
        case Control.SWITCH | Control.THREE_WAY:
            return ChoiceEditor(entry, draft)
        case Control.SELECT:
            return SelectEditor(entry, draft)
        case Control.SECRET:
            return SecretEditor(entry, draft)
        case _:
            return None
