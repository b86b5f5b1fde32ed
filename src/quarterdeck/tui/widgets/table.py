"""A table of live rows on Textual's line API: it draws only lines on the screen, and redraws only changed ones.

So its cost depends on what is visible, not on the number of rows.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice, zip_longest
from typing import Generic

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region, Size, Spacing
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Padding, Visual

from quarterdeck.fleet.order import held
from quarterdeck.tui.cells import DASH, EMPTY, Cell, Span, Tone, cell
from quarterdeck.tui.commands import MOVING, bindings
from quarterdeck.tui.paint import lines
from quarterdeck.tui.text import Shown
from quarterdeck.tui.theme import TABLE_HEADER, TABLE_HEADER_BACKGROUND
from quarterdeck.tui.widgets.strips import BLANK, CURSOR, Highlight, ThemedWidget, cell_length, clip, fit_cell, joined
from quarterdeck.tui.widgets.table_layout import ARROW, GUTTER, Column, Placed, R, fit

MARK, UP, DOWN = Shown("✓"), "▲", "▼"
HEADER = 1
"""Lines above the rows."""
MEASURED = 200
"""Rows measured for the columns besides the visible ones, so that scrolling changes no column: some milliseconds."""


class Table(ScrollView, ThemedWidget, Generic[R], can_focus=True, inherit_bindings=False):
    """Rows by id under a fixed header; the cursor and the marks follow ids, columns are as wide as needed."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Table {
        height: 1fr;
        overflow: hidden auto;
        scrollbar-gutter: stable;
        scrollbar-size: 0 1;
        text-align: center;
        content-align: center middle;
    }
    """
    BINDINGS = bindings(MOVING)

    @dataclass
    class Highlighted(Message):
        """The cursor moved from the row `was` to another row, or there is no row any more."""

        was: str | None

    class Chosen(Message):
        """A row was double-clicked."""

    class Marked(Message):
        """The marks changed."""

    class Seen(Message):
        """Other rows are visible."""

    @dataclass
    class SortAsked(Message):
        """The title of a sortable column was clicked."""

        key: str

    def __init__(self, columns: Sequence[Column[R]], *, clock: Callable[[], datetime], id: str) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self._columns = tuple(columns)
        self._clock = clock
        self.ids: Sequence[str] = ()
        """The ids of all rows in display order."""
        self.visible_ids: tuple[str, ...] = ()
        """The ids of the visible rows, from the top."""
        self._by_id: Mapping[str, R] = {}
        self._cursor = 0
        self._at = ""
        """The id under the cursor, empty before there was a row."""
        self._moved = False
        """Whether the cursor was moved since there are rows; until then its row may move within sight."""
        self.marks: frozenset[str] = frozenset()
        """Marked ids; a mark is kept while its row is hidden by a filter."""
        self._range_from = ""
        """The id that was marked last, where a range of marks begins."""
        self._sorted: tuple[str | None, bool] = (None, False)
        self._empty = ("", "")
        self._widest: dict[str, int] = {}
        """Width of the widest text so far in each column; columns only grow, so that they do not jump."""
        self._places: tuple[Placed, ...] = ()
        self._lines: list[tuple[Cell, ...]] = []
        """The cells of all columns of each visible row, from the top; none for a row that is gone."""
        self._highlighted: str | None = None

    # Methods for the owner

    def show(self, ids: list[str], rows: Mapping[str, R], *, anew: bool = False) -> None:
        """Show the rows of these ids; a moved cursor's row stays on its line, unless the person sorted them (`anew`).

        The list of ids must not be mutated; the owner may change the rows, and then calls `redraw_changed`. If the
        cursor's row is gone, the cursor stays on its line.
        """
        top, were_rows = self.scroll_offset.y, bool(self.ids)
        line = self._cursor - top
        self._moved = bool(rows) and (self._moved or top > 0)
        sinks = not self._moved and self._at in ids[self._page :]  # a key may be on its way to the cursor's row
        if (self._moved or sinks) and not anew:
            ids, top = held(ids, self.ids, self._cursor, top, self._page)
        self.ids, self._by_id = ids, rows
        found = self._number(self._at)
        self._put_cursor(top + line if found is None else found)
        if were_rows != bool(ids):
            self.refresh()  # what is said without rows stands in the middle
        self.virtual_size = Size(0, len(ids) + HEADER)
        if anew or not were_rows:
            self._measure_all()
        if anew:
            self._reveal()
        else:
            self._scroll(top)
        self._report()
        self.redraw_changed()

    def redraw_changed(self) -> None:
        """Redraw what changed in any visible row, also by time alone; of one that stays, only the part that changed."""
        before, self._lines = self._lines, self._cells_now(self.visible_ids)
        pairs = enumerate(zip_longest(before, self._lines, fillvalue=()), HEADER)
        changed = [self._difference(y, old, new) for y, (old, new) in pairs if old != new]
        self._measure(self._lines)
        if self._fitted() != self._places:
            self._place()
        elif changed:
            self.refresh(*changed)

    def sorted_by(self, key: str | None, *, reverse: bool) -> None:
        """Show in the header which column the owner sorted by."""
        self._sorted = (key, reverse)
        self._redraw()

    def show_columns(self, columns: Sequence[Column[R]]) -> None:
        """Show other columns of the same rows."""
        self._columns, self._places = tuple(columns), ()
        self.fit_anew()

    def fit_more(self) -> None:
        """Shrink columns where that makes room for one that was left out."""
        before, self._widest = self._widest, {}
        self._measure_all()
        self._measure(self._lines)
        if len(self._fitted()) > len(self._places):
            self._place()
        else:
            self._widest = before

    def fit_anew(self) -> None:
        """Shrink columns that are too wide for the current rows; between calls they only grow, to avoid jumps."""
        self._widest.clear()
        self._measure_all()
        self.redraw_changed()

    def say_empty(self, title: str, hint: str) -> None:
        """Set what is shown if there are no rows."""
        if self._empty != (title, hint):
            self._empty = (title, hint)
            self.refresh()

    def stay_first(self) -> None:
        """Keep the cursor on the first line when the next rows are shown, unless it was moved."""
        if not self._moved:
            self._put_cursor(0)
            self._at, self._highlighted = "", None

    def move_to(self, row_id: str) -> None:
        """Move the cursor to an id, if it is in the table."""
        if (number := self._number(row_id)) is not None:
            self._go(number)

    def set_marks(self, ids: Collection[str]) -> None:
        """Mark exactly these ids, in the table or not."""
        if frozenset(ids) != self.marks:
            turned, self.marks = self.marks ^ frozenset(ids), frozenset(ids)
            top = self.scroll_offset.y
            self._redraw_rows(number for number, row_id in enumerate(self.visible_ids, top) if row_id in turned)
            self.post_message(self.Marked())

    @property
    def range_begun(self) -> bool:
        """Whether there is a mark at which a range can begin."""
        return self._range_from in self.marks and self._number(self._range_from) is not None

    @property
    def cursor_id(self) -> str | None:
        """The id under the cursor, None if there are no rows."""
        return self.ids[self._cursor] if self.ids else None

    @property
    def cursor_row(self) -> R | None:
        """The row under the cursor, None if there are no rows."""
        return self._by_id.get(self.ids[self._cursor]) if self.ids else None

    # Keys and mouse

    def action_move(self, lines: int) -> None:
        """Move the cursor by lines."""
        self._go(self._cursor + lines)

    def action_page(self, pages: float) -> None:
        """Move the cursor by pages."""
        self._go(self._cursor + round(pages * max(self._page - 1, 1)))

    def action_first(self) -> None:
        """Move to the first row."""
        self._go(0)

    def action_last(self) -> None:
        """Move to the last row."""
        self._go(len(self.ids) - 1)

    def action_mark(self) -> None:
        """Mark or unmark the row, and move to the next one."""
        if self.cursor_id is not None:
            marked = self.cursor_id
            self.action_move(1)
            self._turn_mark(marked)

    def action_mark_range(self) -> None:
        """Mark the rows from the last mark to the cursor."""
        if self.range_begun:
            first, last = sorted((self.ids.index(self._range_from), self._cursor))
            self.set_marks(self.marks.union(self.ids[first : last + 1]))

    def action_mark_all(self) -> None:
        """Mark every row that is shown."""
        self.set_marks(self.marks.union(self.ids))

    def action_mark_none(self) -> None:
        """Remove all marks, including those of hidden rows."""
        self.set_marks(())

    def on_click(self, event: events.Click) -> None:
        """A click on a title sorts, on the gutter marks, on a row moves the cursor; a double click opens the row."""
        if event.y < HEADER:
            self._click_title(event.x)
            return
        number = self.scroll_offset.y + event.y - HEADER
        if number >= len(self.ids):
            return
        self._go(number)
        if event.x < GUTTER and not self.screen.is_modal:  # no command of a dialog goes by marks
            self._turn_mark(self.ids[number])
        elif event.chain == 2:
            self.post_message(self.Chosen())

    def _click_title(self, x: int) -> None:
        for place in self._places:
            column = self._columns[place.number]
            if place.x <= x < place.x + place.width and column.sort is not None:
                self.post_message(self.SortAsked(column.key))

    def _turn_mark(self, row_id: str) -> None:
        """Mark or unmark a row; a range of marks begins at the row marked last."""
        if row_id not in self.marks:
            self._range_from = row_id
        self.set_marks(self.marks ^ {row_id})

    # Moving

    @property
    def _page(self) -> int:
        return max(self.size.height - HEADER, 0)

    def _number(self, row_id: str) -> int | None:
        """Return the index of an id in the list."""
        return self.ids.index(row_id) if row_id in self.ids else None

    def _go(self, number: int) -> None:
        self._moved = True
        self._put_cursor(number)
        self._reveal()
        self._report()

    def _put_cursor(self, number: int) -> None:
        """Move the cursor to an index, or to the nearest one; without rows it keeps its id."""
        before, self._cursor = self._cursor, max(0, min(number, len(self.ids) - 1))
        if self._cursor != before:
            self._redraw_rows((before, self._cursor))
        if self.ids:
            self._at = self.ids[self._cursor]

    def _reveal(self) -> None:
        """Scroll just enough to show the cursor."""
        self._scroll(min(max(self.scroll_offset.y, self._cursor - self._page + 1), self._cursor))

    def _scroll(self, top: int) -> None:
        if self._page and top != self.scroll_offset.y:
            self.scroll_to(y=top, animate=False, force=True)

    # Reporting changes

    def _report(self) -> None:
        self._report_visible()
        if self.cursor_id != self._highlighted:
            self.post_message(self.Highlighted(self._highlighted))
            self._highlighted = self.cursor_id

    def _report_visible(self) -> None:
        top = self.scroll_offset.y
        visible = tuple(self.ids[top : top + self._page])
        if visible != self.visible_ids:
            self.visible_ids = visible
            self.post_message(self.Seen())

    def _redraw(self) -> None:
        """Recompute and redraw every line."""
        self._lines = self._cells_now(self.visible_ids)
        self._measure(self._lines)
        self._place()

    def on_resize(self) -> None:
        """Recompute the visible rows; a visible cursor stays visible."""
        if not self.visible_ids or self.cursor_id in self.visible_ids:
            self._reveal()
        self._report_visible()
        self._redraw()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Scrolling shows other rows."""
        super().watch_scroll_y(old_value, new_value)
        self._report_visible()
        self._redraw()

    def watch_has_focus(self, has_focus: bool) -> None:
        """The cursor is dimmer without the focus."""
        super().watch_has_focus(has_focus)
        self._redraw_rows((self._cursor,))

    # Drawing

    def render_line(self, y: int) -> Strip:
        """Return a line of the widget."""
        at = y - HEADER
        if at < 0:
            return self._header_line()
        if not self.ids:
            return self._empty_line(at)
        if at >= len(self._lines) or not self._lines[at]:
            return Strip.blank(self.size.width, self.tones()[Tone.PLAIN])
        return self._row_line(at)

    def _header_line(self) -> Strip:
        """Return the line of titles; an arrow is at the sorted column, or before all if the usual order is reversed."""
        header = self.themed(f"bold ${TABLE_HEADER}", TABLE_HEADER_BACKGROUND)
        sorted_by, reverse = self._sorted
        line: list[Segment] = []
        end = 0
        if reverse and sorted_by is None:
            line.append(Segment(DOWN, header + Style(reverse=True)))
            end = len(DOWN)
        for place in self._places:
            column = self._columns[place.number]
            title, style = column.title, header
            if column.key == sorted_by:
                title = f"{clip(title, place.width - ARROW)[0]} {DOWN if reverse else UP}"
                style = header + Style(reverse=True)
            line.append(Segment(" " * (place.x - end), header))
            shown = fit_cell(((Shown(title), Tone.PLAIN),), place.width, right=column.right)
            line += [Segment(part, style) for part, _ in shown]
            end = place.x + place.width
        return Strip(filter(None, line)).adjust_cell_length(self.size.width, header).simplify()

    def _row_line(self, at: int) -> Strip:
        """Return the line of a visible row."""
        at_cursor, marked = self.scroll_offset.y + at == self._cursor, self.visible_ids[at] in self.marks
        line: list[Span] = [(CURSOR if at_cursor else BLANK, Tone.BUSY), (MARK if marked else BLANK, Tone.EDITED)]
        end = len(line)
        for place in self._places:
            shown, column = self._lines[at][place.number], self._columns[place.number]
            line.append((Shown(" " * (place.x - end)), Tone.PLAIN))
            line += fit_cell(shown, place.width, right=column.right, whole_end=column.whole_end)
            end = place.x + place.width
        highlight = Highlight(at_cursor, at_cursor and self.has_focus, marked)
        return joined(line, self.size.width, self.tones(highlight))

    def _empty_line(self, y: int) -> Strip:
        """Return a line of the message in place of rows."""
        title, hint = self._empty
        said = lines((cell(title, Tone.STRONG), EMPTY, cell(hint, Tone.MUTED)))
        padded = Padding(said, Spacing(0, 4, 0, 4))
        return Visual.to_strips(self, padded, self.size.width, self._page, self.visual_style, pad=True)[y]

    def _difference(self, y: int, before: Sequence[Cell], after: Sequence[Cell]) -> Region:
        """Return the part of a line from its first changed cell to its last one, or all of it."""
        if not (before and after):
            return Region(0, y, self.size.width, 1)
        changed = [place for place in self._places if before[place.number] != after[place.number]]
        end = max((place.x + place.width for place in changed), default=0)
        start = min((place.x for place in changed), default=0)
        return Region(start, y, end - start, 1)

    def _redraw_rows(self, numbers: Iterable[int]) -> None:
        """Redraw the lines of these rows, as far as they are visible."""
        top = self.scroll_offset.y
        lines = [HEADER + number - top for number in numbers if 0 <= number - top < self._page]
        if lines:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in lines))

    def _cells_now(self, ids: Iterable[str]) -> list[tuple[Cell, ...]]:
        now, rows = self._clock(), map(self._by_id.get, ids)
        return [tuple([column.cell(row, now) for column in self._columns]) if row is not None else () for row in rows]

    def _measure_all(self) -> None:
        """Update the widths from all rows, as far as that is quick, whatever their order and the filter."""
        self._measure(self._cells_now(islice(self._by_id, MEASURED)))

    def _measure(self, lines: Iterable[tuple[Cell, ...]]) -> None:
        """Update the widths of the columns' texts from these rows."""
        for line in filter(None, lines):
            for column, shown in zip(self._columns, line, strict=True):
                cells = 0 if shown == DASH else cell_length(shown)
                self._widest[column.key] = max(cells, self._widest.get(column.key, 0))

    def _fitted(self) -> tuple[Placed, ...]:
        """Where the columns belong."""
        return fit(self._columns, self.size.width, self._widest if self._by_id else None, self._sorted[0])

    def _place(self) -> None:
        """Place the columns, and redraw every line."""
        self._places = self._fitted()
        self.refresh()
