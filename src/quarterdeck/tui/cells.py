"""The parts of a line in a list or detail: safe text with a tone."""

from enum import StrEnum

from quarterdeck.tui.text import Shown


class Tone(StrEnum):
    """The meaning of a piece of text; the theme gives each a colour, and the words say the same without colour."""

    PLAIN = "plain"
    STRONG = "strong"
    MUTED = "muted"
    GOOD = "good"
    BUSY = "busy"
    REST = "rest"
    WARN = "warn"
    BAD = "bad"
    EDITED = "edited"
    KEY = "key"


Span = tuple[Shown, Tone]
Cell = tuple[Span, ...]


def cell(text: Shown, tone: Tone = Tone.PLAIN) -> Cell:
    """Return a cell of one tone."""
    return ((text, tone),)


def indented(text: Shown, tone: Tone) -> Cell:
    """Return an indented line."""
    return ((Shown("  "), tone), (text, tone))


EMPTY: Cell = ()
DASH: Cell = cell(Shown("-"), Tone.MUTED)
"""A placeholder for an empty value."""
