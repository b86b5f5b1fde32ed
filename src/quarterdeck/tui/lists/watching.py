"""What a person does to the watched conversations, and the sentence that says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quarterdeck.fleet.notify import MOST
from quarterdeck.tui import text
from quarterdeck.tui.cells import Tone
from quarterdeck.tui.text import Shown

if TYPE_CHECKING:
    from quarterdeck.fleet.session import Session


def toggle(session: Session, conversation_ids: Sequence[str], *, quiet: bool) -> tuple[Shown, Tone]:
    """Watch these, or end it where all of them are watched already."""
    what = _named(session, conversation_ids)
    if all(each in session.watched for each in conversation_ids):
        session.unwatch(conversation_ids)
        return text.line(f"No longer watching {what}."), Tone.PLAIN
    left_out = session.watch(conversation_ids)
    if left_out:
        return Shown(f"{MOST} can be watched at a time; {len(left_out)} of these are not. w again ends one."), Tone.WARN
    tells = "this line says" if quiet else "a bell says"
    return text.line(f"Watching {what}: {tells} when it needs you or ends."), Tone.GOOD


def _named(session: Session, conversation_ids: Sequence[str]) -> str:
    if len(conversation_ids) > 1:
        return f"{len(conversation_ids)} conversations"
    record = session.conversations.records.get(conversation_ids[0])
    return (record.title if record is not None else None) or conversation_ids[0]
