"""The top line: where one is, on which server, and how true the screen is."""

from typing import NamedTuple

from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from quarterdeck.config.connections import Colour
from quarterdeck.tui.cells import Cell, Span, Tone
from quarterdeck.tui.colours import band
from quarterdeck.tui.commands import Place
from quarterdeck.tui.paint import content
from quarterdeck.tui.text import Shown

TABS = (
    (Place.CONVERSATIONS, Shown("1"), Shown("Conversations")),
    (Place.SANDBOXES, Shown("2"), Shown("Sandboxes")),
    (Place.SETTINGS, Shown("3"), Shown("Settings")),
)
NOTHING = Shown("")
BRAND = Shown(" Quarterdeck ")
SHORTEST_NAME = 5
"""Cells of a connection's name below which it is left out."""


class HeaderState(NamedTuple):
    """What the header says besides the tabs."""

    connection: Shown = NOTHING
    colour: Colour | None = None
    release: Shown = NOTHING
    read_only: bool = False
    health: Shown = NOTHING
    health_tone: Tone = Tone.MUTED
    edits: int = 0
    """Unsaved edits in the settings."""


def tabs(place: Place, edits: int) -> list[tuple[Place, Cell]]:
    """The tab of each screen; the one shown stands in brackets, so that it is seen without colour."""
    out: list[tuple[Place, Cell]] = []
    for tab, key, label in TABS:
        here = tab is place
        spans: list[Span] = [
            (Shown("[" if here else " "), Tone.KEY),
            (key, Tone.KEY if here else Tone.MUTED),
            (Shown(" "), Tone.PLAIN),
            (label, Tone.STRONG if here else Tone.MUTED),
        ]
        if tab is Place.SETTINGS and edits:
            spans.append((Shown(f" *{edits}"), Tone.EDITED))
        spans.append((Shown("]" if here else " "), Tone.KEY))
        out.append((tab, tuple(spans)))
    return out


def right_side(state: HeaderState, room: int) -> Content:
    """Connection, read-only mark and health, shortened from the least needed to fit `room` cells."""
    mark = content(((Shown(" READ-ONLY "), Tone.WARN),) if state.read_only else ())
    health = content(((state.health, state.health_tone), (Shown(" "), Tone.PLAIN)) if state.health else ())
    release = content(((Shown(" "), Tone.PLAIN), (state.release, Tone.MUTED)) if state.release else ())
    dot = content(((Shown(" · "), Tone.MUTED),) if state.health and state.connection else ())
    name = band(state.connection, state.colour)
    shortest = name.truncate(max(SHORTEST_NAME, room - (mark + dot + health).cell_length), ellipsis=True)
    for name_and_rest in (name + release + mark + dot, name + mark + dot, shortest + mark + dot, mark, Content("")):
        if (name_and_rest + health).cell_length <= room:
            return name_and_rest + health
    return Content("")


class Header(Widget):
    """The deck's header."""

    ALLOW_SELECT = False
    state: reactive[HeaderState] = reactive(HeaderState)

    class TabPressed(Message):
        """A tab was clicked."""

        def __init__(self, place: Place) -> None:
            super().__init__()
            self.place = place

    def __init__(self, place: Place) -> None:
        super().__init__()
        self._place = place

    def _left(self) -> list[tuple[Place | None, Cell]]:
        brand: Cell = ((BRAND, Tone.EDITED),) if self.size.width >= 100 else ((Shown(" "), Tone.PLAIN),)
        return [(None, brand), *tabs(self._place, self.state.edits)]

    def render(self) -> Content:
        """Tabs at the left, the state of the connection at the right."""
        left = content(span for _, part in self._left() for span in part)
        right = right_side(self.state, self.size.width - left.cell_length - 1)
        gap = max(0, self.size.width - left.cell_length - right.cell_length)
        return Content.assemble(left, " " * gap, right)

    def on_click(self, event: events.Click) -> None:
        """Find the tab under the mouse."""
        edge = 0
        for place, part in self._left():
            edge += content(part).cell_length
            if event.x < edge:
                if place is not None:
                    self.post_message(self.TabPressed(place))
                return
