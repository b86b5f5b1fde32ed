"""Draws no more of a screen, and sends the terminal no more of it, than is changed and seen.

Textual has each widget draw all its lines from the first changed line of the screen to the last, those behind others
too, begins each update where a widget does, and says each style in full.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import groupby, pairwise
from typing import NamedTuple

from rich.console import Console
from textual._compositor import Compositor, CompositorUpdate, LayoutUpdate
from textual.geometry import Region, Size
from textual.strip import Strip

from quarterdeck.tui.terminal.pen import Part, Pen, cut_out

Span = tuple[int, int, int]
"""A line and the columns of a part of it: the first, and the first behind it."""


class Piece(NamedTuple):
    """A part of a line of the screen, from one column to the one behind it, and what shows there."""

    start: int
    end: int
    strip: Strip
    """What a widget drew of the line; the part is cut out of it when it is written."""
    at: int
    """The column at which the strip begins."""


Pieces = Mapping[int, Sequence[Piece]]
"""What is drawn on each line, from the left."""


class NarrowUpdate(CompositorUpdate):
    """Changed spans of the screen, cut at both of their ends.

    Nothing is kept of the cutting: a strip that Textual cuts keeps each part of itself, a kilobyte each.
    """

    def __init__(self, pen: Pen, size: Size, pieces: Pieces, spans: Iterable[Span]) -> None:
        self._pen = pen
        self._size = size
        self._pieces = pieces
        self._spans = spans

    def render_segments(self, console: Console) -> str:
        """The spans as they are written to the terminal."""
        return self._pen.write(self._parts(), self._size)

    def _parts(self) -> Iterator[Part]:
        for y, start, end in self._spans:
            for piece in self._pieces.get(y, ()):
                left, right = max(piece.start, start), min(piece.end, end)
                if left < right:
                    yield left, y, cut_out(piece.strip, left - piece.at, right - piece.at)


class NarrowCompositor(Compositor):
    """Puts the widgets of a screen together, and has what changed written by the one pen of its app."""

    def __init__(self, pen: Pen) -> None:
        super().__init__()
        self._pen = pen

    def render_partial_update(self) -> NarrowUpdate | None:  # type: ignore[override]
        """What changed on the screen; None for nothing."""
        screen = self.size.region
        spans = list(self._regions_to_spans([region.intersection(screen) for region in self._dirty_regions]))
        self._dirty_regions.clear()
        return NarrowUpdate(self._pen, self.size, self._draw(spans), spans) if spans else None

    def render_full_update(self, simplify: bool = False) -> LayoutUpdate | NarrowUpdate:  # type: ignore[override]
        """All of the screen; simplified for a picture."""
        if simplify:
            return super().render_full_update(simplify)
        self._dirty_regions.clear()
        spans = [(y, 0, self.size.width) for y in range(self.size.height)]
        return NarrowUpdate(self._pen, self.size, self._draw(spans), spans)

    def _render_chops(self, crop: Region, is_rendered_line: Callable[[int], bool]) -> Sequence[Mapping[int, Strip]]:
        """What is drawn on each line by its first column, cut as it is seen: for pictures."""
        pieces = self._draw([(y, crop.x, crop.right) for y in crop.line_range if is_rendered_line(y)])
        return [
            {piece.start: piece.strip.crop(piece.start - piece.at, piece.end - piece.at) for piece in pieces.get(y, ())}
            for y in range(len(self.cuts))
        ]

    def _draw(self, spans: Iterable[Span]) -> Pieces:
        """Have each widget draw those of its lines that are seen in the spans."""
        pieces: dict[int, list[Piece]] = {}
        missing = _touched(spans, self.cuts)
        for widget, (region, clip) in self.visible_widgets.items():  # from the front
            shown = region.intersection(clip)
            for top, height in _runs(_seen(shown, missing)):
                strips = widget.render_lines(Region(shown.x, top, shown.width, height).translate(-region.offset))
                for y, strip in enumerate(strips, top):
                    for start, end in pairwise(self.cuts[y]):
                        if start in missing[y] and shown.x <= start and end <= shown.right:
                            pieces.setdefault(y, []).append(Piece(start, end, strip, shown.x))
                            missing[y].discard(start)
        return {y: sorted(line) for y, line in pieces.items()}


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
