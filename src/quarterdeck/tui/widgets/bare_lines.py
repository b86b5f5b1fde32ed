"""A widget that is its lines and nothing around them."""

from rich.style import Style as RichStyle
from textual.color import Color
from textual.dom import NoScreen
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget


class BareLines(Widget):
    """Lines without border, padding, outline, tint or opacity.

    Textual looks all of these up whenever a line is drawn, which takes several times as long as to draw it.
    """

    _ground: tuple[Color, RichStyle] | None = None
    """The colour behind the lines, and a blank of it, once it was looked up."""

    @property
    def size(self) -> Size:
        """How large it was laid out; Textual looks for it on the screen, and takes off what is around a content."""
        return self.outer_size

    def draw_again(self, *parts: Region) -> None:
        """Have these parts of it drawn when the screen is drawn next; the first time it draws all of it anyway.

        Textual's `refresh` also forgets what other widgets keep, and takes messages from task to task to say so.
        """
        try:
            screen = self.screen
        except NoScreen:
            return
        if screen in screen._compositor:
            self._repaint_regions.update(parts)
            screen._dirty_widgets.add(self)
            screen._update_timer.resume()

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines of `render_line`, as wide as the widget, cut as asked."""
        width = self.size.width
        ground, blank = self._ground = self._ground or self._look_up_ground()
        strips = [self.render_line(y).adjust_cell_length(width, blank) for y in crop.line_range]
        for line_filter in self.get_line_filters():
            strips = [strip.apply_filter(line_filter, ground) for strip in strips]
        if crop.column_span != (0, width):
            strips = [strip.crop(*crop.column_span) for strip in strips]
        return strips

    def _look_up_ground(self) -> tuple[Color, RichStyle]:
        ground = self.background_colors[1]
        return ground, Style(background=ground).rich_style

    def notify_style_update(self) -> None:
        """The theme may be another one."""
        super().notify_style_update()
        self._ground = None
