"""Above the key bar: the watched conversation that needs a person most, and how many others are watched."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from textual.content import Content
from textual.reactive import reactive
from textual.screen import Screen
from textual.widget import Widget

from quarterdeck.fleet.ages import calm_age
from quarterdeck.fleet.unread import Watched
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.look import glyph
from quarterdeck.tui.paint import content
from quarterdeck.tui.text import Shown

LABEL = Shown("watching: ")
SHORTEST = 8
"""Cells that a title keeps where there is too little room."""


def state_words(watched: Watched, now: datetime) -> Cell:
    """What it is at, and since when as far as that is known."""
    if watched.state is None:
        return cell(Shown(" - not read yet"), Tone.MUTED)
    sign, tone = glyph(watched.state.word)
    said: Cell = ((Shown(" - "), Tone.MUTED), (sign, tone), (Shown(" "), tone), (text.line(watched.state.word), tone))
    if not watched.since:
        return said
    lasted = calm_age(datetime.fromtimestamp(watched.since, UTC), now)
    return (*said, (Shown(f" ({lasted})"), Tone.MUTED))


class WatchStrip(Widget):
    """One line; it is there only while something is watched."""

    DEFAULT_CSS = "WatchStrip { height: 1; padding: 0 1; background: $panel; }"

    title: reactive[Shown] = reactive(Shown(""))
    rest: reactive[Cell] = reactive(())

    def show(self, by_urgency: Sequence[Watched], now: datetime) -> None:
        """Say how these are; what did not change is not painted."""
        first, *others = by_urgency
        more: Cell = ((Shown(f" +{len(others)}"), Tone.KEY),) if others else ()
        self.title = text.line(first.title) or text.line(first.id)
        self.rest = (*state_words(first, now), *more)

    def render(self) -> Content:
        """The line; a long title is cut, never what it is at."""
        rest = content(self.rest)
        room = max(SHORTEST, self.size.width - len(LABEL) - rest.cell_length)
        title = content(cell(self.title, Tone.STRONG)).truncate(room, ellipsis=True)
        return content(cell(LABEL, Tone.MUTED)) + title + rest


def show_watched(screen: Screen[None], before: Widget, by_urgency: Sequence[Watched], now: datetime) -> None:
    """Bring the strip of a screen up to date: mounted before that widget, taken away when nothing is watched."""
    strips = screen.query_children(WatchStrip)
    if not by_urgency:
        strips.remove()
        return
    strip = strips.first() if strips else WatchStrip()
    strip.show(by_urgency, now)
    if not strips:
        screen.mount(strip, before=before)
