"""Keep, replace or clear a secret: what is stored is never shown, what is typed only on request."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from pydantic import SecretStr
from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message

from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.settings.choice_line import ChoiceLine
from quarterdeck.tui.widgets.settings.line_input import LineInput

NONE = Shown("none")


class SecretAction(StrEnum):
    """What becomes of a secret; the value is its word."""

    KEEP = "keep"
    REPLACE = "replace"
    CLEAR = "clear"


class SecretField(LineInput):
    """The masked field; while it is empty, left and right choose."""

    @dataclass
    class Stepped(Message):
        """Left or right in an empty field."""

        step: int

    def __init__(self, typed: SecretStr | None) -> None:
        value = typed.get_secret_value() if typed is not None else ""
        super().__init__(value, placeholder="type or paste to replace", password=True)

    def action_cursor_left(self, select: bool = False) -> None:
        """Left."""
        self._move(-1, select=select)

    def action_cursor_right(self, select: bool = False) -> None:
        """Right."""
        self._move(1, select=select)

    def _move(self, step: int, *, select: bool) -> None:
        if not self.value:
            self.post_message(self.Stepped(step))
        elif step < 0:
            super().action_cursor_left(select)
        else:
            super().action_cursor_right(select)


class SecretControl(Vertical):
    """Three choices over a masked field: what is typed there replaces, and emptying it keeps again."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+t", "reveal", "Show what is typed", show=False)]
    choices = getters.query_one(ChoiceLine)
    field = getters.query_one(SecretField)

    @dataclass
    class Changed(Message):
        """Another choice was taken, or something was typed."""

    @dataclass
    class Done(Message):
        """Enter was pressed."""

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
        self._typed = typed
        self._actions: Sequence[SecretAction] = (
            (SecretAction.KEEP, SecretAction.REPLACE) if stored is False else tuple(SecretAction)
        )
        self._words = tuple(map(Shown, (none, "set one") if stored is False else self._actions))
        self._started = self._actions.index(action)

    def compose(self) -> ComposeResult:
        """The choices, and the field under them."""
        yield ChoiceLine(self._words, self._started, focusable=False)
        yield SecretField(self._typed)

    @property
    def action(self) -> SecretAction:
        """The choice taken; a replacement of which nothing is typed keeps what is stored."""
        action = self._actions[self.choices.taken]
        return SecretAction.KEEP if action is SecretAction.REPLACE and not self.field.value.strip() else action

    @property
    def typed(self) -> SecretStr:
        """The replacement, without blanks around it."""
        return SecretStr(self.field.value.strip())

    def action_reveal(self) -> None:
        """Show or mask what was typed."""
        self.field.password = not self.field.password

    @on(SecretField.Stepped)
    def _stepped(self, event: SecretField.Stepped) -> None:
        event.stop()
        self.choices.action_step(event.step)

    @on(ChoiceLine.Picked)
    def _picked(self, event: ChoiceLine.Picked) -> None:
        event.stop()
        self.screen.set_focus(self.field)
        self.post_message(self.Changed())

    @on(LineInput.Changed)
    def _changed(self, event: LineInput.Changed) -> None:
        event.stop()
        self.choices.take(self._actions.index(SecretAction.REPLACE if event.value else SecretAction.KEEP))
        self.post_message(self.Changed())

    @on(LineInput.Submitted)
    def _submitted(self, event: LineInput.Submitted) -> None:
        event.stop()
        self.post_message(self.Done())
