"""A few choices side by side: `( ) not set  (•) on  ( ) off`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from quarterdeck.tui.cells import Tone
from quarterdeck.tui.paint import content
from quarterdeck.tui.text import Shown

BETWEEN = 2


class ChoiceLine(Widget, can_focus=True):
    """Choices of which one is taken; left, right and space move it, a click takes it."""

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
            if number:
                spans.append((Shown(" " * BETWEEN), Tone.PLAIN))
            spans.append((Shown("(•) " if is_taken else "( ) "), Tone.KEY if is_taken else Tone.MUTED))
            spans.append((word, Tone.STRONG if is_taken else Tone.PLAIN))
        return content(spans)

    def take(self, number: int) -> None:
        """Take a choice."""
        self.taken = number

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
