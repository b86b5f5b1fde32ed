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
from quarterdeck.tui.commands import bindings
from quarterdeck.tui.dialogs.pick import Item, PickDialog
from quarterdeck.tui.screen import DeckScreen
from quarterdeck.tui.text import Shown, escaped

FILE = "copied.txt"
NOTE = cell("Copying uses the terminal (OSC 52). If yours does not support it, f saves to a file.", Tone.MUTED)
NAME_WIDE = 12
PREVIEW = 50
"""Characters of a value shown before it is copied."""


@dataclass(frozen=True)
class Copyable:
    """Something that can be copied, or saved to a file; it contains no secret."""

    name: str
    value: str
    to_file: bool = False


def conversation_copies(row: ConversationRow) -> list[Copyable]:
    """Return what can be copied of a conversation, or of a start task."""
    offered = (
        ("id", row.id),
        ("what failed", row.state.note if row.task is not None else None),
        ("sandbox id", row.sandbox_id),
        ("title", " ".join(row.title.split())),
        ("JSON", as_json(conversation_plain(row.record)) if row.record is not None else None),
    )
    return [Copyable(name, value) for name, value in offered if value]


def as_json(data: dict[str, Any]) -> str:
    """Return JSON data as it is copied."""
    return json.dumps(data, indent=2, ensure_ascii=False)


class CopyDialog(PickDialog[Copyable]):
    """Choose what to copy, and whether to a file."""

    BINDINGS = bindings({"f": "to_file"})

    def __init__(self, title: str, offered: Sequence[Copyable]) -> None:
        items = [Item(_line(each), each) for each in offered]
        super().__init__(f"Copy of {title}", items, take="copy", said=(NOTE,), hints=(("f", "save to a file"),))

    def action_to_file(self) -> None:
        """Answer with the line under the cursor, for a file."""
        if self.value is not None:
            self.dismiss(replace(self.value, to_file=True))


def _line(each: Copyable) -> Cell:
    whole = text.line(each.value[: 2 * PREVIEW])
    begins = whole if len(whole) <= PREVIEW else Shown(f"{whole[: PREVIEW - 1]}…")
    return (Shown(f"{each.name:<{NAME_WIDE}}"), Tone.KEY), (begins, Tone.PLAIN)


async def copy(screen: DeckScreen, what: Copyable) -> None:
    """Copy the choice, or save it to a file that only its owner can read, and show a message."""
    if not what.to_file:
        screen.say(screen.app.copy_text(f"the {what.name}", what.value, "; y then f saves it to a file"))
        return
    path = screen.app.crash_folder / FILE
    content = escaped(what.value)
    try:
        await asyncio.to_thread(write, path, content if content.endswith("\n") else f"{content}\n")
    except OSError as error:
        words = f"{path} could not be written: {error.strerror}. Free some space there, or make it writable."
        screen.say(words, Tone.BAD)
    else:
        screen.say(f"Saved the {what.name} to {path}.{text.escape_note(what.value)}", Tone.GOOD)
