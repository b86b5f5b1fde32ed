"""The list of fields: a cursor over its rows, and an editor that opens in place of a row."""

from collections.abc import Iterable, Mapping, Sequence

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.containers import VerticalScroll
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from quarterdeck.tui.cells import Tone
from quarterdeck.tui.commands import MOVING, bindings
from quarterdeck.tui.widgets.form.editors import FieldEditor
from quarterdeck.tui.widgets.form.lines import GUTTER, MARGIN, FormLine, Line
from quarterdeck.tui.widgets.form.rows import NOWHERE, Row
from quarterdeck.tui.widgets.strips import BLANK, CURSOR, Highlight, ThemedWidget, cell_length, fit_cell

STRUCK = Style(strike=True)
ROW = "row"
"""In the style of a line: the row it belongs to, for the mouse."""


class LinePainter(ThemedWidget):
    """A block of the form's lines, as high as their number."""

    ALLOW_SELECT = False

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self._lines: list[tuple[Line, Highlight]] = []

    def show(self, lines: Sequence[Line], cursor: str, *, focused: bool) -> None:
        """Show these lines, with the cursor on the lines of a row (empty: on none); paints only what changed.

        All of them would be 9 kB for each key, over SSH too.
        """
        at_cursor, elsewhere = Highlight(cursor=True, focused=focused), Highlight()
        before = self._lines
        self._lines = [(line, at_cursor if line.row and line.row == cursor else elsewhere) for line in lines]
        if len(before) != len(lines):
            self.styles.height = len(lines)
            self.display = bool(lines)
            self.refresh()
        else:
            self.redraw_changed_lines(before, self._lines)

    def render_line(self, y: int) -> Strip:
        """Return one line."""
        line, highlight = self._lines[y] if y < len(self._lines) else (FormLine(), Highlight())
        tones, width = self.tones(highlight), self.size.width
        plain, struck = tones[Tone.PLAIN], STRUCK if line.struck else Style()
        segments = [
            Segment(CURSOR if highlight.cursor else BLANK, tones[Tone.BUSY]),
            Segment(BLANK * (GUTTER - 1), plain),
        ]
        chip_cells = min(cell_length(line.chip), max(width // 2, 1))
        x, end = GUTTER, width - MARGIN - chip_cells
        for cell, cells in line.cells:
            room = max(min(cells or end, end - x), 0)
            pieces = fit_cell(cell, max(room - 1, 0))
            segments += [Segment(text, tones[tone] + struck if text.strip() else plain) for text, tone in pieces]
            segments.append(Segment(BLANK * min(room, 1), plain))
            x += room
        segments.append(Segment(BLANK * (end - x), plain))
        segments += [Segment(text, tones[tone]) for text, tone in fit_cell(line.chip, chip_cells)]
        return Strip(filter(None, segments)).adjust_cell_length(width, plain).simplify().apply_meta({ROW: line.row})


class FieldList(VerticalScroll, can_focus=True, inherit_bindings=False):
    """Lines above the editor, the editor if open, lines below; the cursor follows the id of a row."""

    BINDINGS = bindings({**MOVING, "tab": "group(1)", "shift+tab": "group(-1)"})

    class Moved(Message):
        """The cursor moved, or an editor opened or closed: other keys may work."""

    def __init__(self) -> None:
        self.above, self.below = LinePainter(id="lines-above"), LinePainter(id="lines-below")
        super().__init__(self.above, self.below)
        self.cursor = ""
        self.editor: FieldEditor | None = None
        self._rows: Mapping[str, Row] = {}
        self._lines: Sequence[Line] = ()
        self._spans: Mapping[str, range] = {}
        """The lines of each row."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While a field is edited, the list's keys are disabled."""
        return self.editor is None

    # Methods for the form

    def show(self, rows: Mapping[str, Row], lines: Sequence[Line]) -> None:
        """Show rows by their lines; if the cursor's row is gone, it moves to the row in its place in the group."""
        group = self._rows.get(self.cursor, NOWHERE).group
        before = self._in_group(group)
        self._rows, self._lines, self._spans = rows, lines, _spans(lines)
        if self.cursor not in rows:
            left = self._in_group(group) or [*rows]
            place = before.index(self.cursor) if self.cursor in before else 0
            self.cursor = left[min(place, len(left) - 1)] if left else ""
            self.post_message(self.Moved())
        self._lay()

    async def open(self, editor: FieldEditor) -> None:
        """Open an editor in place of the row under the cursor; it has the focus when this returns."""
        await self.close()
        self.editor = editor
        self._lay()
        await self.mount(editor, after=self.above)
        editor.fit(self.scrollable_content_region.width)
        self.screen.set_focus(editor.first)
        self.call_after_refresh(self._reveal)
        self.post_message(self.Moved())

    async def close(self) -> None:
        """Close the editor; the list has the focus again."""
        if self.editor is None:
            return
        editor, self.editor = self.editor, None
        if editor.has_focus_within:
            self.screen.set_focus(self)
        await editor.remove()
        self._lay()
        self.post_message(self.Moved())

    def move_to(self, row: str) -> None:
        """Move the cursor to a row, if it exists."""
        if row in self._rows and row != self.cursor:
            self.cursor = row
            self._paint()
            self._reveal()
            self.post_message(self.Moved())

    def move_to_group(self, group: str) -> None:
        """Move the cursor to the first row of a group, with as much of the group in sight as fits."""
        self.move_to(next(iter(self._in_group(group)), ""))
        self._reveal(top=True)

    def _in_group(self, group: str) -> list[str]:
        return [row.id for row in self._rows.values() if row.group == group]

    # Keys and mouse

    def action_move(self, rows: int) -> None:
        """Move the cursor by rows."""
        if self._rows:
            ids = [*self._rows]
            self.move_to(ids[max(0, min(ids.index(self.cursor) + rows, len(ids) - 1))])

    def action_page(self, pages: float) -> None:
        """Move the cursor by pages, counted in lines."""
        if self._rows:
            wanted = self._spans[self.cursor].start + round(pages * max(self.size.height - 1, 1))
            place = max(0, min(wanted, len(self._lines) - 1))
            while not self._lines[place].row:
                place += 1 if pages < 0 else -1
            self.move_to(self._lines[place].row)

    def action_first(self) -> None:
        """Move to the first row."""
        self.action_move(-len(self._rows))

    def action_last(self) -> None:
        """Move to the last row."""
        self.action_move(len(self._rows))

    def action_group(self, step: int) -> None:
        """Move to the first row of the next or previous group, wrapping at the ends."""
        if self._rows:
            here = self._rows[self.cursor].group
            groups = list(dict.fromkeys(row.group for row in self._rows.values()))
            at_first = self._in_group(here)[0] == self.cursor
            place = groups.index(here) + (step if step > 0 or at_first else 0)
            self.move_to_group(groups[place % len(groups)])

    async def on_click(self, event: events.Click) -> None:
        """A click moves the cursor; a click on the cursor's row edits it."""
        row = event.style.meta.get(ROW, "")
        if row and row == self.cursor:
            await self.run_action("screen.command('edit')")
        else:
            self.move_to(row)

    def on_resize(self) -> None:
        """Keep the cursor in sight."""
        if self.editor is not None and self.editor.is_mounted:
            self.editor.fit(self.scrollable_content_region.width)
        self.call_after_refresh(self._reveal)

    def watch_has_focus(self, has_focus: bool) -> None:
        """The cursor is dimmer without the focus."""
        super().watch_has_focus(has_focus)
        self._paint()

    # Painting

    def _lay(self) -> None:
        self._paint()
        self.call_after_refresh(self._reveal)

    def _paint(self) -> None:
        end = range(len(self._lines), len(self._lines))
        own = end if self.editor is None else self._spans.get(self.editor.entry.key, end)
        cursor = self.cursor if self.editor is None else ""
        self.above.show(self._lines[: own.start], cursor, focused=self.has_focus)
        self.below.show(self._lines[own.stop :], cursor, focused=self.has_focus)

    def _reveal(self, *, top: bool = False) -> None:
        """Scroll enough to show the row under the cursor, its sentences and the heading above it, or to the top."""
        if self.cursor not in self._spans or not self.is_mounted:
            return
        own = self._spans[self.cursor]
        height = self.editor.size.height if self.editor is not None else len(own)
        above = own.start
        while above > 0 and not self._lines[above - 1].row:
            above -= 1
        self.scroll_to_region(Region(0, above, 1, own.start - above + height), animate=False, force=True, top=top)


def _spans(lines: Iterable[Line]) -> dict[str, range]:
    """Return the lines of each row; the lines of a row are adjacent."""
    spans: dict[str, range] = {}
    for number, line in enumerate(lines):
        if line.row:
            own = spans.get(line.row, range(number, number))
            spans[line.row] = range(own.start, number + 1)
    return spans
