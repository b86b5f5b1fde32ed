"""The line on every screen that shows the watched conversations."""

from collections.abc import Sequence
from datetime import UTC, datetime

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from quarterdeck.fleet.ages import calm_age
from quarterdeck.fleet.unread import Watched
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.glyphs import signed
from quarterdeck.tui.paint import content
from quarterdeck.tui.text import Shown

SHORTEST = 8
"""Minimum cells for the title of a watched conversation."""


class WatchStrip(Widget):
    """The most urgent watched conversation, and how many others are watched; shown while there are any."""

    DEFAULT_CSS = "WatchStrip { height: 1; padding: 0 1; background: $panel; display: none; }"

    watched: reactive[tuple[Shown, Cell]] = reactive((Shown(""), ()))
    """The title of that conversation, and the words after it."""

    def show(self, by_urgency: Sequence[Watched], now: datetime) -> None:
        """Show the watched conversations; paints only if something changed."""
        self.display = bool(by_urgency)
        if by_urgency:
            first, *others = by_urgency
            more = ((Shown(f" +{len(others)}"), Tone.KEY),) if others else ()
            self.watched = text.line(first.title) or text.line(first.id), (*state_words(first, now), *more)

    def render(self) -> Content:
        """The line; a long title is cut, the status never."""
        title, said = self.watched
        label, rest = content(((Shown("watching: "), Tone.MUTED),)), content(said)
        room = max(SHORTEST, self.size.width - (label + rest).cell_length)
        return label + content(cell(title, Tone.STRONG)).truncate(room, ellipsis=True) + rest


def state_words(watched: Watched, now: datetime) -> Cell:
    """Return the status, and how long it has lasted if that is known."""
    if watched.state is None:
        return ((Shown(" - not read yet"), Tone.MUTED),)
    said: Cell = ((Shown(" - "), Tone.MUTED), *signed(watched.state.word))
    if not watched.since:
        return said
    lasted = calm_age(datetime.fromtimestamp(watched.since, UTC), now)
    return (*said, (Shown(f" ({lasted})"), Tone.MUTED))
