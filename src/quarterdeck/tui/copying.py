"""Copying from a list: what can be copied of a row, the dialog to choose it, and clipboard or file.

A terminal that does not support copying still has the file.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from quarterdeck.client.models.conversation import conversation_plain
from quarterdeck.config.files import write
from quarterdeck.fleet.conversations import ConversationRow
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.dialogs.pick import Item, PickDialog, PickKey
from quarterdeck.tui.screen import DeckScreen
from quarterdeck.tui.text import Shown, escaped

FILE = "copied.txt"
NOTE = cell(Shown("Copying uses the terminal (OSC 52). If yours does not support it, f saves to a file."), Tone.MUTED)
NAME_WIDE = 12
PREVIEW = 50
"""Characters of a value shown before it is copied."""


@dataclass(frozen=True)
class Copyable:
    """Something that can be copied, or saved to a file; it contains no secret."""

    name: Shown
    value: str
    to_file: bool = False


def conversation_copies(row: ConversationRow) -> list[Copyable]:
    """Return what can be copied of a conversation, or of a start task."""
    offered = [Copyable(Shown("id"), row.id)]
    if row.task is not None and row.state.note:
        offered.append(Copyable(Shown("what failed"), row.state.note))
    if row.sandbox_id is not None:
        offered.append(Copyable(Shown("sandbox id"), row.sandbox_id))
    if row.title:
        offered.append(Copyable(Shown("title"), " ".join(row.title.split())))
    if row.record is not None:
        offered.append(Copyable(Shown("JSON"), as_json(conversation_plain(row.record))))
    return offered


def as_json(data: dict[str, Any]) -> str:
    """Return JSON data as it is copied."""
    return json.dumps(data, indent=2, ensure_ascii=False)


def pick_copy(title: Shown, offered: Sequence[Copyable]) -> PickDialog[Copyable]:
    """Return the dialog to choose what to copy, and whether to a file."""
    to_file = PickKey[Copyable]("f", "save to a file", lambda what: replace(what, to_file=True))
    items = [Item(_line(each), each) for each in offered]
    return PickDialog(Shown(f"Copy of {title}"), items, take="copy", other=to_file, said=(NOTE,))


def _line(each: Copyable) -> Cell:
    whole = text.line(each.value[: 2 * PREVIEW])
    begins = whole if len(whole) <= PREVIEW else Shown(f"{whole[: PREVIEW - 1]}…")
    return (Shown(f"{each.name:<{NAME_WIDE}}"), Tone.KEY), (begins, Tone.PLAIN)


async def copy(screen: DeckScreen, what: Copyable | None) -> None:
    """Copy the choice, or save it to a file that only its owner can read, and show a message."""
    if what is None:
        return
    if not what.to_file:
        screen.say(screen.app.copy_text(f"the {what.name}", what.value, "; y then f saves it to a file"))
        return
    path = screen.app.crash_folder / FILE
    content = escaped(what.value)
    try:
        await asyncio.to_thread(write, path, content if content.endswith("\n") else f"{content}\n")
    except OSError as error:
        words = f"{path} could not be written: {error.strerror}. Free some space there, or make it writable."
        screen.say(text.line(words), Tone.BAD)
    else:
        screen.say(text.line(f"Saved the {what.name} to {path}.{text.escape_note(what.value)}"), Tone.GOOD)
