"""How each state looks: a glyph and a tone, beside its word, so that colour says nothing alone."""

from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.text import Shown, line

GLYPHS: dict[str, tuple[str, str, Tone]] = {
    "Starting": ("◔", "~", Tone.BUSY),
    "Running": ("●", ">", Tone.GOOD),
    "Paused": ("‖", "=", Tone.REST),
    "Error": ("✕", "x", Tone.BAD),
    "Missing": ("○", "?", Tone.MUTED),
    "Pausing": ("◑", "-", Tone.BUSY),
    "Resuming": ("◐", "+", Tone.BUSY),
    "Working": ("●", ">", Tone.GOOD),
    "Needs you": ("◆", "!", Tone.WARN),
    "Finished": ("✓", "v", Tone.GOOD),
    "Ready": ("○", "o", Tone.PLAIN),
    "Agent paused": ("‖", "=", Tone.REST),
    "Stuck": ("✕", "x", Tone.WARN),
    "Deleting": ("◑", "-", Tone.BUSY),
    "Asleep": ("‖", "=", Tone.REST),
    "Waking": ("◔", "~", Tone.BUSY),
    "Sandbox error": ("✕", "x", Tone.BAD),
    "Archived": ("·", ".", Tone.MUTED),
}
"""State word -> glyph, its stand-in for terminals without colour or Unicode, tone."""

UNKNOWN = ("·", ".", Tone.PLAIN)


def glyph(word: str, *, ascii_only: bool = False) -> tuple[Shown, Tone]:
    """The sign and tone of a state word; a word we do not know gets a dot."""
    sign, stand_in, tone = GLYPHS.get(word, UNKNOWN)
    return Shown(stand_in if ascii_only else sign), tone


def status_cell(word: str, note: str = "", *, ascii_only: bool = False) -> Cell:
    """Glyph, word and an optional quiet note."""
    sign, tone = glyph(word, ascii_only=ascii_only)
    cell: Cell = ((sign, tone), (Shown(" "), Tone.PLAIN), (line(word), tone))
    if note:
        cell += ((Shown(" "), Tone.PLAIN), (line(note), Tone.MUTED))
    return cell
