"""Writes pieces of lines to a terminal, saying of each style only what is new in it.

A style takes up to 40 bytes, most often more than the words in it, and a terminal may be far away.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from rich.color import ColorSystem
from rich.console import Console
from rich.segment import Segment
from rich.style import Style

_PLAIN = Style.null()
_RESET = "\x1b[0m"
_SWITCHES = {
    "bold": "1",
    "dim": "2",
    "italic": "3",
    "underline": "4",
    "blink": "5",
    "blink2": "6",
    "reverse": "7",
    "conceal": "8",
    "strike": "9",
    "underline2": "21",
    "frame": "51",
    "encircle": "52",
    "overline": "53",
}
"""What is switched on by a number (ECMA-48 section 8.3.117)."""


class Pen:
    """Collects what is written; it begins and ends with the terminal's own style."""

    def __init__(self, console: Console) -> None:
        self._colours = console._color_system
        self._style = _PLAIN
        self._written: list[str] = []

    def write(self, x: int, y: int, segments: Iterable[Segment]) -> None:
        """Write a piece of a line from a cell on, both counted from 0."""
        self._written.append(f"\x1b[{y + 1};{x + 1}H")
        for text, style, _ in segments:
            if self._colours is not None:
                self._turn_to(style or _PLAIN, self._colours)
            self._written.append(text)

    @property
    def written(self) -> str:
        """All of it."""
        end = _RESET if self._style is not _PLAIN else ""
        return "".join(self._written) + end

    def _turn_to(self, style: Style, colours: ColorSystem) -> None:
        self._written.append(_turn(self._style, style, colours))
        self._style = style


def cut_out(line: Iterable[Segment], start: int, end: int) -> Iterator[Segment]:
    """The part of a line from one cell to the one behind it; half of a wide character is a blank."""
    x = 0
    for segment in line:
        next_x = x + segment.cell_length
        if next_x > start and x < end:
            yield segment if start <= x and next_x <= end else _cut(segment, max(start - x, 0), min(end, next_x) - x)
        x = next_x


def _cut(segment: Segment, start: int, end: int) -> Segment:
    if segment.text.isascii():
        return Segment(segment.text[start:end], segment.style)
    return segment.split_cells(end)[0].split_cells(start)[1]


class _Ink(NamedTuple):
    switches: frozenset[str]
    front: tuple[str, ...]
    ground: tuple[str, ...]


@lru_cache(maxsize=1024)
def _turn(before: Style, after: Style, colours: ColorSystem) -> str:
    """What turns one style into another."""
    was, becomes = _ink(before, colours), _ink(after, colours)
    if not was.switches <= becomes.switches:  # there is no number that switches just one of them off
        return _RESET + _turn(_PLAIN, after, colours)
    said = sorted(becomes.switches - was.switches)
    if becomes.front != was.front:
        said += becomes.front or ("39",)
    if becomes.ground != was.ground:
        said += becomes.ground or ("49",)
    return f"\x1b[{';'.join(said)}m" if said else ""


@lru_cache(maxsize=1024)
def _ink(style: Style, colours: ColorSystem) -> _Ink:
    front, ground = style.color, style.bgcolor
    return _Ink(
        frozenset(number for name, number in _SWITCHES.items() if getattr(style, name)),
        front.downgrade(colours).get_ansi_codes() if front is not None else (),
        ground.downgrade(colours).get_ansi_codes(foreground=False) if ground is not None else (),
    )
