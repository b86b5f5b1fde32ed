"""A status that flips: what it just left is not believed at once when it is read again (reliability.md fault 50)."""

from datetime import datetime, timedelta
from typing import NamedTuple

SETTLES = timedelta(seconds=30)
"""After a change, and after each flip, in which going back is doubted."""


class Flip(NamedTuple):
    """What a sandbox was before it became what it is."""

    left: str
    """The word it had."""
    at: datetime
    """When it was left, or last read again without being believed."""
    again: bool = False
    """The last reading said so again; a second one in a row is believed."""


def doubted(flip: Flip | None, word: str, now: datetime) -> Flip | None:
    """The flip to remember in place of a change to this word; None when the change is to be believed."""
    if flip is None or flip.again or word != flip.left or now - flip.at >= SETTLES:
        return None
    return flip._replace(at=now, again=True)


def quietened(flip: Flip | None) -> Flip | None:
    """What to remember when a reading said again what it is."""
    return flip._replace(again=False) if flip is not None and flip.again else flip
