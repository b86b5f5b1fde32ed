"""Styles as the numbers that a terminal is told them by, and what turns one into another."""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from rich.color import ColorSystem
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


class Ink(NamedTuple):
    """A style as the numbers that say it."""

    switches: frozenset[str] = frozenset()
    front: tuple[str, ...] = ()
    ground: tuple[str, ...] = ()


OWN = Ink()
"""That of the terminal itself."""
PLAIN = "\x1b[0m"
"""What gives a terminal its own style back."""


@lru_cache(maxsize=1024)
def ink_of(style: Style, colours: ColorSystem) -> Ink:
    """The ink of a style, of as many colours as a terminal has."""
    front, ground = style.color, style.bgcolor
    return Ink(
        frozenset(number for name, number in _SWITCHES.items() if getattr(style, name)),
        front.downgrade(colours).get_ansi_codes() if front is not None else (),
        ground.downgrade(colours).get_ansi_codes(foreground=False) if ground is not None else (),
    )


@lru_cache(maxsize=1024)
def turn(was: Ink, becomes: Ink) -> str:
    """What turns one ink into another: what is new in it, or all of it where that is less."""
    if was == becomes:
        return ""
    afresh = ["0", *_news(OWN, becomes)]
    return f"\x1b[{min(';'.join(_news(was, becomes)), ';'.join(afresh), key=len)}m"


@lru_cache(maxsize=1024)
def of_blank(ink: Ink, instead: Ink) -> Ink:
    """The ink nearest to another in which a blank looks as it does in this one."""
    if (ink.switches | instead.switches) & _LINED:
        return ink
    return instead if instead.ground == ink.ground else instead._replace(ground=ink.ground)


def _news(was: Ink, becomes: Ink) -> Iterator[str]:
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
