"""A table of live rows on Textual's line API: it draws the lines on the screen, and again only those that changed.

So what it costs follows what is looked at, never the number of rows.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import ClassVar, Generic, NamedTuple

from rich.cells import cell_len
from textual import events
from textual.binding import BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual

from quarterdeck.fleet.order import held
from quarterdeck.tui.cells import DASH, EMPTY, Cell, Tone, cell
from quarterdeck.tui.commands import MOVING
from quarterdeck.tui.paint import lines
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.strips import Look, Palette, header_strip, row_strip
from quarterdeck.tui.widgets.table_layout import GUTTER, Column, Placed, R, fit

HEADER = 1
"""Lines above the rows."""


class Line(NamedTuple):
    """All that decides how the line of a row looks: the cells of all its columns, and how it stands out."""

    cells: tuple[Cell, ...]
    look: Look


class Table(ScrollView, Generic[R], can_focus=True, inherit_bindings=False):
    """Rows by id under a fixed header: a cursor and marks that hold on to ids, columns as wide as they need."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Table {
        height: 1fr;
        overflow: hidden auto;
        scrollbar-gutter: stable;
        scrollbar-size-vertical: 1;
        text-align: center;
        content-align: center middle;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = MOVING

    virtual_size: Reactive[Size] = Reactive(Size(0, HEADER), layout=False, repaint=False)
    """Textual's own has the whole screen laid out anew whenever a row comes or goes."""

    class Highlighted(Message):
        """The cursor is on another row than it `was`, or there is none any more."""

        def __init__(self, was: str | None) -> None:
            super().__init__()
            self.was = was

    class Chosen(Message):
        """A double click on a row."""

    class Marked(Message):
        """The marks changed."""

    class Seen(Message):
        """Other rows are on the screen."""

    class SortAsked(Message):
        """The title of a column that can be sorted by was clicked."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, columns: Sequence[Column[R]], *, clock: Callable[[], datetime], id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self._columns = tuple(columns)
        self._clock = clock
        self._now = clock()
        self._ids: list[str] = []
        self._by_id: Mapping[str, R] = {}
        self._cursor = 0
        self._at = ""
        """The id that the cursor holds on to, empty before there was a row."""
        self.marks: frozenset[str] = frozenset()
        """Marked ids; a mark outlives its row, so that a filter does not lose it."""
        self._range_from = ""
        """The id that was marked last, where a range of marks begins."""
        self._sorted: tuple[str | None, bool] = (None, False)
        self._empty = (Shown(""), Shown(""))
        self._widest: dict[str, int] = {}
        """Cells that the widest text seen in each column takes; columns only grow, so that nothing hops."""
        self._places: tuple[Placed, ...] = ()
        self._placed_in: int | None = None
        """The width they were placed for, None when they have to be placed anew."""
        self._palette: Palette | None = None
        self._lines: dict[int, Line | None] = {}
        """What each line of the screen shows; None for one without a row."""
        self._highlighted: str | None = None
        self._seen: tuple[str, ...] = ()

    # What the owner gives and asks

    def show(self, ids: list[str], rows: Mapping[str, R], *, anew: bool = False) -> None:
        """Show the rows of these ids; the row of the cursor stays on its line, unless they are put in order `anew`.

        The list of ids must not change any more; the owner goes on changing the rows, and says which by `patch`. Where
        the row of the cursor is gone, the cursor stays on its line.
        """
        top, were_rows = self.scroll_offset.y, bool(self._ids)
        line = self._cursor - top
        if not anew:
            ids, top = held(ids, self._ids, self._cursor, top, self._page)
        self._ids, self._by_id = ids, rows
        found = self._number(self._at)
        self._put_cursor(top + line if found is None else found)
        if were_rows != bool(ids):
            self.refresh()
        self.virtual_size = Size(0, len(ids) + HEADER)
        if anew:
            self._reveal()
        else:
            self._scroll(top)
        self._after_change()

    def patch(self, ids: Collection[str]) -> None:
        """Draw what changed in these rows, the order unchanged; ids that are not on the screen are passed over."""
        self._draw_changed([line for line, row_id in enumerate(self._seen, HEADER) if row_id in ids])

    def tick(self) -> None:
        """Bring the ages on the screen up to date."""
        self._draw_changed()

    def sorted_by(self, key: str | None, *, reverse: bool = False) -> None:
        """Say in the header which column the owner sorted by."""
        self._sorted = (key, reverse)
        self._look_again()

    def show_columns(self, columns: Sequence[Column[R]]) -> None:
        """Show other columns of the same rows."""
        self._columns = tuple(columns)
        self.fit_anew()

    def fit_anew(self) -> None:
        """Make columns narrower that were wide for what is gone; they only grow meanwhile, so that nothing hops."""
        self._widest.clear()
        self._look_again()

    def say_empty(self, title: Shown, hint: Shown) -> None:
        """What stands in place of rows when there are none."""
        if self._empty != (title, hint):
            self._empty = (title, hint)
            self.refresh()

    def move_to(self, row_id: str) -> bool:
        """Put the cursor on an id; False where it is not in the table."""
        number = self._number(row_id)
        if number is not None:
            self._go(number)
        return number is not None

    def set_marks(self, ids: Collection[str]) -> None:
        """Mark exactly these ids, in the table or not."""
        if frozenset(ids) != self.marks:
            self.marks = frozenset(ids)
            self._draw_changed()
            self.post_message(self.Marked())

    @property
    def range_begun(self) -> bool:
        """Whether there is a mark at which a range of marks can begin."""
        return self._range_from in self.marks and self._number(self._range_from) is not None

    @property
    def ids(self) -> Sequence[str]:
        """The ids of all rows in display order."""
        return self._ids

    @property
    def cursor_id(self) -> str | None:
        """The id under the cursor, None when there are no rows."""
        return self._ids[self._cursor] if self._ids else None

    @property
    def cursor_row(self) -> R | None:
        """The row under the cursor, None when there are none."""
        return self._by_id.get(self._ids[self._cursor]) if self._ids else None

    @property
    def visible_ids(self) -> tuple[str, ...]:
        """Ids of the rows on the screen, from the top."""
        return self._seen

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
        self._go(len(self._ids) - 1)

    def action_mark(self) -> None:
        """Mark the row, or unmark it, and move on."""
        if self.cursor_id is not None:
            marked = self.cursor_id
            self.action_move(1)
            self._turn_mark(marked)

    def action_mark_range(self) -> None:
        """Mark the rows from the last mark to the cursor."""
        if self.range_begun:
            first, last = sorted((self._ids.index(self._range_from), self._cursor))
            self.set_marks(self.marks.union(self._ids[first : last + 1]))

    def action_mark_all(self) -> None:
        """Mark every row that is shown."""
        self.set_marks(self.marks.union(self._ids))

    def action_mark_none(self) -> None:
        """Take all marks away, also those of rows that are not shown."""
        self.set_marks(())

    def on_click(self, event: events.Click) -> None:
        """Click: a title asks for sorting, the gutter marks, a row takes the cursor; a double click opens it."""
        if event.y < HEADER:
            self._click_title(event.x)
            return
        number = self.scroll_offset.y + event.y - HEADER
        if number >= len(self._ids):
            return
        self._go(number)
        if event.x < GUTTER:
            self._turn_mark(self._ids[number])
        elif event.chain == 2:
            self.post_message(self.Chosen())

    def _click_title(self, x: int) -> None:
        for place in self._placed():
            column = self._columns[place.number]
            if place.x <= x < place.x + place.width and column.sort is not None:
                self.post_message(self.SortAsked(column.key))

    def _turn_mark(self, row_id: str) -> None:
        """Mark a row, or unmark it; a range of marks begins at the one that was marked last."""
        if row_id not in self.marks:
            self._range_from = row_id
        self.set_marks(self.marks ^ {row_id})

    # Moving

    @property
    def _page(self) -> int:
        return max(self.size.height - HEADER, 0)

    def _number(self, row_id: str) -> int | None:
        """The place of an id in the list."""
        try:
            return self._ids.index(row_id)
        except ValueError:
            return None

    def _go(self, number: int) -> None:
        before, top = self._cursor, self.scroll_offset.y
        self._put_cursor(number)
        self._reveal()
        self._after_change([HEADER + row - top for row in (before, self._cursor)])

    def _put_cursor(self, number: int) -> None:
        """Put the cursor on a line, or on the nearest there is; without rows it holds on to its id."""
        self._cursor = max(0, min(number, len(self._ids) - 1))
        if self._ids:
            self._at = self._ids[self._cursor]

    def _reveal(self) -> None:
        """Scroll as little as it takes to have the cursor on the screen."""
        self._scroll(min(max(self.scroll_offset.y, self._cursor - self._page + 1), self._cursor))

    def _scroll(self, top: int) -> None:
        if self._page and top != self.scroll_offset.y:
            self.scroll_to(y=top, animate=False)

    # Saying what changed

    def _after_change(self, lines: Iterable[int] | None = None) -> None:
        self._say_seen()
        self._draw_changed(lines)
        if self.cursor_id != self._highlighted:
            self.post_message(self.Highlighted(self._highlighted))
            self._highlighted = self.cursor_id

    def _say_seen(self) -> None:
        top = self.scroll_offset.y
        visible = tuple(self._ids[top : top + self._page])
        if visible != self._seen:
            self._seen = visible
            self.post_message(self.Seen())

    def _look_again(self) -> None:
        """Have every line looked at and drawn again."""
        self._lines.clear()
        self._placed_in = None
        self._measure(filter(None, map(self._line_at, range(HEADER, HEADER + len(self._seen)))))
        self.refresh()

    def on_resize(self) -> None:
        """Other rows may be on the screen; a cursor that was there stays there."""
        if not self._seen or self.cursor_id in self._seen:
            self._reveal()
        self._say_seen()
        self._look_again()

    def watch_virtual_size(self, before: Size, after: Size) -> None:
        """The scrollbar comes, goes, or shows another share."""
        if (before.height > self.size.height) != (after.height > self.size.height):
            self.refresh(layout=True)
        elif self.show_vertical_scrollbar:
            self.vertical_scrollbar.window_virtual_size = after.height

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Scrolling shows other rows."""
        super().watch_scroll_y(old_value, new_value)
        self._say_seen()
        self._look_again()

    def watch_has_focus(self, has_focus: bool) -> None:
        """The cursor is dimmer without the focus."""
        super().watch_has_focus(has_focus)
        self._draw_changed()

    def notify_style_update(self) -> None:
        """The theme may be another one."""
        super().notify_style_update()
        self._palette = None

    # Drawing

    def render_line(self, y: int) -> Strip:
        """The strip of a line of the widget."""
        if self._palette is None:
            colour = not self.app.no_color
            self._palette = Palette(self.app.theme_variables, self.background_colors[1], colour=colour)
        palette, width = self._palette, self.size.width
        if y < HEADER:
            return header_strip(self._columns, self._placed(), self._sorted, palette, width)
        if not self._ids:
            title, hint = self._empty
            said = lines((cell(title, Tone.STRONG), EMPTY, cell(hint, Tone.MUTED)))
            return Visual.to_strips(self, said, width, self._page, self.visual_style, pad=True)[y - HEADER]
        if y not in self._lines:
            self._lines[y] = self._line_at(y)
        line = self._lines[y]
        if line is None:
            return Strip.blank(width, palette.ground)
        return row_strip(line.cells, line.look, self._columns, self._placed(), palette, width)

    def _draw_changed(self, lines: Iterable[int] | None = None) -> None:
        """Have what looks different on these lines, or on all, drawn again: of a row that stays, its changed cells."""
        self._now = self._clock()
        on_screen = range(HEADER, HEADER + max(len(self._seen), len(self._lines)))
        looked = {y: self._line_at(y) for y in (on_screen if lines is None else lines) if y in on_screen}
        before = self._lines
        changed = {y: line for y, line in looked.items() if line != before.get(y)}
        if not self._measure(filter(None, changed.values())):
            regions = [region for y, line in changed.items() for region in self._differences(y, before.get(y), line)]
            if regions:
                self.refresh(*regions)
        self._lines.update(looked)

    def _differences(self, y: int, before: Line | None, after: Line | None) -> list[Region]:
        if before is None or after is None or before.look != after.look:
            return [Region(0, y, self.size.width, 1)]
        return [
            Region(place.x, y, place.width, 1)
            for place in self._placed()
            if before.cells[place.number] != after.cells[place.number]
        ]

    def _line_at(self, y: int) -> Line | None:
        """What a line shows now; None for one without a row."""
        number = self.scroll_offset.y + y - HEADER
        row = self._by_id.get(self._ids[number]) if 0 <= number < len(self._ids) else None
        if row is None:
            return None
        at_cursor = number == self._cursor
        look = Look(at_cursor, at_cursor and self.has_focus, row.id in self.marks)
        return Line(tuple([column.cell(row, self._now) for column in self._columns]), look)

    def _measure(self, lines: Iterable[Line]) -> bool:
        """Note how much room these lines take; whether a column has to be wider, so that all is drawn again."""
        wider = False
        for line in lines:
            for column, shown in zip(self._columns, line.cells, strict=True):
                cells = 0 if shown == DASH else sum(cell_len(text) for text, _ in shown)
                if cells > self._widest.get(column.key, 0):
                    self._widest[column.key] = cells
                    wider = True
        if wider:
            self._placed_in = None
            self.refresh()
        return wider

    def _placed(self) -> tuple[Placed, ...]:
        if self._placed_in != self.size.width:
            self._placed_in = self.size.width
            widest = self._widest if self._ids else None
            self._places = fit(self._columns, self._placed_in, widest, self._sorted[0])
        return self._places
