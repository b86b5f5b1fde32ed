"""A line of the frame that paints only what changed: it changes often, and stands before somebody far away."""

from __future__ import annotations

from textual.strip import Strip
from textual.visual import Visual, visualize
from textual.widget import Widget

from quarterdeck.tui.widgets.differences import differing_regions


class OneLine(Widget):
    """One line of what it renders; whoever changes that calls `say_again`."""

    ALLOW_SELECT = False
    _strip: Strip | None = None

    def render_line(self, y: int) -> Strip:
        """The line."""
        if self._strip is None or self._strip.cell_length != self.size.width:
            self._strip = self._draw()
        return self._strip

    def say_again(self) -> None:
        """Have what differs from what was painted last painted anew."""
        before = self._strip
        if before is None or before.cell_length != self.size.width:
            self.refresh()
            return
        self._strip = self._draw()
        if changed := differing_regions(self, 0, before, self._strip):
            self.refresh(*changed)

    def notify_style_update(self) -> None:
        """The theme may be another one."""
        super().notify_style_update()
        self._strip = None

    def _draw(self) -> Strip:
        said = visualize(self, self.render())
        strips = Visual.to_strips(self, said, self.size.width, 1, self.visual_style, pad=True)
        return strips[0] if strips else Strip.blank(self.size.width)
