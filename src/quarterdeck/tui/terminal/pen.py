"""Writes parts of lines to a terminal, saying of each style only what is new in it and can be seen.

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


_OWN = _Ink()
"""That of the terminal itself."""
PLAIN = "\x1b[0m"
"""What gives a terminal its own style back."""
Part = tuple[int, int, Iterable[Segment]]
"""Cell and line where a part of a line begins, both counted from 0, and what is written there."""


class Pen:
    """Writes to one terminal, and knows in which style the terminal is left.

    So what is written next need not say again what it has in common with what was written last.
    """

    def __init__(self, console: Console) -> None:
        self._colours = console._color_system
        self._ink = _OWN

    def write(self, parts: Iterable[Part]) -> str:
        """Parts of lines, as the terminal is sent them."""
        return "".join(self._words(parts))

    def put_down(self) -> str:
        """What the terminal is sent before somebody else writes, or when somebody else may have written."""
        self._ink = _OWN
        return PLAIN if self._colours is not None else ""

    def _words(self, parts: Iterable[Part]) -> Iterator[str]:
        line = None
        for x, y, segments in parts:
            yield f"\x1b[{x + 1}G" if y == line else f"\x1b[{y + 1};{x + 1}H"
            line = y
            for text, style, _ in segments:
                if self._colours is not None:
                    ink = _ink(style, self._colours) if style is not None else _OWN
                    yield self._turn_to(ink if text.strip(" ") else _blank(self._ink, ink))
                yield text

    def _turn_to(self, ink: _Ink) -> str:
        if ink is self._ink:
            return ""
        before, self._ink = self._ink, ink
        return _turn(before, ink)


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
    afresh = ["0", *_news(_OWN, becomes)]
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
