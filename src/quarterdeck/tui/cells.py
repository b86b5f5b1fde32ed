"""What a line of a list or a detail is made of: safe text with a tone. Tones are the deck's one visual language."""

from enum import StrEnum

from quarterdeck.tui.text import Shown


class Tone(StrEnum):
    """What a piece of text means; the theme gives each its colour, and the words say it without colour."""

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
    """A cell of one tone."""
    return ((text, tone),)


def indented(text: Shown, tone: Tone = Tone.PLAIN) -> Cell:
    """A line of its own under another one."""
    return ((Shown("  "), tone), (text, tone))


EMPTY: Cell = ()
DASH: Cell = cell(Shown("-"), Tone.MUTED)
"""What stands where there is nothing to say."""
