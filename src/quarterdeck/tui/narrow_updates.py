"""Draws no more lines, and sends the terminal no more of a line, than was asked to be painted.

Textual cuts what it writes at the end of a changed region only: each update begins where the widget does.
"""

from collections.abc import Iterable, Sequence

from rich.console import Console
from textual._compositor import ChopsUpdate, Compositor
from textual.geometry import Region, Size
from textual.strip import Strip

from quarterdeck.tui.pen import Pen


class NarrowUpdate(ChopsUpdate):
    """Changed spans of the screen, cut at both of their ends."""

    def render_segments(self, console: Console) -> str:
        """The spans as they are written to the terminal."""
        pen = Pen(console)
        for y, start, end in self.spans:
            for chop_end, (x, strip) in zip(self.chop_ends[y], self.chops[y].items(), strict=False):
                left, right = max(x, start), min(chop_end, end)
                if strip is not None and left < right:
                    pen.write(left, y, strip.crop(left - x, right - x))
        return pen.written


class NarrowCompositor(Compositor):
    """Puts the widgets of a screen together, and updates narrowly.

    Textual has each widget draw all its lines from the first changed line of the screen to the last; here those that
    changed are drawn, and of the widgets those that are seen there.
    """

    def __init__(self) -> None:
        super().__init__()
        self._bands: Sequence[Region] = ()
        """What is being updated."""

    def render_partial_update(self) -> ChopsUpdate | None:
        """What changed on the screen; None for nothing."""
        self._bands = bands(self._dirty_regions, self.size)
        try:
            update = super().render_partial_update()
        finally:
            self._bands = ()
        return None if update is None else NarrowUpdate(update.chops, update.spans, update.chop_ends)

    def _get_renders(self, crop: Region | None = None) -> Iterable[tuple[Region, Region, list[Strip]]]:
        if not self._bands:
            yield from super()._get_renders(crop)
        for band in self._bands:
            line = Region(0, band.y, self.size.width, band.height)
            for widget, (region, clip) in self.visible_widgets.items():  # from the front
                shown = clip.intersection(line)
                drawn = region.intersection(shown)
                if drawn.overlaps(band):
                    yield region, shown, widget.render_lines(drawn.translate(-region.offset))
                if drawn.contains_region(band):
                    break


def bands(regions: Iterable[Region], screen: Size) -> list[Region]:
    """The parts of a screen that regions touch, as one region for lines that follow each other, from the top."""
    spans: dict[int, Region] = {}
    for region in regions:
        for y in region.intersection(screen.region).line_range:
            span = Region(region.x, y, region.width, 1)
            spans[y] = spans[y].union(span) if y in spans else span
    joined: list[Region] = []
    for y in sorted(spans):
        if joined and joined[-1].bottom == y:
            joined[-1] = joined[-1].union(spans[y])
        else:
            joined.append(spans[y])
    return joined
