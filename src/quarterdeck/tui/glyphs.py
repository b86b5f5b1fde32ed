"""The look of each state: a glyph and a tone beside its word, so that colour is never the only sign."""

import os
from functools import cache

from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.text import Shown

_LOOKS: dict[tuple[str, str, Tone], tuple[str, ...]] = {
    ("◔", "~", Tone.BUSY): (
        "Starting",
        "starting",
        "Sandbox starting",
        "Sandbox resuming",
        "asked for",
        "open",
        "runs on",
    ),
    ("◔", "~", Tone.WARN): ("No answer",),
    ("◑", "-", Tone.BUSY): ("Pausing", "Sandbox pausing", "Deleting"),
    ("◐", "+", Tone.BUSY): ("Resuming",),
    ("●", ">", Tone.GOOD): ("Running", "Working"),
    ("‖", "=", Tone.REST): ("Paused", "Agent paused", "Sandbox paused"),
    ("◆", "!", Tone.WARN): ("Needs you",),
    ("✓", "v", Tone.GOOD): ("Finished", "done"),
    ("○", "o", Tone.PLAIN): ("Idle",),
    ("○", "?", Tone.MUTED): ("Missing",),
    ("○", "?", Tone.WARN): ("gone",),
    ("✕", "x", Tone.BAD): ("Error", "Sandbox error"),
    ("✕", "x", Tone.WARN): ("Stuck",),
    ("✗", "x", Tone.BAD): ("failed",),
    ("✗", "x", Tone.WARN): ("rejected",),
    ("·", ".", Tone.PLAIN): ("waiting",),
    ("·", ".", Tone.MUTED): ("Sandbox missing", "quiet"),
    ("!", "!", Tone.WARN): ("unchanged",),
    ("↺", "-", Tone.WARN): ("undone",),
    ("■", "#", Tone.MUTED): ("stopped",),
    ("-", "-", Tone.MUTED): ("skipped",),
}
"""The state words that share a look: glyph, its ASCII replacement for terminals without colour, and tone."""
GLYPHS = {word: look for look, words in _LOOKS.items() for word in words}

UNKNOWN = ("·", ".", Tone.PLAIN)
WATCHED = ("◉", "@", Tone.KEY)
"""The sign of a watched conversation."""


def glyph(word: str) -> tuple[Shown, Tone]:
    """Return the sign and tone of a state word; an unknown word gets a dot, and without colour the sign is ASCII."""
    return drawn(GLYPHS.get(word, UNKNOWN))


def signed(word: str, said: Shown | None = None, tone: Tone | None = None) -> Cell:
    """Return a sign with the state word, or with `said` instead; `tone` replaces the usual tone."""
    sign, usual = glyph(word)
    return ((Shown(f"{sign} {said or text.line(word)}"), tone or usual),)


def drawn(variants: tuple[str, str, Tone]) -> tuple[Shown, Tone]:
    """Return a sign as this terminal shows it, and its tone."""
    sign, stand_in, tone = variants
    return Shown(stand_in if in_ascii() else sign), tone


@cache
def in_ascii() -> bool:
    """Whether colour is not wanted (no-color.org), so that signs are ASCII; checked once."""
    return bool(os.environ.get("NO_COLOR"))
