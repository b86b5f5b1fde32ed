"""What can be copied of a row, and the file it is saved to where a terminal takes no copies."""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.models.base import plain
from quarterdeck.tui.text import Shown, escaped

if TYPE_CHECKING:
    from quarterdeck.client.models.conversation import Conversation
    from quarterdeck.client.models.sandbox import Sandbox
    from quarterdeck.fleet.conversations import ConversationRow

FILE = "copied.txt"
ESCAPED = " What acts on a terminal is written as \\u escapes."
"""Said of a copy that is not the same letter by letter."""


@dataclass(frozen=True)
class Copyable:
    """Something that can be copied; it holds no secret."""

    name: Shown
    value: str

    @property
    def note(self) -> str:
        """What to say of the copy besides that there is one."""
        return ESCAPED if escaped(self.value) != self.value else ""


def sandbox_json(record: Sandbox) -> str:
    """A sandbox as JSON, without its key and the queries of its addresses."""
    data = plain(record, "session_api_key", "exposed_urls")
    data["exposed_urls"] = [{"name": url.name, "url": url.address, "port": url.port} for url in record.exposed_urls]
    return _json(data)


def conversation_json(record: Conversation) -> str:
    """A conversation as JSON, without its key and its address, which may hold one."""
    return _json(plain(record, "session_api_key", "conversation_url"))


def conversation_copies(row: ConversationRow) -> list[Copyable]:
    """What can be copied of a conversation, or of the start of one."""
    offered = [Copyable(Shown("id"), row.id)]
    if row.task is not None and row.state.note:
        offered.append(Copyable(Shown("what failed"), row.state.note))
    if row.sandbox_id is not None:
        offered.append(Copyable(Shown("sandbox id"), row.sandbox_id))
    if row.title:
        offered.append(Copyable(Shown("title"), " ".join(row.title.split())))
    if row.record is not None:
        offered.append(Copyable(Shown("JSON"), conversation_json(row.record)))
    return offered


def _json(data: dict[str, Any]) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False)


async def save_copy(folder: Path, what: Copyable) -> Path:
    """Write it to a file that only its owner can read, and give that file; raises ServiceError(LOCAL)."""
    path = folder / FILE
    try:
        await asyncio.to_thread(_write, path, escaped(what.value))
    except OSError as error:
        raise ServiceError(
            ErrorKind.LOCAL, f"{path} could not be written: {error.strerror}.", "Free some space there, or allow it."
        ) from None
    return path


def _write(path: Path, value: str) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(value if value.endswith("\n") else f"{value}\n")
