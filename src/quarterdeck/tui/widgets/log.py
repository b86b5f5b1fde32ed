"""The log of a conversation on Textual's line API: it lays out what is on the screen, from the line that is read.

The place is an entry and a line of it, so nothing that comes above or below moves what is read; lines beyond the screen
are laid out when they come into view.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import ClassVar, NamedTuple

from rich.style import Style as RichStyle
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget

from quarterdeck.fleet.entries import Entry, EntryKind
from quarterdeck.fleet.transcript import STREAMED
from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.entry_lines import Layout
from quarterdeck.tui.paint import STYLES
from quarterdeck.tui.widgets.strips import LineOfText, fit_cell

KEPT = 400
"""Entries that stay laid out."""
MARGIN = 1
"""Cells before the lines, for the cursor."""
CURSOR = "▌"
WHEEL = 3
"""Lines of one turn of the wheel."""


class Laid(NamedTuple):
    """An entry as it was laid out."""

    entry: Entry
    unfolded: bool
    lines: list[Cell]


class Painted(NamedTuple):
    """All that decides how a line of the screen looks."""

    cell: Cell = ()
    cursor: bool = False


class Place(NamedTuple):
    """The first line of the screen: an entry by its number, and a line of it."""

    entry: int
    line: int


class Log(Widget, can_focus=True):
    """Entries, one after the other; at their end it follows what comes."""

    ALLOW_SELECT = False
    DEFAULT_CSS = "Log { height: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("pagedown,space", "page(1.0)", "Page down", show=False),
        Binding("pageup", "page(-1.0)", "Page up", show=False),
        Binding("ctrl+d", "page(0.5)", "Half a page down", show=False),
        Binding("ctrl+u", "page(-0.5)", "Half a page up", show=False),
        Binding("home,g", "first", "First", show=False),
        Binding("end,G", "last", "Last, and follow", show=False),
    ]

    class Moved(Message):
        """Another part of the log is shown; `at_top` where nothing known is above it."""

        def __init__(self, *, at_top: bool) -> None:
            super().__init__()
            self.at_top = at_top

    def __init__(self, local: Callable[[datetime | None], datetime | None]) -> None:
        """`local` makes a time of the sandbox's clock one of the reader's."""
        super().__init__()
        self.entries: Sequence[Entry] = ()
        self.following = True
        self.unfolded: set[str] = set()
        self.empty: tuple[Cell, ...] = ()
        """What is said while nothing has happened."""
        self._local = local
        self._top = Place(0, 0)
        self._cursor = 0
        self._seen = ""
        """The last entry that was there when following stopped."""
        self._laid: dict[str, Laid] = {}
        self._waiting = False
        self._painted: list[Painted] = []
        self._styles: dict[Tone, RichStyle] = {}

    # What is shown

    def show(self, entries: Sequence[Entry], *, waiting: bool) -> None:
        """Show the entries as they are now; the line that is read stays where it is."""
        if waiting != self._waiting:
            self._waiting = waiting
            self._laid.clear()
        before = self.entries
        self.entries = entries
        if self.following or not before:
            self._to_end()
        else:
            shift = _shift(before, entries, self._top.entry)
            self._top = Place(max(self._top.entry + shift, 0), self._top.line)
            self._cursor = max(self._cursor + shift, 0)
            self._settle()
        self._paint()

    @property
    def cursor_entry(self) -> Entry | None:
        """The entry under the cursor."""
        return self.entries[self._cursor] if self._cursor < len(self.entries) else None

    @property
    def below(self) -> int:
        """How many entries came since following stopped."""
        if self.following:
            return 0
        count = 0
        for entry in reversed(self.entries):
            if entry.id == self._seen:
                return count
            count += entry.id != STREAMED
        return 0

    def place(self) -> tuple[str, int] | None:
        """Where it is read, to come back there; None while it follows."""
        if self.following or self._top.entry >= len(self.entries):
            return None
        return self.entries[self._top.entry].id, self._top.line

    def return_to(self, place: tuple[str, int]) -> bool:
        """Go where it was read; whether that is known yet."""
        number = self._number(place[0])
        if number is None:
            return False
        self._stop_following()
        self._top, self._cursor = Place(number, place[1]), number
        self._settle()
        self._paint()
        return True

    def toggle(self) -> bool:
        """Unfold the entry under the cursor, or fold it; its first line stays where it is."""
        entry = self.cursor_entry
        if entry is None:
            return False
        self.unfolded ^= {entry.id}
        if self._cursor == self._top.entry:
            self._top = Place(self._cursor, 0)
        if self.following and self._cursor != len(self.entries) - 1:
            self._stop_following()
        self._settle()
        self._paint()
        return True

    def go(self, number: int) -> None:
        """Put the cursor on an entry and its first line on the screen."""
        if not self.entries:
            return
        self._cursor = min(max(number, 0), len(self.entries) - 1)
        visible = [at for at, line in self._visible() if not line]
        if self._cursor not in visible:
            self._stop_following()
            self._top = Place(self._cursor, 0)
            self._back(self.size.height // 3)
        self._after_move()

    def search(self, step: int, wanted: Callable[[Entry], bool]) -> bool:
        """Go to the next entry that is wanted, in that direction; whether there is one."""
        at = self._cursor + step
        while 0 <= at < len(self.entries):
            if wanted(self.entries[at]):
                self._stop_following()
                self.go(at)
                return True
            at += step
        return False

    # Moving

    def action_move(self, step: int) -> None:
        """Move by an entry, or by a line where an entry is longer than the screen."""
        lines = [line for at, line in self._visible() if at == self._cursor]
        last = len(self._lines(self._cursor)) - 1 if self.entries else 0
        if lines and (lines[-1] < last if step > 0 else lines[0] > 0):
            self._scroll(step)
        elif lines:
            self._cursor = min(max(self._cursor + step, 0), max(len(self.entries) - 1, 0))
            if step < 0:
                self._stop_following()
            self._show_cursor(step)
        else:
            self._scroll(step)
        self._after_move()

    def action_page(self, pages: float) -> None:
        """Move by pages."""
        self._scroll(round(pages * max(self.size.height - 1, 1)))
        self._after_move()

    def action_first(self) -> None:
        """Go to the beginning of what is known."""
        self._stop_following()
        self._top, self._cursor = Place(0, 0), 0
        self._after_move()

    def action_last(self) -> None:
        """Go to the end and follow what comes."""
        self.following = True
        self._to_end()
        self._after_move()

    def on_mouse_scroll_up(self) -> None:
        """Wheel up."""
        self._scroll(-WHEEL)
        self._after_move()

    def on_mouse_scroll_down(self) -> None:
        """Wheel down."""
        self._scroll(WHEEL)
        self._after_move()

    def on_click(self, event: events.Click) -> None:
        """A click takes the cursor, a second one unfolds."""
        visible = self._visible()
        if event.y < len(visible):
            number = visible[event.y][0]
            if number == self._cursor:
                self.toggle()
            self._cursor = number
            self._after_move()

    def on_resize(self) -> None:
        """Lay everything out anew."""
        self._laid.clear()
        if self.following:
            self._to_end()
        self._settle()
        self._paint()

    def on_focus(self) -> None:
        """Show the cursor."""
        self.call_later(self._paint)

    def on_blur(self) -> None:
        """Show it no longer."""
        self.call_later(self._paint)

    def notify_style_update(self) -> None:
        """The theme may be another one."""
        super().notify_style_update()
        self._styles.clear()

    # Lines

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        painted = self._painted[y] if y < len(self._painted) else Painted()
        line = LineOfText(self._style(Tone.PLAIN))
        line.add(CURSOR if painted.cursor else " ", MARGIN, self._style(Tone.KEY))
        pieces, cells = fit_cell(painted.cell, max(self.size.width - MARGIN, 1))
        for words, tone in pieces:
            line.add(words, 0, self._style(tone))
        line.cells = MARGIN + cells
        return line.strip(self.size.width, self._style(Tone.PLAIN))

    def _style(self, tone: Tone) -> RichStyle:
        if tone not in self._styles:
            words = Style.parse(STYLES[tone], self.app.theme_variables)
            self._styles[tone] = (self.visual_style + words).rich_style
        return self._styles[tone]

    def _lines(self, number: int) -> list[Cell]:
        entry = self.entries[number]
        unfolded = entry.id in self.unfolded
        laid = self._laid.get(entry.id)
        if laid is None or laid.unfolded != unfolded or (laid.entry is not entry and laid.entry != entry):
            if len(self._laid) > KEPT:
                self._laid.clear()
            layout = Layout(self.size.width - MARGIN, waiting=self._waiting)
            lines = layout.lines(entry, self._local(entry.at), unfolded=unfolded)
            if entry.kind is EntryKind.PERSON and number:
                lines.insert(0, ())
            laid = Laid(entry, unfolded, lines)
            self._laid[entry.id] = laid
        return laid.lines

    def _visible(self) -> list[tuple[int, int]]:
        """Entry and line of each line of the screen."""
        visible: list[tuple[int, int]] = []
        number, line = self._top
        height = self.size.height
        while number < len(self.entries) and len(visible) < height:
            count = len(self._lines(number))
            visible += [(number, each) for each in range(line, count)]
            number, line = number + 1, 0
        return visible[:height]

    def _scroll(self, lines: int) -> None:
        """Move the screen over the log; the cursor stays on the screen."""
        if not self.entries:
            return
        if lines < 0:
            self._stop_following()
            self._back(-lines)
        else:
            self._forward(lines)
        visible = [at for at, _ in self._visible()]
        if visible:
            self._cursor = min(max(self._cursor, visible[0]), visible[-1])

    def _back(self, lines: int) -> None:
        number, line = self._top
        line -= lines
        while line < 0 and number > 0:
            number -= 1
            line += len(self._lines(number))
        self._top = Place(number, max(line, 0))

    def _forward(self, lines: int) -> None:
        number, line = self._top
        line += lines
        while number < len(self.entries) - 1 and line >= (count := len(self._lines(number))):
            line -= count
            number += 1
        self._top = Place(number, line)
        self._settle()

    def _end(self) -> Place:
        """Where the screen begins when the last line is at its foot."""
        left, number = self.size.height, len(self.entries)
        while number > 0 and left > 0:
            number -= 1
            left -= len(self._lines(number))
        return Place(number, max(-left, 0)) if number or left < 0 else Place(0, 0)

    def _settle(self) -> None:
        """Keep the place within the log, and the foot of the screen not beyond its end."""
        self._cursor = min(self._cursor, max(len(self.entries) - 1, 0))
        if not self.entries:
            self._top = Place(0, 0)
            return
        number = min(self._top.entry, len(self.entries) - 1)
        self._top = min(Place(number, min(self._top.line, len(self._lines(number)) - 1)), self._end())

    def _show_cursor(self, step: int) -> None:
        visible = {at for at, _ in self._visible()}
        while self.entries and self._cursor not in visible:
            (self._back if step < 0 else self._forward)(1)
            visible = {at for at, _ in self._visible()}
        if step > 0 and self.entries:
            shown = sum(at == self._cursor for at, _ in self._visible())
            missing = min(len(self._lines(self._cursor)), self.size.height) - shown
            if missing > 0:
                self._forward(missing)

    def _to_end(self) -> None:
        self._top, self._cursor = self._end(), max(len(self.entries) - 1, 0)

    def _stop_following(self) -> None:
        if self.following:
            self.following = False
            self._seen = next((each.id for each in reversed(self.entries) if each.id != STREAMED), "")

    def _after_move(self) -> None:
        if not self.following and self._top >= self._end() and self._cursor >= len(self.entries) - 1:
            self.following = True
        self._paint()
        self.post_message(self.Moved(at_top=self._top == Place(0, 0)))

    def _paint(self) -> None:
        """Draw the lines of the screen that look different from before."""
        focused = self.has_focus
        painted = [Painted(self._lines(at)[line], focused and at == self._cursor) for at, line in self._visible()]
        if not self.entries:
            painted = [Painted(cell) for cell in self.empty]
        height = max(len(painted), len(self._painted))
        before = self._painted + [Painted()] * (height - len(self._painted))
        after = painted + [Painted()] * (height - len(painted))
        self._painted = painted
        changed = [Region(0, y, self.size.width, 1) for y in range(height) if before[y] != after[y]]
        if changed:
            self.refresh(*changed)

    def _number(self, entry_id: str) -> int | None:
        return next((at for at in reversed(range(len(self.entries))) if self.entries[at].id == entry_id), None)


def _shift(before: Sequence[Entry], after: Sequence[Entry], at: int) -> int:
    """By how many places the entry at a place moved, as when older ones came before it."""
    if at >= len(before):
        return 0
    wanted = before[at].id
    for shift in (0, len(after) - len(before)):
        if 0 <= at + shift < len(after) and after[at + shift].id == wanted:
            return shift
    return next((number - at for number in range(len(after)) if after[number].id == wanted), 0)
