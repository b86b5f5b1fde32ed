"""A scrollbar that paints only what changed of it: its list grows and moves, and most of it looks as before."""

from __future__ import annotations

from rich.segment import Segment
from textual.geometry import Region
from textual.reactive import Reactive
from textual.scrollbar import ScrollBar


class ThriftyScrollBar(ScrollBar):
    """A vertical scrollbar; Textual's own is painted anew as a whole with each row that comes."""

    window_virtual_size: Reactive[int] = Reactive(100, repaint=False)
    window_size: Reactive[int] = Reactive(0, repaint=False)
    position: Reactive[float] = Reactive(0.0, repaint=False)

    def __init__(self, *, thickness: int) -> None:
        super().__init__(name="vertical", thickness=thickness)
        self._painted: list[Segment] = []

    def watch_window_virtual_size(self) -> None:
        """The list is longer or shorter."""
        self._repaint()

    def watch_window_size(self) -> None:
        """More or less of it fits the screen."""
        self._repaint()

    def watch_position(self) -> None:
        """Another part of it is on the screen."""
        self._repaint()

    def on_resize(self) -> None:
        """All of it is painted for another size."""
        self._painted = self._drawn()

    def _repaint(self) -> None:
        """Ask for the cells that no longer look as they were painted, or that a click on would scroll the other way."""
        before, self._painted = self._painted, self._drawn()
        if len(before) != len(self._painted):  # its size is another one, and it is not told of that yet
            self.refresh()
            return
        lines = [y for y, (was, becomes) in enumerate(zip(before, self._painted, strict=True)) if was != becomes]
        if lines:
            self.refresh(*(Region(0, y, self.thickness, 1) for y in lines))

    def _drawn(self) -> list[Segment]:
        """One cell a line, in colours of no matter."""
        bar = self.renderer.render_bar(
            size=self.size.height,
            virtual_size=self.window_virtual_size,
            window_size=self.window_size,
            position=self.position,
        )
        return list(bar.segments)
