"""What the editors of fields share: they stand in the list in place of the row they edit."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from quarterdeck.settings.draft import Draft
from quarterdeck.settings.fields import Field, Problem
from quarterdeck.tui import text
from quarterdeck.tui.cells import Tone
from quarterdeck.tui.paint import content, plain
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.settings.line_input import LineInput
from quarterdeck.tui.widgets.settings.line_painter import CURSOR

KEEP = object()
"""In place of a value: no edit, the field stays as it is stored."""


class FieldEditor(Horizontal):
    """A field being edited. Each change is told at once, so that leaving in any way keeps it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave(0)", "Done", show=False),
        Binding("tab", "leave(1)", "Next field", show=False),
        Binding("shift+tab", "leave(-1)", "Field before", show=False),
    ]
    HINTS: ClassVar[Sequence[tuple[str, str]]] = (("enter", "done"), ("tab", "next field"), ("^s", "review & save"))
    note = getters.query_one("#editor-note", Static)

    @dataclass
    class Changed(Message):
        """The field has another value; `KEEP` ends the edit."""

        value: Any

    @dataclass
    class Left(Message):
        """Editing is over; the cursor moves by `step` rows."""

        step: int

    def __init__(self, entry: Field, draft: Draft) -> None:
        super().__init__(classes="field-editor")
        self.entry = entry
        self.draft = draft
        self._said: Problem | None = None

    def compose(self) -> ComposeResult:
        """The label, the controls beside it, and the sentence under them."""
        mark = ((Shown(CURSOR), Tone.BUSY), (Shown(f" {self.entry.label}"), Tone.STRONG))
        yield Static(content(mark), id="editor-label")
        with Vertical(id="editor-controls"):
            yield from self.controls()
            yield Static(id="editor-note")
            yield Static(id="editor-notice")

    def controls(self) -> Iterable[Widget]:
        """The widgets that edit the value."""
        raise NotImplementedError

    def start(self) -> None:
        """Take the focus."""
        raise NotImplementedError

    def say(self, problem: Problem | None) -> None:
        """Show what is wrong with the value, or take the sentence away."""
        if problem == self._said:
            return
        self._said = problem
        self.note.display = problem is not None
        if problem is not None:
            mark = "!" if problem.stops else "·"
            self.note.update(plain(text.line(f"{mark} {problem.words}"), Tone.BAD if problem.stops else Tone.WARN))

    def action_leave(self, step: int) -> None:
        """End editing; what was typed stays."""
        self.post_message(self.Left(step))

    @on(LineInput.Noticed)
    def _noticed(self, event: LineInput.Noticed) -> None:
        event.stop()
        notice = self.query_one("#editor-notice", Static)
        notice.display = True
        notice.update(plain(event.words, Tone.WARN))
