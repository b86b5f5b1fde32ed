"""Longer things that the settings say: why there is nothing to edit, what came back different, what an undo can do."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.settings.changes import Restored
from quarterdeck.settings.journal import Saved
from quarterdeck.settings.verify import Difference
from quarterdeck.tui import text
from quarterdeck.tui.cells import EMPTY, Cell, Tone, cell
from quarterdeck.tui.dialogs.left_edits import when
from quarterdeck.tui.text import Shown

if TYPE_CHECKING:
    from quarterdeck.fleet.session import Session


def why_nothing(session: Session | None, error: ServiceError | None) -> list[Cell]:
    """Why there are no settings to edit, and what can be done."""
    if error is not None:
        refused = error.kind in (ErrorKind.AUTH, ErrorKind.DENIED)
        said = [cell(text.line(error.words), Tone.BAD), *([cell(text.line(error.advice))] if error.advice else ())]
        what_to_do = "c enters a key." if refused else "ctrl+r tries again, c chooses a server."
        return [*said, EMPTY, cell(Shown(what_to_do), Tone.MUTED)]
    if session is not None and session.key_refused:
        return [cell(Shown("The server refused the key."), Tone.BAD), EMPTY, cell(Shown("c enters a key."))]
    return [cell(Shown("Loading the settings…"), Tone.BUSY)]


def difference_lines(differences: Iterable[Difference]) -> list[Cell]:
    """What was meant and what the server holds, field by field."""
    said: list[Cell] = []
    for difference in differences:
        note = "" if difference.asked else "  (not changed by this save)"
        said.append(((text.line(difference.label), Tone.STRONG), (Shown(note), Tone.MUTED)))
        said.append(((Shown("  meant  "), Tone.MUTED), (text.line(difference.meant), Tone.PLAIN)))
        said.append(((Shown("  holds  "), Tone.MUTED), (text.line(difference.found), Tone.WARN)))
        if difference.note:
            said.append(cell(text.line(f"  {difference.note}"), Tone.MUTED))
    return said


def undo_lines(saved: Saved, undo: Restored, now: datetime) -> list[Cell]:
    """Which save is taken back, and what of it stays as it is."""
    said = [
        cell(
            Shown(f"This takes back the save of {when(saved.when, now)}."),
            Tone.STRONG,
        )
    ]
    if undo.left_out:
        said.append(
            cell(text.line(f"Cannot be brought back, for secrets are not kept: {', '.join(undo.left_out)}."), Tone.WARN)
        )
    if undo.moved:
        said.append(cell(text.line(f"Changed again since, and left alone: {', '.join(undo.moved)}."), Tone.WARN))
    return said


def taken_up_lines(restored: Restored) -> list[Cell]:
    """What of some kept edits is not as it was left; nothing where all is."""
    said: list[Cell] = []
    if restored.left_out:
        said.append(cell(text.line(f"Not kept, for it may be secret; type it again: {', '.join(restored.left_out)}.")))
    if restored.moved:
        moved = ", ".join(restored.moved)
        said.append(cell(text.line(f"Changed on the server since, and edited here: {moved}."), Tone.WARN))
    return said
