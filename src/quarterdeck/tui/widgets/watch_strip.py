"""The line on every screen that says how the conversations are that a person watches."""

from collections.abc import Sequence
from datetime import UTC, datetime

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from quarterdeck.fleet.ages import calm_age
from quarterdeck.fleet.unread import Watched
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.look import signed
from quarterdeck.tui.paint import content
from quarterdeck.tui.text import Shown

SHORTEST = 8
"""Cells that the title of a watched conversation keeps where there is too little room."""


class WatchStrip(Widget):
    """The watched conversation that needs a person most, and how many others are watched; seen while there are any."""

    DEFAULT_CSS = "WatchStrip { height: 1; padding: 0 1; background: $panel; display: none; }"

    watched: reactive[tuple[Shown, Cell]] = reactive((Shown(""), ()))
    """The title of that one, and all that is said behind it."""

    def show(self, by_urgency: Sequence[Watched], now: datetime) -> None:
        """Say how these are; what did not change is not painted."""
        self.display = bool(by_urgency)
        if by_urgency:
            first, *others = by_urgency
            more = cell(Shown(f" +{len(others)}"), Tone.KEY) if others else ()
            self.watched = text.line(first.title) or text.line(first.id), (*state_words(first, now), *more)

    def render(self) -> Content:
        """The line; a long title is cut, never what it is at."""
        title, said = self.watched
        label, rest = content(cell(Shown("watching: "), Tone.MUTED)), content(said)
        room = max(SHORTEST, self.size.width - (label + rest).cell_length)
        return label + content(cell(title, Tone.STRONG)).truncate(room, ellipsis=True) + rest


def state_words(watched: Watched, now: datetime) -> Cell:
    """What it is at, and since when as far as that is known."""
    if watched.state is None:
        return cell(Shown(" - not read yet"), Tone.MUTED)
    said: Cell = ((Shown(" - "), Tone.MUTED), *signed(watched.state.word))
    if not watched.since:
        return said
    lasted = calm_age(datetime.fromtimestamp(watched.since, UTC), now)
    return (*said, (Shown(f" ({lasted})"), Tone.MUTED))
