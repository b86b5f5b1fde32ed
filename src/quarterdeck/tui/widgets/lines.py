"""Lines of text: a widget that paints only what changed, and what scrolls it by keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest

from rich.cells import cell_len
from rich.style import Style as RichStyle
from textual.containers import VerticalScroll
from textual.geometry import Region, Size
from textual.selection import Selection
from textual.strip import Strip
from textual.visual import Visual
from textual.widget import Widget

from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.paint import Hanging, content
from quarterdeck.tui.widgets.strips import cell_strip, selectable, selected_text, tone_styles


class TextScroll(VerticalScroll):
    """Text that scrolls by keys: each moves on from where the one before came to, though none was drawn between."""

    def action_move(self, lines: int) -> None:
        """Scroll by lines."""
        self.call_after_refresh(self.scroll_relative, y=lines, animate=False, immediate=True)

    def action_page(self, pages: float) -> None:
        """Scroll by what fits into the widget, or by a part of that."""
        self.call_after_refresh(self._scroll_pages, pages)

    def _scroll_pages(self, pages: float) -> None:
        self.scroll_relative(y=round(pages * self.size.height), animate=False, immediate=True)

    def action_first(self) -> None:
        """Scroll to the top."""
        self.scroll_home(animate=False)

    def action_last(self) -> None:
        """Scroll to the end."""
        self.scroll_end(animate=False)


class Lines(Widget):
    """Cells, one per line, wrapped, inside a scrolling container.

    A changed line is painted alone. The screen is laid out again only if the lines do not fit, before or after the
    change. Text after a first span of `hang` cells, a label, is wrapped with that indentation.
    """

    DEFAULT_CSS = "Lines { width: 100%; height: auto; min-height: 100%; }"

    def __init__(self, *, hang: int = 0, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self._hang = hang
        self._said: tuple[Cell, ...] = ()
        self._painted: list[Strip] = []
        self._drawn: dict[Cell, list[Strip]] = {}
        self._styles: Mapping[Tone, RichStyle] = {}
        self._drawn_width = -1
        """The width that they were drawn for; -1 if they must be drawn anew."""

    def say(self, said: Sequence[Cell]) -> None:
        """Show these lines; unchanged lines cost nothing."""
        if (said := tuple(said)) == self._said:
            return
        before, self._said = self._painted, said
        after = self._draw(self.size.width)
        if not self.size or max(len(before), len(after)) > self._room:
            self.refresh(layout=True)
            return
        pairs = enumerate(zip_longest(before, after, fillvalue=self._blank))
        changed = [Region(0, y, self.size.width, 1) for y, (old, new) in pairs if old is not new]
        if changed:
            self.refresh(*changed)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return how many lines the cells take at this width."""
        return len(self._painted if width == self._drawn_width else self._draw(width))

    def render_line(self, y: int) -> Strip:
        """Return one line."""
        strips = self._painted if self.size.width == self._drawn_width else self._draw(self.size.width)
        return selectable(strips[y] if y < len(strips) else self._blank, y, self)

    def get_selection(self, selection: Selection) -> tuple[str, str]:
        """Return the text that is selected with the mouse."""
        return selected_text(self._painted, selection)

    def notify_style_update(self) -> None:
        """Draw everything anew, because the theme may have changed."""
        super().notify_style_update()
        self._drawn_width = -1

    @property
    def _room(self) -> int:
        """Height of the container."""
        return self.parent.size.height if isinstance(self.parent, Widget) else 0

    @property
    def _blank(self) -> Strip:
        return cell_strip((), self._drawn_width, self._styles)

    def _draw(self, width: int) -> list[Strip]:
        """Draw the lines that were not drawn before; from row to row, most lines of a detail are the same."""
        if width != self._drawn_width:
            self._drawn_width, self._drawn, self._styles = width, {}, tone_styles(self)
        self._drawn = {
            cell: self._drawn.get(cell)
            or ([cell_strip(cell, width, self._styles)] if _length(cell) <= width else self._wrapped(cell))
            for cell in dict.fromkeys(self._said)
        }
        self._painted = [strip for cell in self._said for strip in self._drawn[cell]]
        return self._painted

    def _wrapped(self, cell: Cell) -> list[Strip]:
        """Return a cell wrapped to several lines, each of which costs five times as much; a label stays on the left."""
        labelled = bool(cell) and cell_len(cell[0][0]) == self._hang < self._drawn_width
        visual = Hanging(cell[:1], cell[1:]) if labelled else content(cell)
        return Visual.to_strips(self, visual, self._drawn_width, None, self.visual_style, pad=True) or [self._blank]


def _length(cell: Cell) -> int:
    return sum(cell_len(text) for text, _ in cell)
