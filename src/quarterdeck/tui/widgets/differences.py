"""What of a line has to be sent to the terminal again when it becomes another one."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from rich.cells import get_character_cell_size
from rich.segment import Segment
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

GAP = 8
"""Unchanged cells that are painted again rather than gone past, which takes as many bytes."""


def differing_regions(widget: Widget, y: int, old: Strip, new: Strip) -> list[Region]:
    """The parts of a line of a widget that must be painted again; there may be none, and yet it is another line."""
    widget._styles_cache.set_dirty(Region(0, y, 1, 1))
    return [Region(x, y, end - x, 1) for x, end in differing_spans(old, new)]


def differing_spans(old: Iterable[Segment], new: Iterable[Segment]) -> list[tuple[int, int]]:
    """From which cells to which one line must be painted again to become another one of the same width."""
    skipped, old_middle, new_middle = _middles(list(old), list(new))
    before, after = list(_cells(old_middle)), list(_cells(new_middle))
    spans: list[tuple[int, int]] = []
    for x in [x for x, (one, other) in enumerate(zip_longest(before, after)) if one != other]:
        if spans and x - spans[-1][1] <= GAP:
            spans[-1] = spans[-1][0], x + 1
        else:
            spans.append((x, x + 1))
    return [(skipped + _start(after, start), skipped + _end(after, end)) for start, end in spans]


def _middles(old: list[Segment], new: list[Segment]) -> tuple[int, list[Segment], list[Segment]]:
    """Two lines without the segments they begin and end with alike; first the cells that those in front take."""
    shorter = min(len(old), len(new))
    start = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    end = next((at for at in range(shorter - start) if old[-1 - at] != new[-1 - at]), shorter - start)
    skipped = sum(segment.cell_length for segment in old[:start])
    return skipped, old[start : len(old) - end], new[start : len(new) - end]


def _cells(line: Iterable[Segment]) -> Iterator[tuple[str, object]]:
    """What each cell of a line shows: the second of a wide character is empty, of a blank only the ground counts."""
    for text, style, _ in line:
        ground = style
        if style is not None and not (style.reverse or style.underline or style.strike):
            ground = style.background_style
        for character in text:
            yield character, ground if character == " " else style
            for _ in range(get_character_cell_size(character) - 1):
                yield "", style


def _start(cells: Sequence[tuple[str, object]], x: int) -> int:
    return x - 1 if x and x < len(cells) and not cells[x][0] else x


def _end(cells: Sequence[tuple[str, object]], x: int) -> int:
    return x + 1 if x < len(cells) and not cells[x][0] else x
