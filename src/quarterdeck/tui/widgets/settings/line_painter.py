"""Paints lines of the form, only those on the screen."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from quarterdeck.tui.cells import Tone
from quarterdeck.tui.widgets.settings.lines import GUTTER, MARGIN, Line
from quarterdeck.tui.widgets.strips import LineOfText, Look, Palette, fit_cell

CURSOR = "▌"
STRUCK = Style(strike=True)
MANY = 100
"""Lines from which all are painted again: each region has a cost of its own."""


class LinePainter(Widget):
    """A block of the form's lines, as high as their number; `mark` says which of its rows has the cursor."""

    ALLOW_SELECT = False

    @dataclass
    class Clicked(Message):
        """A row was clicked."""

        row: str

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self.lines: tuple[Line, ...] = ()
        self._marked = ("", False)
        self._palette: Palette | None = None

    def show(self, lines: Sequence[Line]) -> None:
        """Show these lines; those that are as before are not painted again."""
        before, self.lines = self.lines, tuple(lines)
        if len(before) != len(self.lines):
            self.styles.height = len(self.lines)
            self.display = bool(self.lines)
            self.refresh()
        else:
            pairs = enumerate(zip(before, self.lines, strict=True))
            self._refresh_lines(y for y, (old, new) in pairs if old is not new and old != new)

    def mark(self, row: str, *, focused: bool) -> None:
        """Put the cursor on a row of it or, with an empty id, on none."""
        if (row, focused) == self._marked:
            return
        rows = {self._marked[0], row} - {""}
        self._marked = (row, focused)
        self._refresh_lines(y for y, line in enumerate(self.lines) if line.row in rows)

    def on_click(self, event: events.Click) -> None:
        """Tell which row is under the mouse."""
        row = self.lines[event.y].row if 0 <= event.y < len(self.lines) else ""
        if row:
            self.post_message(self.Clicked(row))

    def render_line(self, y: int) -> Strip:
        """The strip of one line."""
        line = self.lines[y] if y < len(self.lines) else Line()
        row, focused = self._marked
        at_cursor = bool(row) and line.row == row
        return self._strip(line.drawn(), Look(at_cursor, at_cursor and focused), self.size.width)

    def notify_style_update(self) -> None:
        """The theme may be another one."""
        super().notify_style_update()
        self._palette = None

    def _refresh_lines(self, numbers: Iterable[int]) -> None:
        numbers, width = list(numbers), self.size.width
        if len(numbers) > MANY:
            self.refresh()
        elif numbers:
            self.refresh(*(Region(0, y, width, 1) for y in numbers))

    def _strip(self, line: Line, look: Look, width: int) -> Strip:
        tones = self._tones().tones(look)
        text = LineOfText(tones[Tone.PLAIN])
        text.add(CURSOR if look.cursor else " ", 1, tones[Tone.BUSY if look.cursor else Tone.PLAIN])
        chip, chip_cells = fit_cell(line.chip, max(width // 2, 1))
        end = width - MARGIN - chip_cells
        x = GUTTER
        for cell, cells in line.cells:
            room = max(min(cells or end, end - x) - 1, 0)
            pieces, length = fit_cell(cell, room)
            text.blank_to(x)
            for piece, tone in pieces:
                text.add(piece, 0, tones[tone] + STRUCK if line.struck else tones[tone])
            text.cells += length
            text.add("", 0, tones[Tone.PLAIN])
            x += cells
        text.blank_to(end)
        for piece, tone in chip:
            text.add(piece, 0, tones[tone])
        text.cells += chip_cells
        return text.strip(width, tones[Tone.PLAIN])

    def _tones(self) -> Palette:
        if self._palette is None:
            self._palette = Palette(self.app.theme_variables, self.background_colors[1], colour=not self.app.no_color)
        return self._palette
