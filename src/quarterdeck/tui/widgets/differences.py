"""What of a line has to be sent to the terminal again when it becomes another one."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import zip_longest

from rich.cells import get_character_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

GAP = 5
"""Unchanged cells that are painted again rather than gone past, which takes as many bytes."""


def differing_regions(widget: Widget, y: int, old: Strip, new: Strip) -> list[Region]:
    """The parts of a line of a widget that must be painted again; there may be none, and yet it is another line."""
    widget._styles_cache.set_dirty(Region(0, y, 1, 1))
    return [Region(x, y, end - x, 1) for x, end in differing_spans(old, new)]


def differing_spans(old: Iterable[Segment], new: Iterable[Segment]) -> list[tuple[int, int]]:
    """From which cells to which one line must be painted again to become another one of the same width."""
    old, new = list(old), list(new)
    if len(old) == 1 and not old[0].text.strip(" "):
        return _written(new, old[0].style)
    skipped, old_middle, new_middle = _middles(old, new)
    before, before_styles = _cells(old_middle)
    after, after_styles = _cells(new_middle)
    pairs = zip_longest(before, after, before_styles, after_styles)
    changed = [
        x
        for x, (was, becomes, style, other) in enumerate(pairs)
        if was != becomes or (style is not other and _looks_otherwise(style, other, blank=becomes == " "))
    ]
    spans: list[tuple[int, int]] = []
    for x in changed:
        if spans and x - spans[-1][1] <= GAP:
            spans[-1] = spans[-1][0], x + 1
        else:
            spans.append((x, x + 1))
    return [(skipped + _start(after, start), skipped + _end(after, end)) for start, end in spans]


def _written(line: Sequence[Segment], blank: Style | None) -> list[tuple[int, int]]:
    """The part of a line that is not blank at its end; what is written where nothing was need not be looked through."""
    width = sum(segment.cell_length for segment in line)
    text, style, _ = line[-1] if line else Segment("")
    if not _looks_otherwise(style, blank, blank=True):
        width -= len(text) - len(text.rstrip(" "))
    return [(0, width)] if width else []


def _middles(old: list[Segment], new: list[Segment]) -> tuple[int, list[Segment], list[Segment]]:
    """Two lines without the segments they begin and end with alike; first the cells that those in front take."""
    shorter = min(len(old), len(new))
    start = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    end = next((at for at in range(shorter - start) if old[-1 - at] != new[-1 - at]), shorter - start)
    skipped = sum(segment.cell_length for segment in old[:start])
    return skipped, old[start : len(old) - end], new[start : len(new) - end]


def _cells(line: Iterable[Segment]) -> tuple[list[str], list[Style | None]]:
    """The character in each cell of a line, the second of a wide one empty, and its style."""
    characters: list[str] = []
    styles: list[Style | None] = []
    for text, style, _ in line:
        shown = text if text.isascii() else _spread(text)
        characters += shown
        styles += [style] * len(shown)
    return characters, styles


def _spread(text: str) -> list[str]:
    cells: list[str] = []
    for character in text:
        cells += [character, *[""] * (get_character_cell_size(character) - 1)]
    return cells


@lru_cache(maxsize=1024)
def _looks_otherwise(style: Style | None, other: Style | None, *, blank: bool) -> bool:
    """Whether a cell looks another way in the other style; of a blank only the ground counts."""
    return _ground(style) != _ground(other) if blank else style != other


def _ground(style: Style | None) -> Style | None:
    lined = style is not None and (style.reverse or style.underline or style.strike)
    return style if style is None or lined else style.background_style


def _start(cells: Sequence[str], x: int) -> int:
    return x - 1 if x and x < len(cells) and not cells[x] else x


def _end(cells: Sequence[str], x: int) -> int:
    return x + 1 if x < len(cells) and not cells[x] else x
