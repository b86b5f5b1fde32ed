"""A table of live rows that paints only the lines that changed.

Here are its cursor and marks, keys and mouse, and what it tells its owner; `painted_rows` paints.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.reactive import Reactive

from quarterdeck.tui.widgets import table_messages
from quarterdeck.tui.widgets.painted_rows import HEADER, PaintedRows
from quarterdeck.tui.widgets.table_layout import GUTTER, Column, R

__all__ = ["Column", "LiveTable"]


class LiveTable(PaintedRows[R], can_focus=True, inherit_bindings=False):
    """Rows by id under a fixed header: a cursor and marks that hold on to ids, columns fitted to the width."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    LiveTable {
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

    virtual_size: Reactive[Size] = Reactive(Size(0, HEADER), repaint=False)
    """Textual's own has the screen laid out anew, and all of it painted, whenever a row comes or goes."""

    Highlighted = table_messages.Highlighted
    Chosen = table_messages.Chosen
    Marked = table_messages.Marked
    Seen = table_messages.Seen
    SortAsked = table_messages.SortAsked

    def __init__(self, columns: Sequence[Column[R]], *, clock: Callable[[], datetime], id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(columns, clock=clock, id=id)
        self._told: str | None = None
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
        top = self.scroll_offset.y
        anchor = self._rows.anchor(top, self._page)
        self._now = self._clock()  # a new moment: what a cell says may have changed with the list around its row
        take()
        self.virtual_size = Size(0, len(self._rows) + HEADER)
        self._scroll(self._rows.holding(anchor, top, self._page))
        self._after_change()

    def patch(self, rows: Mapping[str, R]) -> None:
        """Show new versions of some rows, the order unchanged."""
        self._look_at_clock()
        self._rows.patch(rows)
        self._repaint([HEADER + line for line, row_id in enumerate(self.visible_ids) if row_id in rows])

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
        column = self._drawing().column_at(x)
        if column is not None and column.sort is not None:
            self.post_message(self.SortAsked(self, column.key))

    # Moving

    def _go(self, number: int) -> None:
        self._clicked = None
        before, top = self._rows.cursor, self.scroll_offset.y
        self._rows.move(number)
        self._reveal()
        scrolled = self.scroll_offset.y != top
        self._after_change(None if scrolled else [HEADER + row - top for row in (before, self._rows.cursor)])

    def _reveal(self) -> None:
        """Scroll as little as it takes to have the cursor on the screen."""
        self._scroll(self._rows.revealing(self.scroll_offset.y, self._page))

    def _scroll(self, top: int) -> None:
        if self._page and top != self.scroll_offset.y:
            self.scroll_to(y=top, animate=False)

    # Telling

    def _after_change(self, lines: Iterable[int] | None = None) -> None:
        self._repaint(lines)
        self._tell_seen()
        if self.cursor_id != self._told:
            self._told = self.cursor_id
            self.post_message(self.Highlighted(self, self._told))

    def _after_mark(self) -> None:
        self._repaint()
        self.post_message(self.Marked(self, self.marks))

    def _tell_seen(self) -> None:
        top = self.scroll_offset.y
        visible = self._rows.ids(top, top + self._page)
        if visible != self._seen:
            self._seen = visible
            self.post_message(self.Seen(self, visible))

    def on_resize(self) -> None:
        """Other rows may be on the screen; a cursor that was there stays there."""
        if not self._seen or self.cursor_id in self._seen:
            self._reveal()
        self._tell_seen()

    def watch_virtual_size(self, before: Size, after: Size) -> None:
        """The scrollbar comes, goes, or shows another share."""
        if (before.height > self.size.height) != (after.height > self.size.height):
            self.refresh(layout=True)
        elif self.show_vertical_scrollbar:
            self.vertical_scrollbar.window_virtual_size = after.height

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Scrolling shows other rows."""
        super().watch_scroll_y(old_value, new_value)
        self._tell_seen()
