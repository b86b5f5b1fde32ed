"""The log of a conversation on Textual's line API; it lays out only what is on the screen.

The position is an entry and a line in it, so that nothing added above or below moves the text that is being read. Lines
outside the screen are laid out when they become visible.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.selection import Selection

from quarterdeck.fleet.entries import Entry, EntryKind
from quarterdeck.fleet.transcript import STREAMED
from quarterdeck.tui.cells import Cell, Span, Tone
from quarterdeck.tui.commands import MOVING, bindings
from quarterdeck.tui.conversation.entry_lines import Layout
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.lines import CellLines
from quarterdeck.tui.widgets.strips import selected_text, wrap

KEPT = 400
"""How many laid-out entries are cached."""
CURSOR, DIM_CURSOR, NO_CURSOR = (Shown("▌"), Tone.KEY), (Shown("▌"), Tone.MUTED), (Shown(" "), Tone.PLAIN)
"""The prefix of each line."""
LEAST = 20
"""Minimum cells of a line, however narrow the screen is."""
WHEEL = 3
"""Lines per turn of the mouse wheel."""


class Position(NamedTuple):
    """A line of the log: the index of an entry, and the line in it."""

    entry: int
    line: int


class ReadingPosition(NamedTuple):
    """Where a person was reading a conversation, by ids of its entries."""

    top: str = ""
    """The first entry on the screen; empty if the end was followed."""
    line: int = 0
    """The line of it that came first."""
    cursor: str = ""
    seen: str = ""
    """The last entry when following stopped."""
    unfolded: frozenset[str] = frozenset()
    overheard: str = ""
    """The message that the agent may have ignored."""


@lru_cache(KEPT)
def laid_out(layout: Layout, entry: Entry, at: datetime | None) -> list[Cell]:
    """Return an entry as lines; cached, because most entries are painted many times."""
    return layout.lines(entry, at)


class Log(CellLines, can_focus=True):
    """A list of entries; at its end it follows new ones."""

    DEFAULT_CSS = "Log { height: 1fr; }"
    BINDINGS = bindings({**MOVING, "space": "page(1.0)"})

    class Moved(Message):
        """Another part of the log is shown."""

    def __init__(self, local: Callable[[datetime | None], datetime | None], position: ReadingPosition) -> None:
        """Create a log to be read on from a position; `local` converts a time of the sandbox's clock to local time."""
        super().__init__()
        self.entries: Sequence[Entry] = ()
        self.following = True
        self.unfolded = set(position.unfolded)
        self.wanted = position if position.top else None
        """The reading position to return to once it is known, unless somebody moves before."""
        self.empty: Span = Shown(""), Tone.MUTED
        """What is shown while there are no entries."""
        self._local = local
        self._top = Position(0, 0)
        """The first line on the screen."""
        self._cursor = 0
        self._seen = ""
        """The last entry at the time when following stopped."""
        self._asked = self._reached = False
        self._terminal: Size | None = None

    # What is shown

    def show(self, entries: Sequence[Entry], *, asked: bool, reached: bool) -> None:
        """Show the current entries, whose open actions may be asked about; the line at the top stays there."""
        before, self.entries, self._asked, self._reached = self.entries, entries, asked, reached
        number = None if self.following or not before else _number(entries, before[self._top.entry].id)
        if number is not None:
            self._cursor = max(self._cursor + number - self._top.entry, 0)
            self._top = Position(number, self._top.line)
        self._settle()
        if self.wanted is not None and (number := _number(entries, self.wanted.top)) is not None:
            self.following, self._seen = False, self.wanted.seen
            self._top = Position(number, self.wanted.line)
            self._cursor = _number(entries, self.wanted.cursor) or number
            self.wanted = None
            self._paint()  # a question that is not shown yet will take its room from below

    @property
    def cursor_entry(self) -> Entry | None:
        """The entry under the cursor."""
        return self.entries[self._cursor] if self._cursor < len(self.entries) else None

    @property
    def at_top(self) -> bool:
        """Whether the first known line is at the top of the screen."""
        return self._top == Position(0, 0)

    @property
    def below(self) -> int:
        """How many entries were added since following stopped; none once the end is in sight."""
        seen = None if self.following or self._top >= self._end() else _number(self.entries, self._seen)
        return 0 if seen is None else sum(each.id != STREAMED for each in self.entries[seen + 1 :])

    def reading_position(self) -> ReadingPosition:
        """Return what to restore when the log is opened again."""
        unfolded = frozenset(self.unfolded)
        if self.wanted is not None:
            return self.wanted._replace(unfolded=unfolded)
        if self.following or self._top.entry >= len(self.entries):
            return ReadingPosition(unfolded=unfolded)
        top, cursor = self.entries[self._top.entry].id, self.entries[self._cursor].id
        return ReadingPosition(top, self._top.line, cursor, self._seen, unfolded)

    def toggle(self) -> bool:
        """Unfold the entry under the cursor, or fold it; returns False if there is no more of it.

        There must be an entry. As much of it as fits is visible then.
        """
        before = self._lines(self._cursor)
        self.unfolded ^= {self.entries[self._cursor].id}
        if self._lines(self._cursor) == before:
            return False
        self._stop_following()
        if self._cursor == self._top.entry:
            self._top = Position(self._cursor, 0)
        self._reveal()
        self._settle()
        self._after_move()
        return True

    def search(self, step: int, wanted: Callable[[Entry], bool], *, around: bool = False) -> int:
        """Go to the next matching entry in that direction, if wanted also beyond the end, where it begins again.

        Returns by how many entries it went, 0 if there is none.
        """
        ahead = range(self._cursor + step, len(self.entries) if step > 0 else -1, step)
        behind = range(len(self.entries) - 1, self._cursor, -1) if around else range(0)
        number = next((each for each in chain(ahead, behind) if wanted(self.entries[each])), self._cursor)
        went = number - self._cursor
        if not went:
            return 0
        self._stop_following()
        self._cursor = number
        if Position(number, 0) not in self._visible():
            self._top = self._within(self._place_after(Position(number, 0), -(self.size.height // 3)))
        self._reveal()
        self._after_move()
        return went

    # Moving

    def action_move(self, step: int) -> None:
        """Move by an entry, or by a line within an entry that is longer than the screen."""
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
        """Go to the beginning of the known log."""
        self._stop_following()
        self._top, self._cursor = Position(0, 0), 0
        self._after_move()

    def action_last(self) -> None:
        """Go to the end and follow new entries."""
        self.following = True
        self._settle()
        self._after_move()

    def on_mouse_scroll_up(self) -> None:
        """Scroll up."""
        self._scroll(-WHEEL)

    def on_mouse_scroll_down(self) -> None:
        """Scroll down."""
        self._scroll(WHEEL)

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the clicked entry; a second click unfolds it. The end of a selection is no click."""
        visible = self._visible()
        if self.text_selection is None and event.y < len(visible):
            if visible[event.y].entry == self._cursor:
                self.toggle()
            self._cursor = visible[event.y].entry
            self._stop_following()
            self._after_move()

    def on_resize(self) -> None:
        """Lay everything out again; in a terminal of another size the cursor stays on the screen."""
        self._settle()
        before, self._terminal = self._terminal, self.app.size
        if self.entries and before not in (None, self._terminal):
            self._reveal()
            self._paint()

    def watch_has_focus(self, has_focus: bool) -> None:
        """The cursor is dimmer without the focus, so that a match is visible while typing."""
        super().watch_has_focus(has_focus)
        self._paint()

    # Lines

    def get_selection(self, selection: Selection) -> tuple[str, str]:
        """Return the text that is selected with the mouse, without the cursor before it."""
        return selected_text(((NO_CURSOR, *line[1:]) for line in self.painted), selection)

    def selection_updated(self, selection: Selection | None) -> None:
        """Hold the text still that is being selected."""
        super().selection_updated(selection)
        if selection is not None:
            self._stop_following()

    def _lines(self, number: int) -> list[Cell]:
        """Return an entry as lines; a person's message is preceded by a blank line."""
        entry = self.entries[number]
        width = max(self.size.width - len(CURSOR[0]), LEAST)
        layout = Layout(width, self._asked, self._reached, entry.id in self.unfolded)
        lines = laid_out(layout, entry, self._local(entry.at))
        return [(), *lines] if entry.kind is EntryKind.PERSON and number else lines

    def _visible(self) -> list[Position]:
        """Return the positions of the lines on the screen."""
        visible: list[Position] = []
        number, line = self._top
        while number < len(self.entries) and len(visible) < self.size.height:
            visible += [Position(number, each) for each in range(line, len(self._lines(number)))]
            number, line = number + 1, 0
        return visible[: self.size.height]

    def _scroll(self, lines: int) -> None:
        """Scroll; the cursor stays on the screen."""
        if lines < 0:
            self._stop_following()
        self._top = self._within(self._place_after(self._top, lines))
        if visible := self._visible():
            self._cursor = min(max(self._cursor, visible[0].entry), visible[-1].entry)
        self._after_move()

    def _reveal(self) -> None:
        """Scroll just enough to show the entry under the cursor, or as much of it as fits."""
        lines = len(self._lines(self._cursor))
        fits = min(lines, self.size.height)
        lowest = self._place_after(Position(self._cursor, fits), -self.size.height)
        self._top = min(max(self._top, lowest), Position(self._cursor, lines - fits))

    def _place_after(self, place: Position, lines: int) -> Position:
        """Return the position that many lines further on, or back, within the log."""
        number, line = place.entry, place.line + lines
        while line < 0 and number > 0:
            number -= 1
            line += len(self._lines(number))
        while number < len(self.entries) and line >= (count := len(self._lines(number))):
            line -= count
            number += 1
        return Position(number, max(line, 0))

    def _end(self) -> Position:
        """Return the first line on the screen when the last line is at its bottom."""
        return self._place_after(Position(len(self.entries), 0), -self.size.height)

    def _within(self, place: Position) -> Position:
        """Return a position limited so that the screen does not extend beyond the end of the log."""
        return min(self._place_after(place, 0), self._end())

    def _settle(self) -> None:
        """Keep screen and cursor within the log, at its end while following; redraw changed lines."""
        last = max(len(self.entries) - 1, 0)
        self._top = self._end() if self.following else self._within(self._top)
        self._cursor = last if self.following else min(self._cursor, last)
        self._paint()

    def _stop_following(self) -> None:
        if self.following:
            self.following = False
            self._seen = next((each.id for each in reversed(self.entries) if each.id != STREAMED), "")

    def _after_move(self) -> None:
        self.wanted = None
        self.screen.clear_selection()
        if self._top >= self._end() and self._cursor >= len(self.entries) - 1:
            self.following = True
        self._paint()
        self.post_message(self.Moved())

    def _paint(self) -> None:
        """Redraw the lines on the screen that changed."""
        if not self.entries:
            said = wrap((self.empty,), max(self.size.width - len(CURSOR[0]), LEAST))
            self.paint([(NO_CURSOR, *line) for line in said])
            return
        visible, cursor = self._visible(), CURSOR if self.has_focus else DIM_CURSOR
        lines = {number: self._lines(number) for number in {place.entry for place in visible}}
        self.paint(
            [(cursor if number == self._cursor else NO_CURSOR, *lines[number][line]) for number, line in visible]
        )


def _number(entries: Sequence[Entry], entry_id: str) -> int | None:
    return next((at for at in reversed(range(len(entries))) if entries[at].id == entry_id), None)
