"""Around the form: the filter of its fields, and the line that says what is edited and what became of the last save."""

from dataclasses import dataclass
from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

from quarterdeck.settings import words
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.paint import content, plain
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.form.inputs import LineInput
from quarterdeck.tui.widgets.form.view import FormView


class FieldFilter(Horizontal):
    """A line to type into, out of sight as long as it is empty; escape shows all fields again, enter goes back."""

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

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Changed(event.value))


class SettingsBar(Horizontal):
    """Edits at the left, the outcome of a save at the right, where it stays."""

    def __init__(self) -> None:
        super().__init__(id="settings-bar")
        self._summary, self._result = Static(id="settings-summary"), Static(id="settings-result")

    def compose(self) -> ComposeResult:
        """Both sides, empty at first."""
        yield self._summary
        yield self._result

    def show(self, view: FormView | None) -> None:
        """Say how much is edited; nothing while nothing is loaded."""
        self._summary.update(content(_summary(view)) if view else "", layout=False)

    def say(self, result: Cell) -> None:
        """Say what became of a save."""
        self._result.update(content(result))


def _summary(view: FormView) -> Cell:
    """`3 edited · 1 error`, or that all is as stored."""
    if not view.draft.edited:
        known = view.draft.base is not None
        return cell(Shown("As stored" if known else "Nothing stored yet: defaults apply until you save"), Tone.MUTED)
    edited = (Shown(f"{view.draft.count} edited"), Tone.EDITED)
    if not view.errors:
        return (edited, (Shown(" · not saved yet"), Tone.MUTED))
    return (edited, (Shown(" · "), Tone.MUTED), (Shown(words.counted(len(view.errors), "error")), Tone.BAD))
