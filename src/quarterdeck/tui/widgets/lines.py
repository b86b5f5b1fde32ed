"""Lines of text: a widget that paints only what changed, and what scrolls it by keys."""

from collections.abc import Callable, Sequence

from rich.cells import cell_len
from textual.containers import VerticalScroll
from textual.geometry import Size
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from quarterdeck.tui.cells import Cell, Span
from quarterdeck.tui.widgets.strips import ThemedWidget, fit_cell, hanging, joined, selectable, selected_text, wrap


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


class CellLines(ThemedWidget):
    """Lines of cells: one that changed is painted alone, and text can be selected with the mouse."""

    def __init__(
        self,
        *,
        fit: Callable[[Cell, int], Sequence[Span]] = fit_cell,
        id: str | None = None,  # noqa: A002 - Textual's name for it
    ) -> None:
        """Create lines that `fit` cuts or fills to a width."""
        super().__init__(id=id)
        self._fit = fit
        self.painted: list[Cell] = []
        """What each line of the widget shows."""

    def paint(self, lines: list[Cell]) -> None:
        """Show these lines."""
        self.redraw_changed_lines(self.painted, lines)
        self.painted = lines

    def render_line(self, y: int) -> Strip:
        """Return one line."""
        line, width = self.painted[y] if y < len(self.painted) else (), self.size.width
        return selectable(joined(self._fit(line, width), width, self.tones()), y, self)

    def get_selection(self, selection: Selection) -> tuple[str, str]:
        """Return the text that is selected with the mouse."""
        return selected_text(self.painted, selection)


class Lines(CellLines):
    """Cells, one per line, wrapped, inside a scrolling container.

    The screen is laid out again only if the lines do not fit, before or after a change, or no longer fill the widget.
    Text after a first span that ends with a blank, a label or a mark, is wrapped with that indentation.
    """

    DEFAULT_CSS = "Lines { width: 100%; height: auto; min-height: 100%; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self._said: tuple[Cell, ...] = ()
        self._wrapped_for = -1
        """The width that they were wrapped for; -1 if they must be wrapped anew."""

    def say(self, said: Sequence[Cell]) -> None:
        """Show these lines; unchanged lines cost nothing."""
        if (said := tuple(said)) == self._said:
            return
        self._said = said
        lines = self._wrapped(self.size.width) if self.size else []
        shorter = len(lines) < len(self.painted) == self.size.height
        if not self.size or shorter or max(len(self.painted), len(lines)) > self._room:
            self._wrapped_for = -1
            self.refresh(layout=True)
        else:
            self.paint(lines)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return how many lines the cells take at this width."""
        return len(self._wrapped(width))

    def render_line(self, y: int) -> Strip:
        """Return one line."""
        if self._wrapped_for != self.size.width:
            self._wrapped_for = self.size.width
            self.painted = self._wrapped(self.size.width)
        return super().render_line(y)

    @property
    def _room(self) -> int:
        """Lines that can be shown without another layout."""
        return min(self.size.height, self.parent.size.height) if isinstance(self.parent, Widget) else 0

    def _wrapped(self, width: int) -> list[Cell]:
        return [line for cell in self._said for line in self._lines_of(cell, width)]

    def _lines_of(self, cell: Cell, width: int) -> list[Cell]:
        hangs = len(cell) > 1 and cell[0][0].endswith(" ") and cell_len(cell[0][0]) < width
        return hanging(cell[:1], cell[1:], width) if hangs else wrap(cell, width)
