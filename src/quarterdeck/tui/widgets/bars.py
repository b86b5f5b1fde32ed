"""The lines above and below a screen's content: header, message line, key bar."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import NamedTuple

from textual.content import Content
from textual.events import Key
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.style import Style
from textual.timer import Timer
from textual.widget import Widget

from quarterdeck.config.connections import LOCAL, Connection
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.commands import Place, named_key, shown_key
from quarterdeck.tui.paint import band, content, cut
from quarterdeck.tui.text import Shown

TABS = {Place.CONVERSATIONS: "1 Conversations", Place.SANDBOXES: "2 Sandboxes", Place.SETTINGS: "3 Settings"}
BRAND = Shown(" Quarterdeck ")
WITH_BRAND = 100
"""Minimum columns for the program's name in the header."""
WITH_LABELS = 70
"""With fewer columns, or without room for the server's name and state, the other tabs show only their keys."""
DOT = Shown(" · ")
"""What stands between the server's name and its state."""
WHOLE_NAME = 21
"""Cells of a connection's name that is whole as long as the state can be shortened: an address with its port."""
SHORTEST_NAME = 5
"""Minimum cells of a connection's name; with fewer it is left out."""
STAYS = 12.0
"""Seconds until a message is replaced by the resting line, and an error if somebody goes on after that."""
ERROR_STAYS = 300.0
"""Seconds until an error is replaced though nobody does anything: it would hide what the resting line says now."""
Hint = tuple[str, str, bool]
"""Key as it is shown, label, and whether it works now."""
Hints = Sequence[tuple[str, str]]
"""Keys that work, as they are shown, each with what it does."""


def working(hints: Iterable[tuple[str, str]]) -> tuple[Hint, ...]:
    """Return the hints of keys that all work."""
    return tuple((key, label, True) for key, label in hints)


class HeaderState(NamedTuple):
    """What the header shows besides the tabs."""

    connection: Connection = LOCAL
    release: Shown = Shown("")
    health: Cell = ()
    edits: int = 0
    """Number of unsaved edits in the settings."""


class Header(Widget):
    """The current screen, the server, and how fresh the data is."""

    ALLOW_SELECT = False
    auto_links = reactive(default=False)
    state: reactive[HeaderState] = reactive(HeaderState)

    def __init__(self, place: Place) -> None:
        super().__init__()
        self._place = place

    def _tab(self, place: Place, *, labels: bool) -> Content:
        """Return a screen's tab, which opens it when clicked; brackets mark the current one, even without colour."""
        here = place is self._place
        key, name = TABS[place].split()
        label = Shown(f" {name}" if here or labels else "")
        edits = Shown(f" *{self.state.edits:,}" if place is Place.SETTINGS and self.state.edits else "")
        tab = content(
            (
                (Shown("[" if here else " "), Tone.KEY),
                (Shown(key), Tone.KEY if here else Tone.MUTED),
                (label, Tone.STRONG if here else Tone.MUTED),
                (edits, Tone.EDITED),
                (Shown("]" if here else " "), Tone.KEY),
            )
        )
        return tab.stylize(Style.from_meta({"@click": f"screen.command('{place}')"}))

    def render(self) -> Content:
        """Tabs on the left, the state of the connection on the right."""
        name = text.line(self.state.connection.name)
        brand = content(((BRAND if self.size.width >= WITH_BRAND else Shown(" "), Tone.EDITED),))
        for labels in (self.size.width >= WITH_LABELS, False):
            left = brand + Content("").join(self._tab(place, labels=labels) for place in TABS)
            room = self.size.width - left.cell_length
            right = right_side(self.state, room - 1)
            if all(part in right.plain for part in (name, content(self.state.health).plain)):
                break
        return Content.assemble(left, " " * max(0, room - right.cell_length), right)


def right_side(state: HeaderState, room: int) -> Content:
    """Return connection, read-only mark and health, shortened to fit `room` cells, the least important part first."""
    connection = text.line(state.connection.name)
    mark = content(((Shown(" READ-ONLY"), Tone.WARN),) if state.connection.read_only else ())
    health = content((*state.health, (Shown(" "), Tone.PLAIN)) if state.health else ())
    release = content(((Shown(f" {state.release}"), Tone.MUTED),) if state.release else ())
    dot = content(((DOT, Tone.MUTED),) if state.health and connection else ())
    name = band(connection, state.connection.colour)
    least = min(WHOLE_NAME, name.cell_length) + (mark + dot).cell_length
    while ", " in health.plain and least + health.cell_length > room:
        health = health[: health.plain.rindex(", ")] + "…"
    cells = max(SHORTEST_NAME, room - (mark + dot + health).cell_length)
    shortest = name.truncate(cells, ellipsis=True)
    if not (state.connection.kept or state.connection.embedded):
        shortest = band(text.end_of(connection, cells), None)
    shorter = (name + release + mark + dot, name + mark + dot, shortest + mark + dot, mark + " ", Content(""))
    for name_and_rest in shorter:
        if (name_and_rest + health).cell_length <= room:
            return name_and_rest + health
    return health.truncate(max(0, room), ellipsis=True)


@dataclass
class Said(Message, bubble=False):
    """A sentence for the message line of the screen that is shown, or for the dialog above it."""

    words: str


class MessageLine(Widget):
    """What just happened, or why a key did nothing, in up to a third of the screen; what is cut ends in an ellipsis."""

    resting: reactive[Cell] = reactive((), layout=True)
    message: reactive[Cell] = reactive((), layout=True)
    _clearing: Timer | None = None
    _goes_from = 0.0
    """When it goes with the next move, by the monotonic clock: at once what is said of a key, later an error."""

    def watch_resting(self, resting: Cell) -> None:
        """Show a new problem at once, unless the message is about one as well."""
        if _is_problem(resting) and not _is_problem(self.message):
            self.clear()

    def render(self) -> Content:
        """The message if there is one, otherwise the resting line."""
        return cut(content(self.message or self.resting), self.content_size)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return how many lines all of it takes at this width."""
        return len(content(self.message or self.resting).wrap(max(width, 1)))

    def say(self, sentence: str, tone: Tone = Tone.PLAIN, *, passing: bool = False) -> None:
        """Show a sentence, a `passing` one until somebody goes on; an empty one returns to the resting line."""
        if self._clearing is not None:
            self._clearing.stop()
        self.message = cell(sentence, tone) if sentence else ()
        self._goes_from = monotonic() + (0 if passing else STAYS)
        self._clearing = self.set_timer(ERROR_STAYS if tone is Tone.BAD else STAYS, self.clear)

    def go_on(self) -> None:
        """Return to the resting line from an old error or a passing sentence: somebody does something else."""
        if monotonic() >= self._goes_from:
            self.clear()

    def clear(self) -> None:
        """Return to the resting line."""
        self.message = ()


def _is_problem(told: Cell) -> bool:
    return any(tone in (Tone.WARN, Tone.BAD) for _, tone in told)


NAMED_KEYS = ("ctrl+", "f", "tab", "shift+tab", "left", "right", "backspace", "delete", "insert")
"""How the keys begin that write nothing and are named; the others move."""


def unused_key(event: Key) -> str:
    """Return a key that does nothing as it is shown to people; empty for one of which nothing is said."""
    if event.is_printable and event.character is not None:
        return event.character
    return shown_key(event.key) if event.key.startswith(NAMED_KEYS) else ""


class KeyBar(Widget):
    """The keys that work here now, as many whole hints on a line as fit.

    Clicking one presses its key, of several the last; a dimmed one shows the reason.
    """

    ALLOW_SELECT = False
    auto_links = reactive(default=False)
    hints: reactive[tuple[Hint, ...]] = reactive(())

    def render(self) -> Content:
        """The hints on their lines, of which a bar of one line shows the first."""
        return Content("\n").join(self._lines(self.size.width))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return how many lines they take at this width."""
        return len(self._lines(width))

    def _lines(self, width: int) -> list[Content]:
        lines = [Content("")]
        for key, label, works in self.hints:
            tones = (Tone.KEY, Tone.PLAIN) if works else (Tone.MUTED, Tone.MUTED)
            hint = content(((Shown(f" {key}"), tones[0]), (Shown(f" {label} "), tones[1])))
            hint = hint.stylize(Style.from_meta({"@click": f"app.simulate_key('{named_key(key)}')"}))
            if lines[-1] and lines[-1].cell_length + hint.cell_length > width:
                lines.append(hint)
            else:
                lines[-1] += hint
        return lines
