"""Draws the lines of a table for one width and theme, and draws none twice."""

from collections.abc import Sequence
from datetime import datetime
from typing import Generic, NamedTuple

from textual.strip import Strip

from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.table_layout import GUTTER, Column, R, fit
from quarterdeck.tui.widgets.table_palette import Look, Palette
from quarterdeck.tui.widgets.table_strips import LineOfText, clip, empty_strips, fit_cell

CURSOR, MARK, UP, DOWN = "▌", "✓", "▲", "▼"
SPARE = 8
"""Rows whose strips are kept besides those on the screen: each takes some kB, for a strip keeps what was made of it."""


class _Drawn(NamedTuple):
    """A row as it was last drawn, and all that decided how it looked."""

    row: object
    look: Look
    now: datetime
    cells: tuple[Cell, ...]
    strip: Strip


class RowDrawer(Generic[R]):
    """Lines of a table `width` cells wide.

    The same question gets the same strip object, so that `is` means unchanged.
    """

    def __init__(self, columns: Sequence[Column[R]], palette: Palette, width: int) -> None:
        self.width = width
        self.remembered = SPARE
        """Rows whose strips are kept: those of a screen, so that scrolling by a line draws one line."""
        self.blank = Strip.blank(width, palette.ground)
        self._columns = [(columns[place.number], place) for place in fit(columns, width)]
        self._palette = palette
        self._rows: dict[str, _Drawn] = {}
        self._header: tuple[object, Strip] | None = None
        self._nothing: tuple[object, list[Strip]] | None = None

    def row(self, row: R, look: Look, now: datetime) -> Strip:
        """The line of a row at a time."""
        before = self._rows.get(row.id)
        if before is not None and before.row is row and before.now is now and before.look == look:
            return before.strip
        cells = tuple([column.cell(row, now) for column, _ in self._columns])
        if before is not None and before.cells == cells and before.look == look:
            strip = before.strip
        else:
            strip = self._draw(cells, look)
        self._rows.pop(row.id, None)
        while len(self._rows) >= self.remembered:
            del self._rows[next(iter(self._rows))]
        self._rows[row.id] = _Drawn(row, look, now, cells, strip)
        return strip

    def header(self, sort_key: str | None, reverse: bool) -> Strip:
        """The line of titles; the sorted column has an arrow and stands in reverse video."""
        asked = (sort_key, reverse)
        if self._header is None or self._header[0] != asked:
            self._header = (asked, self._draw_header(sort_key, DOWN if reverse else UP))
        return self._header[1]

    def nothing(self, title: Shown, hint: Shown, height: int) -> list[Strip]:
        """The lines that stand in for rows where there are none."""
        asked = (title, hint, height)
        if self._nothing is None or self._nothing[0] != asked:
            self._nothing = (asked, empty_strips(title, hint, self.width, height, self._palette))
        return self._nothing[1]

    def column_at(self, x: int) -> Column[R] | None:
        """The column at a cell of the line."""
        for column, place in self._columns:
            if place.x <= x < place.x + place.width:
                return column
        return None

    def _draw(self, cells: Sequence[Cell], look: Look) -> Strip:
        tones = self._palette.tones(look)
        line = LineOfText(tones[Tone.PLAIN])
        line.add(CURSOR if look.cursor else " ", 1, tones[Tone.BUSY if look.cursor else Tone.PLAIN])
        line.add(MARK if look.marked else " ", 1, tones[Tone.EDITED if look.marked else Tone.PLAIN])
        line.blank_to(GUTTER)
        for cell, (column, place) in zip(cells, self._columns, strict=True):
            pieces, length = fit_cell(cell, place.width)
            line.blank_to(place.x + (place.width - length if column.right else 0))
            for text, tone in pieces:
                line.add(text, 0, tones[tone])
            line.cells += length
        return line.strip(self.width)

    def _draw_header(self, sort_key: str | None, arrow: str) -> Strip:
        line = LineOfText(self._palette.header)
        for column, place in self._columns:
            is_sorted = column.key == sort_key
            title, length = clip(column.title, place.width - 2 if is_sorted else place.width)
            if is_sorted:
                title, length = clip(f"{title} {arrow}", place.width)
            blank = " " * (place.width - length)
            style = self._palette.sorted if is_sorted else self._palette.header
            line.blank_to(place.x)
            line.add(blank + title if column.right else title + blank, place.width, style)
            line.add("", 0, self._palette.header)
        return line.strip(self.width)
