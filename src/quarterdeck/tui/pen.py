"""Writes pieces of lines to a terminal, saying of each style only what is new in it and can be seen.

A style takes up to 40 bytes, most often more than the words in it, and a terminal may be far away.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from rich.color import ColorSystem
from rich.console import Console
from rich.segment import Segment
from rich.style import Style

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
_OFF = {
    "22": frozenset({"1", "2"}),
    "23": frozenset({"3"}),
    "24": frozenset({"4", "21"}),
    "25": frozenset({"5", "6"}),
    "27": frozenset({"7"}),
    "28": frozenset({"8"}),
    "29": frozenset({"9"}),
    "54": frozenset({"51", "52"}),
    "55": frozenset({"53"}),
}
"""What each number switches off."""
_LINED = frozenset({"4", "7", "9", "21", "51", "52", "53"})
"""What is seen of a blank besides its ground."""


class _Ink(NamedTuple):
    """A style as the numbers that say it."""

    switches: frozenset[str] = frozenset()
    front: tuple[str, ...] = ()
    ground: tuple[str, ...] = ()


_PLAIN = _Ink()


class Pen:
    """Collects what is written; it begins and ends with the terminal's own style."""

    def __init__(self, console: Console) -> None:
        self._colours = console._color_system
        self._ink = _PLAIN
        self._line: int | None = None
        self._written: list[str] = []

    def write(self, x: int, y: int, segments: Iterable[Segment]) -> None:
        """Write a piece of a line from a cell on, both counted from 0."""
        self._written.append(f"\x1b[{x + 1}G" if y == self._line else f"\x1b[{y + 1};{x + 1}H")
        self._line = y
        for text, style, _ in segments:
            if self._colours is not None:
                ink = _ink(style, self._colours) if style is not None else _PLAIN
                self._turn_to(ink if text.strip(" ") else _blank(self._ink, ink))
            self._written.append(text)

    @property
    def written(self) -> str:
        """All of it."""
        return "".join(self._written) + _turn(self._ink, _PLAIN)

    def _turn_to(self, ink: _Ink) -> None:
        if ink is not self._ink:
            self._written.append(_turn(self._ink, ink))
            self._ink = ink


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


@lru_cache(maxsize=1024)
def _turn(was: _Ink, becomes: _Ink) -> str:
    """What turns one ink into another: what is new in it, or all of it where that is less."""
    if was == becomes:
        return ""
    afresh = ["0", *_news(_PLAIN, becomes)]
    return f"\x1b[{min(';'.join(_news(was, becomes)), ';'.join(afresh), key=len)}m"


def _news(was: _Ink, becomes: _Ink) -> Iterator[str]:
    """The numbers that make one ink of the other."""
    switched_off: frozenset[str] = frozenset()
    for number, switches in _OFF.items():
        if switches & (was.switches - becomes.switches):
            switched_off |= switches
            yield number
    yield from sorted(becomes.switches - (was.switches - switched_off))
    if becomes.front != was.front:
        yield from becomes.front or ("39",)
    if becomes.ground != was.ground:
        yield from becomes.ground or ("49",)


@lru_cache(maxsize=1024)
def _blank(was: _Ink, becomes: _Ink) -> _Ink:
    """The ink nearest to one in which a blank looks as it does in the other."""
    if (was.switches | becomes.switches) & _LINED:
        return becomes
    return was if was.ground == becomes.ground else was._replace(ground=becomes.ground)


@lru_cache(maxsize=1024)
def _ink(style: Style, colours: ColorSystem) -> _Ink:
    front, ground = style.color, style.bgcolor
    return _Ink(
        frozenset(number for name, number in _SWITCHES.items() if getattr(style, name)),
        front.downgrade(colours).get_ansi_codes() if front is not None else (),
        ground.downgrade(colours).get_ansi_codes(foreground=False) if ground is not None else (),
    )
