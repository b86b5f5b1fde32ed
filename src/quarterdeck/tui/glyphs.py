"""The look of each state: a glyph and a tone beside its word, so that colour is never the only sign."""

import os
from functools import cache

from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.text import Shown

GLYPHS: dict[str, tuple[str, str, Tone]] = {
    "Starting": ("◔", "~", Tone.BUSY),
    "starting": ("◔", "~", Tone.BUSY),
    "Running": ("●", ">", Tone.GOOD),
    "Paused": ("‖", "=", Tone.REST),
    "Error": ("✕", "x", Tone.BAD),
    "Missing": ("○", "?", Tone.MUTED),
    "Pausing": ("◑", "-", Tone.BUSY),
    "Resuming": ("◐", "+", Tone.BUSY),
    "Working": ("●", ">", Tone.GOOD),
    "Needs you": ("◆", "!", Tone.WARN),
    "Finished": ("✓", "v", Tone.GOOD),
    "Idle": ("○", "o", Tone.PLAIN),
    "Agent paused": ("‖", "=", Tone.REST),
    "Stuck": ("✕", "x", Tone.WARN),
    "Deleting": ("◑", "-", Tone.BUSY),
    "Sandbox paused": ("‖", "=", Tone.REST),
    "Sandbox pausing": ("◑", "-", Tone.BUSY),
    "Sandbox starting": ("◔", "~", Tone.BUSY),
    "Sandbox resuming": ("◔", "~", Tone.BUSY),
    "No answer": ("◔", "~", Tone.WARN),
    "failed": ("✗", "x", Tone.BAD),
    "rejected": ("✗", "x", Tone.WARN),
    "Sandbox error": ("✕", "x", Tone.BAD),
    "Sandbox missing": ("·", ".", Tone.MUTED),
    "done": ("✓", "v", Tone.GOOD),
    "unchanged": ("!", "!", Tone.WARN),
    "undone": ("↺", "-", Tone.WARN),
    "gone": ("○", "?", Tone.WARN),
    "asked for": ("◔", "~", Tone.BUSY),
    "waiting": ("·", ".", Tone.PLAIN),
    "stopped": ("■", "#", Tone.MUTED),
    "skipped": ("-", "-", Tone.MUTED),
    "open": ("◔", "~", Tone.BUSY),
    "runs on": ("◔", "~", Tone.BUSY),
    "quiet": ("·", ".", Tone.MUTED),
}
"""Glyph, its ASCII replacement for terminals without colour, and tone, by state word."""

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
