"""Above the key bar: what just happened, or why a key did nothing; one line, up to three for a long sentence."""

from textual.content import Content
from textual.reactive import reactive
from textual.timer import Timer
from textual.widget import Widget

from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.paint import content
from quarterdeck.tui.text import Shown

STAYS = 12.0
"""Seconds a message stays before the resting line returns; an error stays until something else is said."""


class MessageLine(Widget):
    """The deck's one place for sentences."""

    resting: reactive[Cell] = reactive((), layout=True)
    message: reactive[Cell] = reactive((), layout=True)
    _clearing: Timer | None = None

    def render(self) -> Content:
        """The message while there is one, else the resting line."""
        return content(self.message or self.resting)

    def say(self, text: Shown, tone: Tone = Tone.PLAIN) -> None:
        """Show a sentence."""
        if self._clearing is not None:
            self._clearing.stop()
            self._clearing = None
        self.message = ((text, tone),)
        if tone is not Tone.BAD:
            self._clearing = self.set_timer(STAYS, self.clear)

    def clear(self) -> None:
        """Go back to the resting line."""
        self.message = ()
