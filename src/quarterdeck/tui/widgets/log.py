"""The log of a conversation on Textual's line API: it lays out what is on the screen, from the line that is read.

The place is an entry and a line of it, so nothing that comes above or below moves what is read; lines beyond the screen
are laid out when they come into view.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import zip_longest
from typing import ClassVar, NamedTuple

from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from quarterdeck.fleet.entries import Entry, EntryKind
from quarterdeck.fleet.transcript import STREAMED
from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.commands import MOVING
from quarterdeck.tui.entry_lines import Layout
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.strips import cell_strip, tone_styles

KEPT = 400
"""Entries that stay laid out."""
CURSOR, DIM_CURSOR, NO_CURSOR = (Shown("▌"), Tone.KEY), (Shown("▌"), Tone.MUTED), (Shown(" "), Tone.PLAIN)
"""What stands before each line."""
LEAST = 20
"""Cells of a line, however narrow the screen is."""
WHEEL = 3
"""Lines of one turn of the wheel."""


class Place(NamedTuple):
    """A line of the log: an entry by its number, and a line of it."""

    entry: int
    line: int


@lru_cache(KEPT)
def laid_out(layout: Layout, entry: Entry, at: datetime | None) -> list[Cell]:
    """An entry as lines; most of them are painted again and again."""
    return layout.lines(entry, at)


class Log(Widget, can_focus=True):
    """Entries, one after the other; at their end it follows what comes."""

    ALLOW_SELECT = False
    DEFAULT_CSS = "Log { height: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [*MOVING, Binding("space", "page(1.0)", "Page down", show=False)]

    class Moved(Message):
        """Another part of the log is shown."""

    def __init__(self, local: Callable[[datetime | None], datetime | None]) -> None:
        """`local` makes a time of the sandbox's clock one of the reader's."""
        super().__init__()
        self.entries: Sequence[Entry] = ()
        self.following = True
        self.unfolded: set[str] = set()
        self.empty: Cell = ()
        """What is said while nothing has happened."""
        self._local = local
        self._top = Place(0, 0)
        """The first line of the screen."""
        self._cursor = 0
        self._seen = ""
        """The last entry that was there when following stopped."""
        self._waiting = False
        self._painted: list[Cell] = []
        self._styles: Mapping[Tone, Style] = {}

    # What is shown

    def show(self, entries: Sequence[Entry], *, waiting: bool) -> None:
        """Show the entries as they are now; the line that is read stays where it is."""
        before, self.entries, self._waiting = self.entries, entries, waiting
        number = None if self.following or not before else _number(entries, before[self._top.entry].id)
        if number is not None:
            self._cursor = max(self._cursor + number - self._top.entry, 0)
            self._top = Place(number, self._top.line)
        self._settle()

    @property
    def cursor_entry(self) -> Entry | None:
        """The entry under the cursor."""
        return self.entries[self._cursor] if self._cursor < len(self.entries) else None

    @property
    def at_top(self) -> bool:
        """Whether nothing that is known is above the screen."""
        return self._top == Place(0, 0)

    @property
    def below(self) -> int:
        """How many entries came since following stopped."""
        seen = None if self.following else _number(self.entries, self._seen)
        return 0 if seen is None else sum(each.id != STREAMED for each in self.entries[seen + 1 :])

    def place(self) -> tuple[str, int, str] | None:
        """Where it is read, to come back there: the first line and the entry of the cursor; None while it follows."""
        if self.following or self._top.entry >= len(self.entries):
            return None
        return self.entries[self._top.entry].id, self._top.line, self.entries[self._cursor].id

    def return_to(self, place: tuple[str, int, str]) -> bool:
        """Go where it was read; whether that is known yet. A question that has no room yet will take it from below."""
        top, line, at_cursor = place
        number = _number(self.entries, top)
        if number is None:
            return False
        self._stop_following()
        self._top, self._cursor = Place(number, line), _number(self.entries, at_cursor) or number
        self._paint()
        return True

    def toggle(self) -> None:
        """Unfold the entry under the cursor, or fold it; as much of it as fits is in sight then."""
        if (entry := self.cursor_entry) is None:
            return
        self._stop_following()
        self.unfolded ^= {entry.id}
        if self._cursor == self._top.entry:
            self._top = Place(self._cursor, 0)
        self._reveal()
        self._settle()
        self._after_move()

    def search(self, step: int, wanted: Callable[[Entry], bool]) -> bool:
        """Go to the next entry that is wanted, in that direction; whether there is one."""
        numbers = range(self._cursor + step, len(self.entries) if step > 0 else -1, step)
        number = next((each for each in numbers if wanted(self.entries[each])), None)
        if number is None:
            return False
        self._stop_following()
        self._cursor = number
        if Place(number, 0) not in self._visible():
            self._top = self._within(self._place_after(Place(number, 0), -(self.size.height // 3)))
        self._after_move()
        return True

    # Moving

    def action_move(self, step: int) -> None:
        """Move by an entry, or by a line where an entry is longer than the screen."""
        shown = [line for number, line in self._visible() if number == self._cursor]
        if not shown or (shown[-1] < len(self._lines(self._cursor)) - 1 if step > 0 else shown[0] > 0):
            self._scroll(step)
            return
        if step < 0:
            self._stop_following()
        self._cursor = min(max(self._cursor + step, 0), len(self.entries) - 1)
        self._reveal()
        self._after_move()

    def action_page(self, pages: float) -> None:
        """Move by pages."""
        self._scroll(round(pages * max(self.size.height - 1, 1)))

    def action_first(self) -> None:
        """Go to the beginning of what is known."""
        self._stop_following()
        self._top, self._cursor = Place(0, 0), 0
        self._after_move()

    def action_last(self) -> None:
        """Go to the end and follow what comes."""
        self.following = True
        self._settle()
        self._after_move()

    def on_mouse_scroll_up(self) -> None:
        """Wheel up."""
        self._scroll(-WHEEL)

    def on_mouse_scroll_down(self) -> None:
        """Wheel down."""
        self._scroll(WHEEL)

    def on_click(self, event: events.Click) -> None:
        """A click takes the cursor, a second one unfolds."""
        visible = self._visible()
        if event.y < len(visible):
            if visible[event.y].entry == self._cursor:
                self.toggle()
            self._cursor = visible[event.y].entry
            self._after_move()

    def on_resize(self) -> None:
        """Lay everything out anew."""
        self._settle()

    def watch_has_focus(self, has_focus: bool) -> None:
        """The cursor is dimmer without the focus: what is found is seen while one types."""
        super().watch_has_focus(has_focus)
        self._paint()

    def notify_style_update(self) -> None:
        """The theme may be another one."""
        super().notify_style_update()
        self._styles = {}

    # Lines

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        if not self._styles:
            self._styles = tone_styles(self)
        return cell_strip(self._painted[y] if y < len(self._painted) else (), self.size.width, self._styles)

    def _lines(self, number: int) -> list[Cell]:
        """An entry as lines; before what the person says stands a blank one."""
        entry = self.entries[number]
        layout = Layout(max(self.size.width - len(CURSOR[0]), LEAST), self._waiting, entry.id in self.unfolded)
        lines = laid_out(layout, entry, self._local(entry.at))
        return [(), *lines] if entry.kind is EntryKind.PERSON and number else lines

    def _visible(self) -> list[Place]:
        """The lines of the screen."""
        visible: list[Place] = []
        number, line = self._top
        while number < len(self.entries) and len(visible) < self.size.height:
            visible += [Place(number, each) for each in range(line, len(self._lines(number)))]
            number, line = number + 1, 0
        return visible[: self.size.height]

    def _scroll(self, lines: int) -> None:
        """Move the screen over the log; the cursor stays on the screen."""
        if lines < 0:
            self._stop_following()
        self._top = self._within(self._place_after(self._top, lines))
        if visible := self._visible():
            self._cursor = min(max(self._cursor, visible[0].entry), visible[-1].entry)
        self._after_move()

    def _reveal(self) -> None:
        """Scroll as little as brings the entry under the cursor into sight, or as much of it as fits."""
        lines = len(self._lines(self._cursor))
        fits = min(lines, self.size.height)
        lowest = self._place_after(Place(self._cursor, fits), -self.size.height)
        self._top = min(max(self._top, lowest), Place(self._cursor, lines - fits))

    def _place_after(self, place: Place, lines: int) -> Place:
        """The place so many lines further on, or back, as far as there are any."""
        number, line = place.entry, place.line + lines
        while line < 0 and number > 0:
            number -= 1
            line += len(self._lines(number))
        while number < len(self.entries) and line >= (count := len(self._lines(number))):
            line -= count
            number += 1
        return Place(number, max(line, 0))

    def _end(self) -> Place:
        """Where the screen begins when the last line is at its foot."""
        return self._place_after(Place(len(self.entries), 0), -self.size.height)

    def _within(self, place: Place) -> Place:
        """A place as the first line of the screen, whose foot is not beyond the end of the log."""
        return min(self._place_after(place, 0), self._end())

    def _settle(self) -> None:
        """Keep screen and cursor within the log, at its end while it follows; draw what looks different."""
        last = max(len(self.entries) - 1, 0)
        self._top = self._end() if self.following else self._within(self._top)
        self._cursor = last if self.following else min(self._cursor, last)
        self._paint()

    def _stop_following(self) -> None:
        if self.following:
            self.following = False
            self._seen = next((each.id for each in reversed(self.entries) if each.id != STREAMED), "")

    def _after_move(self) -> None:
        if self._top >= self._end() and self._cursor >= len(self.entries) - 1:
            self.following = True
        self._paint()
        self.post_message(self.Moved())

    def _paint(self) -> None:
        """Have the lines of the screen drawn that look different from before."""
        before, cursor = self._painted, CURSOR if self.has_focus else DIM_CURSOR
        visible = self._visible()
        lines = {number: self._lines(number) for number in {place.entry for place in visible}}
        self._painted = [
            (cursor if number == self._cursor else NO_CURSOR, *lines[number][line]) for number, line in visible
        ]
        if not self.entries:
            self._painted = [(NO_CURSOR, *self.empty)]
        pairs = enumerate(zip_longest(before, self._painted))
        if changed := [Region(0, y, self.size.width, 1) for y, (old, new) in pairs if old != new]:
            self.refresh(*changed)


def _number(entries: Sequence[Entry], entry_id: str) -> int | None:
    return next((at for at in reversed(range(len(entries))) if entries[at].id == entry_id), None)
