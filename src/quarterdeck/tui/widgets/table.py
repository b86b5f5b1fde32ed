"""A table of live rows on Textual's line API: it draws the lines on the screen, and again only those that changed.

So what it costs follows what is looked at, never the number of rows.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, ClassVar, Generic, NamedTuple

from rich.cells import cell_len
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from quarterdeck.tui.cells import DASH, Cell, Tone
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.strips import LineOfText, Look, Palette, clip, empty_strips, fit_cell
from quarterdeck.tui.widgets.table_layout import GUTTER, Column, Placed, R, fit
from quarterdeck.tui.widgets.table_rows import TableRows

HEADER = 1
"""Lines above the rows."""
CURSOR, MARK, UP, DOWN = "▌", "✓", "▲", "▼"


class Drawn(NamedTuple):
    """All that decides how the line of a row looks."""

    cells: tuple[Cell, ...]
    look: Look


class TableMessage(Message):
    """A message of a table, which is its `control`."""

    def __init__(self, table: "Table[Any]") -> None:
        super().__init__()
        self.table = table

    @property
    def control(self) -> "Table[Any]":
        """The table, for `@on(..., "#id")`."""
        return self.table


class Table(ScrollView, Generic[R], can_focus=True, inherit_bindings=False):
    """Rows by id under a fixed header: a cursor and marks that hold on to ids, columns as wide as they need."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Table {
        height: 1fr;
        overflow: hidden auto;
        scrollbar-gutter: stable;
        scrollbar-size-vertical: 1;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("pagedown", "page(1.0)", "Page down", show=False),
        Binding("pageup", "page(-1.0)", "Page up", show=False),
        Binding("ctrl+d", "page(0.5)", "Half a page down", show=False),
        Binding("ctrl+u", "page(-0.5)", "Half a page up", show=False),
        Binding("home,g", "first", "First row", show=False),
        Binding("end,G", "last", "Last row", show=False),
        Binding("space", "mark", "Mark", show=False),
        Binding("enter", "choose", "Open", show=False),
    ]

    virtual_size: Reactive[Size] = Reactive(Size(0, HEADER), layout=False, repaint=False)
    """Textual's own has the whole screen laid out anew whenever a row comes or goes."""

    class Highlighted(TableMessage):
        """The cursor is on the row of another id; None where there are no rows."""

        def __init__(self, table: "Table[Any]", row_id: str | None) -> None:
            super().__init__(table)
            self.id = row_id

    class Chosen(TableMessage):
        """Enter, or a second click on a row."""

        def __init__(self, table: "Table[Any]", row_id: str) -> None:
            super().__init__(table)
            self.id = row_id

    class Marked(TableMessage):
        """The marks changed."""

        def __init__(self, table: "Table[Any]", ids: frozenset[str]) -> None:
            super().__init__(table)
            self.ids = ids

    class Seen(TableMessage):
        """Other rows are on the screen; their ids from the top."""

        def __init__(self, table: "Table[Any]", ids: tuple[str, ...]) -> None:
            super().__init__(table)
            self.ids = ids

    class SortAsked(TableMessage):
        """The title of a column that can be sorted by was clicked."""

        def __init__(self, table: "Table[Any]", key: str) -> None:
            super().__init__(table)
            self.key = key

    def __init__(self, columns: Sequence[Column[R]], *, clock: Callable[[], datetime], id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self._columns = tuple(columns)
        self._clock = clock
        self._now = clock()
        self._rows: TableRows[R] = TableRows()
        self._sorted: tuple[str | None, bool] = (None, False)
        self._empty = (Shown(""), Shown(""))
        self._content: dict[str, int] = {}
        """Cells that the widest text seen in each column takes."""
        self._places: tuple[Placed, ...] = ()
        self._placed_in: int | None = None
        """The width they were placed for, None when they have to be placed anew."""
        self._palette: Palette | None = None
        self._drawn: dict[int, Drawn | None] = {}
        """What each line of the screen shows."""
        self._highlighted: str | None = None
        self._seen: tuple[str, ...] = ()
        self._clicked: str | None = None

    # What the owner gives and asks

    def show(self, rows: Sequence[R]) -> None:
        """Show a whole list in its order; the cursor, the marks and the place on the screen are kept by id."""
        self._exchange(partial(self._rows.replace, rows))

    def look_up(self, ids: Sequence[str], rows: Mapping[str, R]) -> None:
        """Show the rows of these ids, as `show` does; only those on the screen are ever asked of the mapping.

        The sequence must not change any more. A row that is gone from the mapping is a blank line until the next list.
        """
        self._exchange(partial(self._rows.look_up, ids, rows))

    def _exchange(self, take: Callable[[], None]) -> None:
        top, were_rows = self.scroll_offset.y, bool(len(self._rows))
        anchor = self._rows.anchor(top, self._page)
        take()
        if were_rows != bool(len(self._rows)):
            self.refresh()
        self.virtual_size = Size(0, len(self._rows) + HEADER)
        self._scroll(self._rows.holding(anchor, top, self._page))
        self._after_change()

    def patch(self, rows: Mapping[str, R]) -> None:
        """Show new versions of some rows, the order unchanged."""
        self._rows.patch(rows)
        self._draw_changed([line for line, row_id in enumerate(self._seen, HEADER) if row_id in rows])

    def tick(self) -> None:
        """Bring the ages on the screen up to date."""
        self._draw_changed()

    def sorted_by(self, key: str | None, *, reverse: bool = False) -> None:
        """Say in the header which column the owner sorted by."""
        self._sorted = (key, reverse)
        self.refresh(Region(0, 0, self.size.width, HEADER))

    def show_columns(self, columns: Sequence[Column[R]]) -> None:
        """Show other columns of the same rows."""
        self._columns, self._placed_in = tuple(columns), None
        self._content.clear()
        self._measure(self._seen)
        self.refresh()

    def say_empty(self, title: Shown, hint: Shown) -> None:
        """What stands in place of rows when there are none."""
        if self._empty != (title, hint):
            self._empty = (title, hint)
            self.refresh()

    def move_to(self, row_id: str) -> bool:
        """Put the cursor on an id; False where it is not in the table."""
        number = self._rows.number(row_id)
        if number is not None:
            self._go(number)
        return number is not None

    def set_marks(self, ids: Collection[str]) -> None:
        """Mark exactly these ids, in the table or not."""
        if frozenset(ids) != self.marks:
            self._rows.set_marks(ids)
            self._after_mark()

    @property
    def rows(self) -> Sequence[R]:
        """All rows in display order."""
        return self._rows.all

    @property
    def cursor_row(self) -> R | None:
        """The row under the cursor, None when there are none."""
        return self._rows.cursor_row

    @property
    def cursor_id(self) -> str | None:
        """The id under the cursor, None when there are no rows."""
        return self._rows.cursor_id

    @property
    def marks(self) -> frozenset[str]:
        """Marked ids; a mark outlives its row, so that a filter does not lose it."""
        return self._rows.marks

    @property
    def visible_ids(self) -> tuple[str, ...]:
        """Ids of the rows on the screen, from the top."""
        return self._seen

    # Keys and mouse

    def action_move(self, lines: int) -> None:
        """Move the cursor by lines."""
        self._go(self._rows.cursor + lines)

    def action_page(self, pages: float) -> None:
        """Move the cursor by pages."""
        self._go(self._rows.cursor + round(pages * max(self._page - 1, 1)))

    def action_first(self) -> None:
        """Move to the first row."""
        self._go(0)

    def action_last(self) -> None:
        """Move to the last row."""
        self._go(len(self._rows) - 1)

    def action_mark(self) -> None:
        """Mark the row, or unmark it, and move on."""
        if self.cursor_id is not None:
            self._rows.toggle_mark(self.cursor_id)
            self.action_move(1)
            self._after_mark()

    def action_choose(self) -> None:
        """Open the row."""
        if self.cursor_id is not None:
            self.post_message(self.Chosen(self, self.cursor_id))

    def on_click(self, event: events.Click) -> None:
        """Click: a title asks for sorting, the gutter marks, a row takes the cursor, and opens at the second click."""
        if event.y < HEADER:
            self._click_title(event.x)
            return
        number = self.scroll_offset.y + event.y - HEADER
        if number >= len(self._rows):
            return
        clicked = self._rows.id_at(number)
        again = clicked == self._clicked
        self._go(number)
        if event.x < GUTTER:
            self._rows.toggle_mark(clicked)
            self._after_mark()
        elif again:
            self.action_choose()
        else:
            self._clicked = clicked

    def _click_title(self, x: int) -> None:
        for place in self._placed():
            column = self._columns[place.number]
            if place.x <= x < place.x + place.width and column.sort is not None:
                self.post_message(self.SortAsked(self, column.key))

    # Moving

    @property
    def _page(self) -> int:
        return max(self.size.height - HEADER, 0)

    def _go(self, number: int) -> None:
        self._clicked = None
        before, top = self._rows.cursor, self.scroll_offset.y
        self._rows.move(number)
        self._reveal()
        self._after_change([HEADER + row - top for row in (before, self._rows.cursor)])

    def _reveal(self) -> None:
        """Scroll as little as it takes to have the cursor on the screen."""
        self._scroll(self._rows.revealing(self.scroll_offset.y, self._page))

    def _scroll(self, top: int) -> None:
        if self._page and top != self.scroll_offset.y:
            self.scroll_to(y=top, animate=False)

    # Saying what changed

    def _after_change(self, lines: Iterable[int] | None = None) -> None:
        self._say_seen()
        self._draw_changed(lines)
        if self.cursor_id != self._highlighted:
            self._highlighted = self.cursor_id
            self.post_message(self.Highlighted(self, self._highlighted))

    def _after_mark(self) -> None:
        self._draw_changed()
        self.post_message(self.Marked(self, self.marks))

    def _say_seen(self) -> None:
        top = self.scroll_offset.y
        visible = self._rows.ids(top, top + self._page)
        if visible != self._seen:
            self._measure(row_id for row_id in visible if row_id not in self._seen)
            self._seen = visible
            self.post_message(self.Seen(self, visible))

    def on_resize(self) -> None:
        """Other rows may be on the screen; a cursor that was there stays there."""
        if not self._seen or self.cursor_id in self._seen:
            self._reveal()
        self._say_seen()

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
        palette, width = self._colours(), self.size.width
        if y < HEADER:
            return self._draw_header(palette, width)
        if not len(self._rows):
            return empty_strips(*self._empty, width, self._page, palette)[y - HEADER]
        self._drawn[y] = drawn = self._look_at(y)
        return Strip.blank(width, palette.ground) if drawn is None else self._draw(drawn, palette, width)

    def _draw_changed(self, lines: Iterable[int] | None = None) -> None:
        """Have what looks different on these lines, or on all, drawn again: of a row that stays, its changed cells."""
        self._now = self._clock()
        self._measure(self._seen if lines is None else ())
        asked = self._drawn if lines is None else (y for y in lines if y in self._drawn)
        changed = [region for y in asked for region in self._changed_on(y)]
        if changed:
            self.refresh(*changed)

    def _changed_on(self, y: int) -> Iterator[Region]:
        before, after = self._drawn[y], self._look_at(y)
        if before is None or after is None or before.look != after.look or len(before.cells) != len(after.cells):
            if before != after:
                yield Region(0, y, self.size.width, 1)
            return
        for place, was, becomes in zip(self._placed(), before.cells, after.cells, strict=True):
            if was != becomes:
                yield Region(place.x, y, place.width, 1)

    def _look_at(self, y: int) -> Drawn | None:
        """What decides how a line looks now; None for one without a row."""
        number = self.scroll_offset.y + y - HEADER
        row = self._rows[number] if number < len(self._rows) else None
        if row is None:
            return None
        at_cursor = number == self._rows.cursor
        look = Look(at_cursor, at_cursor and self.has_focus, row.id in self.marks)
        return Drawn(tuple(self._columns[place.number].cell(row, self._now) for place in self._placed()), look)

    def _measure(self, ids: Iterable[str]) -> None:
        """Note how much room the texts of these rows take; columns only grow, so that nothing hops."""
        before = dict(self._content)
        for row in filter(None, map(self._rows.get, ids)):
            for column in self._columns:
                cell = column.cell(row, self._now)
                cells = 0 if cell == DASH else sum(cell_len(text) for text, _ in cell)
                self._content[column.key] = max(self._content.get(column.key, 0), cells)
        if self._content != before:
            self._placed_in = None
            self.refresh()

    def _placed(self) -> tuple[Placed, ...]:
        if self._placed_in != self.size.width:
            self._placed_in = self.size.width
            self._places = fit(self._columns, self._placed_in, self._content if len(self._rows) else None)
        return self._places

    def _colours(self) -> Palette:
        if self._palette is None:
            self._palette = Palette(self.app.theme_variables, self.background_colors[1], colour=not self.app.no_color)
        return self._palette

    def _draw(self, drawn: Drawn, palette: Palette, width: int) -> Strip:
        tones, look = palette.tones(drawn.look), drawn.look
        line = LineOfText(tones[Tone.PLAIN])
        line.add(CURSOR if look.cursor else " ", 1, tones[Tone.BUSY if look.cursor else Tone.PLAIN])
        line.add(MARK if look.marked else " ", 1, tones[Tone.EDITED if look.marked else Tone.PLAIN])
        line.blank_to(GUTTER)
        for cell, place in zip(drawn.cells, self._placed(), strict=True):
            pieces, length = fit_cell(cell, place.width)
            line.blank_to(place.x + (place.width - length if self._columns[place.number].right else 0))
            for text, tone in pieces:
                line.add(text, 0, tones[tone])
            line.cells += length
        return line.strip(width)

    def _draw_header(self, palette: Palette, width: int) -> Strip:
        """The titles; the sorted column has an arrow and stands in reverse video."""
        key, reverse = self._sorted
        line = LineOfText(palette.header)
        for place in self._placed():
            column = self._columns[place.number]
            is_sorted = column.key == key
            title, length = clip(column.title, place.width - 2 if is_sorted else place.width)
            if is_sorted:
                title, length = clip(f"{title} {DOWN if reverse else UP}", place.width)
            blank = " " * (place.width - length)
            line.blank_to(place.x)
            line.add(
                blank + title if column.right else title + blank,
                place.width,
                palette.sorted if is_sorted else palette.header,
            )
            line.add("", 0, palette.header)
        return line.strip(width)
