"""The painted part of a table of live rows: it draws only the lines that changed.

It is built on Textual's line API. One rule drives all painting: after anything happens, each line whose strip is no
longer the one painted is asked for again (`_repaint`). So the cost follows what is on the screen, never the number of
rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Generic

from textual.geometry import Region
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar
from textual.strip import Strip

from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.bare_lines import BareLines
from quarterdeck.tui.widgets.scroll_bar import ThriftyScrollBar
from quarterdeck.tui.widgets.table_drawer import SPARE, RowDrawer
from quarterdeck.tui.widgets.table_layout import Column, R
from quarterdeck.tui.widgets.table_palette import Look, Palette
from quarterdeck.tui.widgets.table_rows import TableRows

HEADER = 1
"""Lines above the rows."""
MOMENT = timedelta(seconds=1)
"""Time in which ages stay as they are: they say minutes."""


class PaintedRows(ScrollView, BareLines, Generic[R]):
    """Rows under a fixed header, drawn as they are; who has them change asks for `_repaint`."""

    def __init__(self, columns: Sequence[Column[R]], *, clock: Callable[[], datetime], id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self._columns = tuple(columns)
        self._clock = clock
        self._now = clock()
        self._rows: TableRows[R] = TableRows()
        self._sort: tuple[str | None, bool] = (None, False)
        self._empty = (Shown(""), Shown(""))
        self._drawer: RowDrawer[R] | None = None
        self._painted: dict[int, Strip] = {}

    def tick(self) -> None:
        """Bring the ages on the screen up to date."""
        self._look_at_clock()
        self._repaint()

    def _look_at_clock(self) -> None:
        """Go on to another moment, unless it is the same to a reader: rows drawn for it need not be drawn again."""
        now = self._clock()
        if abs(now - self._now) >= MOMENT:
            self._now = now

    def sorted_by(self, key: str | None, *, reverse: bool = False) -> None:
        """Say in the header which column the owner sorted by."""
        self._sort = (key, reverse)
        self._repaint()

    def show_columns(self, columns: Sequence[Column[R]]) -> None:
        """Show other columns of the same rows."""
        self._columns = tuple(columns)
        self._drawer = None
        self._repaint()

    def say_empty(self, title: Shown, hint: Shown) -> None:
        """What stands in place of rows when there are none."""
        self._empty = (title, hint)
        self._repaint()

    @property
    def marks(self) -> frozenset[str]:
        """Marked ids; a mark outlives its row, so that a filter does not lose it."""
        return self._rows.marks

    def watch_has_focus(self, has_focus: bool) -> None:
        """The cursor is dimmer without the focus."""
        super().watch_has_focus(has_focus)
        self._repaint()

    def notify_style_update(self) -> None:
        """The theme may be another one."""
        super().notify_style_update()
        self._drawer = None

    @property
    def vertical_scrollbar(self) -> ScrollBar:
        """The scrollbar, made when it is first asked for."""
        if self._vertical_scrollbar is None:
            self._vertical_scrollbar = bar = ThriftyScrollBar(thickness=self.scrollbar_size_vertical)
            bar.display = False
            self.app._start_widget(self, bar)
        return self._vertical_scrollbar

    @property
    def _page(self) -> int:
        return max(self.size.height - HEADER, 0)

    def render_line(self, y: int) -> Strip:
        """The strip of a line of the widget."""
        self._painted.update(self._lines((y,)))
        return self._painted[y]

    def _repaint(self, lines: Iterable[int] | None = None) -> None:
        """Ask for each painted line that no longer looks as it was painted, among all of them or among these."""
        if not self._painted:
            return
        asked = range(self.size.height) if lines is None else lines
        changed: list[int] = []
        for y, strip in self._lines([y for y in asked if y in self._painted]):
            painted, self._painted[y] = self._painted[y], strip
            if strip is not painted:
                changed.append(y)
        if changed:
            width = self._drawing().width  # without the scrollbar, which draws itself
            self.draw_again(*(Region(0, y, width, 1) for y in changed))

    def _lines(self, lines: Iterable[int]) -> Iterator[tuple[int, Strip]]:
        """Draw lines of the widget."""
        drawing, rows, known, top = self._drawing(), self._rows, len(self._rows), self.scroll_offset.y
        for y in lines:
            number = top + y - HEADER
            if y < HEADER:
                yield y, drawing.header(*self._sort)
            elif not known:
                yield y, drawing.nothing(*self._empty, self._page)[y - HEADER]
            elif number >= known or (row := rows[number]) is None:
                yield y, drawing.blank
            else:
                at_cursor = number == rows.cursor
                look = Look(at_cursor, at_cursor and self.has_focus, row.id in rows.marks)
                yield y, drawing.row(row, look, self._now)

    def _drawing(self) -> RowDrawer[R]:
        """The drawer for this width and theme."""
        width = self.size.width - self.scrollbar_size_vertical
        if self._drawer is None or self._drawer.width != width:
            palette = Palette(self.app.theme_variables, self.background_colors[1], colour=not self.app.no_color)
            self._drawer = RowDrawer(self._columns, palette, width)
        self._drawer.remembered = self._page + SPARE
        return self._drawer
