"""The controls of forms: a line of text, several lines, choices side by side, a secret, and a label beside one."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, TypeVar

from pydantic import SecretStr
from textual import events, getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Input, Static, TextArea

from quarterdeck.settings import masks
from quarterdeck.tui import text
from quarterdeck.tui.cells import Tone
from quarterdeck.tui.external import CannotRunError, edit
from quarterdeck.tui.paint import content, plain
from quarterdeck.tui.text import Shown

MOST = 4_000
"""Characters that a line begins with, or takes from a paste: far more than anybody edits in one line."""
NONE = Shown("none")
Kept = TypeVar("Kept")
BETWEEN = 2
"""Cells between two choices."""


def abridged(value: str) -> Shown:
    """A value as its field begins with it: the rest of a very long one stands behind a mask.

    A field left alone keeps the value whole, and no check lets a changed one through while the mask is in it.
    """
    return text.line(value) if len(value) <= MOST else Shown(f"{text.line(value[:MOST])} {masks.MASK}")


class LineInput(Input):
    """Textual's input without a border, with undo; pasted text loses what would act on a terminal."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+z", "undo", "Undo", show=False),
        Binding("ctrl+y", "redo", "Redo", show=False),
        Binding("f4", "edit_outside", "Edit in $EDITOR", show=False),
    ]

    @dataclass
    class Noticed(Message):
        """What was pasted is changed or refused; `words` say how."""

        words: Shown

    def __init__(
        self,
        value: str = "",
        *,
        placeholder: str = "",
        password: bool = False,
        id: str | None = None,  # noqa: A002 - Textual's name for it
    ) -> None:
        self._past: list[str] = []
        self._future: list[str] = []
        self._typing = False
        super().__init__(
            value, placeholder=placeholder, password=password, compact=True, select_on_focus=not password, id=id
        )
        self.cursor_blink = False
        self.is_secret = password

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """An empty line leaves left and right to what is around it."""
        return bool(self.value) or action not in ("cursor_left", "cursor_right")

    def on_paste(self, event: events.Paste) -> None:
        """Put pasted text in as one line."""
        event.prevent_default()
        event.stop()
        self.paste(event.text)

    def paste(self, pasted: str) -> None:
        """Put a text in at the cursor, in place of what is selected."""
        if len(pasted) > MOST:
            self._notice(f"The pasted text is longer than {MOST} characters. Not taken.")
            return
        cleaned = pasted.strip() if self.is_secret else text.line(pasted)
        if self.is_secret and len(cleaned.splitlines()) > 1:
            self._notice("The pasted text has several lines; a key is one. Not taken.")
            return
        if self.is_secret and cleaned != pasted:
            self._notice("Blanks around the pasted key were left out.")
        self.replace(cleaned, *sorted(self.selection))

    def watch_value(self, before: str, after: str) -> None:
        """Remember what was there; letters typed up to a blank are one step."""
        if before == after:
            return
        typing = len(after) == len(before) + 1 and not after.endswith(" ")
        if not (typing and self._typing):
            self._past.append(before)
        self._typing = typing
        self._future.clear()

    def action_undo(self) -> None:
        """Take the last step back."""
        self._step(self._past, self._future)

    def action_redo(self) -> None:
        """Do the step again that was taken back."""
        self._step(self._future, self._past)

    def _step(self, back: list[str], forth: list[str]) -> None:
        if back:
            value, past, future = back.pop(), self._past, self._future
            forth.append(self.value)
            self._past, self._future = [], []
            self.value, self._typing = value, False
            self.cursor_position = len(value)
            self._past, self._future = past, future

    def action_edit_outside(self) -> None:
        """Edit the text in the person's editor; a secret is written to no file."""
        if self.is_secret:
            self._notice("A secret is not written to a file for an editor.")
            return
        try:
            self.value = text.line(edit(self.app, self.value))
        except CannotRunError as error:
            self._notice(str(error))

    def _notice(self, words: str) -> None:
        self.post_message(self.Noticed(Shown(words)))


class PlainArea(TextArea):
    """Textual's text area without wrapping and colours; tab moves the focus on, pasted text is made safe."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("f4", "edit_outside", "Edit in $EDITOR", show=False)]

    def __init__(self, value: str = "", *, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(value, soft_wrap=False, tab_behavior="focus", compact=True, id=id)
        self.cursor_blink = False

    def on_paste(self, event: events.Paste) -> None:
        """Put pasted text in at the cursor, line breaks kept."""
        event.prevent_default()
        event.stop()
        self.replace(text.whole(event.text), *self.selection)

    def action_edit_outside(self) -> None:
        """Edit the text in the person's editor."""
        try:
            self.replace(text.whole(edit(self.app, self.text)), (0, 0), self.document.end)
        except CannotRunError as error:
            self.notify(str(error), markup=False)


class ChoiceLine(Widget, can_focus=True):
    """Choices side by side, `( ) not set  (•) on`; left, right and space take another one, and so does a click."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "step(-1)", "Choice before", show=False),
        Binding("right,space", "step(1)", "Next choice", show=False),
    ]
    taken: reactive[int] = reactive(0)

    @dataclass
    class Picked(Message):
        """Another choice was taken."""

        number: int

    def __init__(self, words: Sequence[Shown], taken: int = 0, *, focusable: bool = True) -> None:
        super().__init__()
        self._words = tuple(words)
        self.can_focus = focusable
        self.set_reactive(ChoiceLine.taken, taken)

    def render(self) -> Content:
        """All choices, the taken one with a dot."""
        spans: list[tuple[Shown, Tone]] = []
        for number, word in enumerate(self._words):
            is_taken = number == self.taken
            spans.append((Shown("(•) " if is_taken else "( ) "), Tone.KEY if is_taken else Tone.MUTED))
            spans.append((word, Tone.STRONG if is_taken else Tone.PLAIN))
            spans.append((Shown(" " * BETWEEN), Tone.PLAIN))
        return content(spans)

    def action_step(self, step: int) -> None:
        """Take a neighbour, around the ends, and say so."""
        self._pick((self.taken + step) % len(self._words))

    def on_click(self, event: events.Click) -> None:
        """Take the choice under the mouse."""
        edge = 0
        for number, word in enumerate(self._words):
            edge += len(word) + 4 + BETWEEN
            if event.x < edge:
                self._pick(number)
                return

    def _pick(self, number: int) -> None:
        if number != self.taken:
            self.taken = number
            self.post_message(self.Picked(number))


class SecretAction(StrEnum):
    """What becomes of a secret; the value is its word."""

    KEEP = "keep"
    REPLACE = "replace"
    CLEAR = "clear"


class SecretControl(Vertical):
    """Keep, replace or clear over a masked field: what is typed there replaces, and emptying it keeps again.

    While the field is empty, left and right choose.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+t", "reveal", "Show what is typed", show=False),
        Binding("left", "step(-1)", "Choice before", show=False),
        Binding("right", "step(1)", "Next choice", show=False),
    ]

    @dataclass
    class Changed(Message):
        """Another choice was taken, or something was typed."""

    def __init__(
        self,
        *,
        stored: bool | None,
        action: SecretAction = SecretAction.KEEP,
        typed: SecretStr | None = None,
        none: Shown = NONE,
    ) -> None:
        """Begin with an action; `none` is the word for a secret that is not stored, or goes with the next save."""
        super().__init__()
        self._actions = (SecretAction.KEEP, SecretAction.REPLACE) if stored is False else tuple(SecretAction)
        words = (none, Shown("set one")) if stored is False else tuple(Shown(each.value) for each in self._actions)
        self.choices = ChoiceLine(words, self._actions.index(action), focusable=False)
        value = typed.get_secret_value() if typed is not None else ""
        self.field = LineInput(value, placeholder="type or paste to replace", password=True)

    def compose(self) -> ComposeResult:
        """The choices, and the field under them."""
        yield self.choices
        yield self.field

    def result(self, kept: Kept) -> Kept | SecretStr | None:
        """What is kept, the replacement without blanks around it, or None to clear it.

        A replacement of which nothing is typed keeps what is stored.
        """
        typed = self.field.value.strip()
        match self._actions[self.choices.taken]:
            case SecretAction.CLEAR:
                return None
            case SecretAction.REPLACE if typed:
                return SecretStr(typed)
        return kept

    def action_reveal(self) -> None:
        """Show or mask what was typed."""
        self.field.password = not self.field.password

    def action_step(self, step: int) -> None:
        """Take a neighbouring choice."""
        self.choices.action_step(step)

    @on(LineInput.Changed)
    def _typed(self, event: LineInput.Changed) -> None:
        self.choices.taken = self._actions.index(SecretAction.REPLACE if event.value else SecretAction.KEEP)
        self.post_message(self.Changed())

    @on(ChoiceLine.Picked)
    def _picked(self, event: ChoiceLine.Picked) -> None:
        event.stop()
        self.screen.set_focus(self.field)
        self.post_message(self.Changed())


class FormRow(Horizontal):
    """A label with its controls, and under them a hint and the sentence on what is wrong."""

    note = getters.query_one(".row-note", Static)

    def __init__(self, label: Content, *controls: Widget, hint: str = "") -> None:
        super().__init__(classes="form-row")
        self.control = controls[0]
        self._label = label
        self._controls = controls
        self._hint = Shown(hint)

    def compose(self) -> ComposeResult:
        """Label at the left; controls, hint and sentence at the right."""
        yield Static(self._label, classes="row-label")
        with Vertical(classes="row-right"):
            yield from self._controls
            if self._hint:
                yield Static(plain(self._hint, Tone.MUTED), classes="row-hint")
            yield Static(classes="row-note")

    def say(self, words: str, *, stops: bool = True) -> None:
        """Show what is wrong with the value, or take the sentence away."""
        self.note.display = bool(words)
        self.note.update(plain(text.line(f"{'!' if stops else '·'} {words}"), Tone.BAD if stops else Tone.WARN))

    @on(Input.Changed)
    @on(TextArea.Changed)
    def _forget_problem(self) -> None:
        """A sentence goes as soon as its value is changed."""
        self.say("")
