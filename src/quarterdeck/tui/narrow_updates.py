"""Draws no more of a screen, and sends the terminal no more of it, than is changed and seen.

Textual has each widget draw all its lines from the first changed line of the screen to the last, those behind others
too, begins each update where a widget does, and says each style in full.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import groupby, pairwise

from rich.console import Console
from textual._compositor import ChopsUpdate, Compositor, LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip

from quarterdeck.tui.pen import Pen

Span = tuple[int, int, int]
"""A line and the columns of a part of it: the first, and the first behind it."""
Chops = list[dict[int, Strip | None]]
"""What is drawn on each line, by the column at which it begins; None where nothing is drawn anew."""


class NarrowUpdate(ChopsUpdate):
    """Changed spans of the screen, cut at both of their ends."""

    def render_segments(self, console: Console) -> str:
        """The spans as they are written to the terminal."""
        pen = Pen(console)
        for y, start, end in self.spans:
            for chop_end, (x, strip) in zip(self.chop_ends[y], self.chops[y].items(), strict=True):
                left, right = max(x, start), min(chop_end, end)
                if strip is not None and left < right:
                    pen.write(left, y, strip.crop(left - x, right - x))
        return pen.written


class NarrowCompositor(Compositor):
    """Puts the widgets of a screen together, and updates narrowly."""

    def render_partial_update(self) -> ChopsUpdate | None:
        """What changed on the screen; None for nothing."""
        screen = self.size.region
        spans = list(self._regions_to_spans([region.intersection(screen) for region in self._dirty_regions]))
        self._dirty_regions.clear()
        return self._update(spans) if spans else None

    def render_full_update(self, simplify: bool = False) -> LayoutUpdate | ChopsUpdate:  # type: ignore[override]
        """All of the screen; simplified for a picture."""
        if simplify:
            return super().render_full_update(simplify)
        self._dirty_regions.clear()
        return self._update([(y, 0, self.size.width) for y in range(self.size.height)])

    def _update(self, spans: list[Span]) -> NarrowUpdate:
        return NarrowUpdate(self._draw(spans), spans, [line[1:] for line in self.cuts])

    def _render_chops(self, crop: Region, is_rendered_line: Callable[[int], bool]) -> Chops:  # type: ignore[override]
        return self._draw([(y, crop.x, crop.right) for y in crop.line_range if is_rendered_line(y)])

    def _draw(self, spans: Iterable[Span]) -> Chops:
        """Have each widget draw those of its lines that are seen in the spans."""
        chops: Chops = [dict.fromkeys(line[:-1]) for line in self.cuts]
        missing = _touched(spans, self.cuts)
        for widget, (region, clip) in self.visible_widgets.items():  # from the front
            shown = region.intersection(clip)
            for top, height in _runs(_seen(shown, missing)):
                strips = widget.render_lines(Region(shown.x, top, shown.width, height).translate(-region.offset))
                for y, strip in enumerate(strips, top):
                    cuts = [cut for cut in self.cuts[y] if shown.x <= cut <= shown.right]
                    parts = dict(zip(cuts, strip.divide([cut - shown.x for cut in cuts[1:]]), strict=False))
                    chops[y] |= {cut: part for cut, part in parts.items() if cut in missing[y]}
                    missing[y] -= parts.keys()
        return chops


def _touched(spans: Iterable[Span], cuts: Sequence[Sequence[int]]) -> dict[int, set[int]]:
    """Where the parts of each line begin that reach into the spans; parts go from one cut to the next."""
    touched: dict[int, set[int]] = {}
    for y, start, end in spans:
        touched.setdefault(y, set()).update(
            cut for cut, next_cut in pairwise(cuts[y]) if cut < end and next_cut > start
        )
    return touched


def _seen(shown: Region, missing: Mapping[int, Set[int]]) -> list[int]:
    """The lines, from the top, in which a part begins that is missing and within what a widget shows."""
    x, right, lines = shown.x, shown.right, range(shown.y, shown.bottom)
    return [y for y, cuts in missing.items() if y in lines and any(x <= cut < right for cut in cuts)]


def _runs(lines: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Lines that follow each other, as the first and how many."""
    for _, run in groupby(enumerate(lines), lambda numbered: numbered[1] - numbered[0]):
        first, *more = [y for _, y in run]
        yield first, 1 + len(more)
