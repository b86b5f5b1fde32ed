"""The parts of a line in a list or detail: safe text with a tone."""

from enum import StrEnum

from quarterdeck.tui import text
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


def cell(words: str, tone: Tone = Tone.PLAIN) -> Cell:
    """Return any text as a cell of one tone: one safe line, without spaces around it."""
    return ((text.line(words), tone),)


def indented(words: Shown, tone: Tone) -> Cell:
    """Return an indented line."""
    return ((Shown("  "), tone), (words, tone))


EMPTY: Cell = ()
DASH: Cell = cell("-", Tone.MUTED)
"""A placeholder for an empty value."""
