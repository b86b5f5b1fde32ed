"""The events of a conversation in the form of real agent servers, with only the members that clients read."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

from quarterdeck.local.bodies import Body, OpenBody
from quarterdeck.local.store import Record

DELTA = "StreamingDeltaEvent"
"""A fragment of an answer that is being written: sent to listeners, and not stored."""

CONTEXT = 200_000
"""The size of the simulated model's context window in tokens."""
DOLLARS_PER_TOKEN = 4e-6
"""Its price."""


class Part(OpenBody):
    """A part of a message: text, or images by address."""

    type: Literal["text", "image"]
    text: str = ""


class MessageBody(Body):
    """A message of a person."""

    role: Literal["user"] = "user"
    content: list[Part] = []
    run: bool = True

    def parts(self) -> list[Record]:
        """Return its parts, as in a log."""
        return [part.model_dump(exclude_unset=True) for part in self.content]

    def text(self) -> str:
        """Return all its text."""
        return "\n".join(part.text for part in self.content if part.type == "text")


class Policy(Body):
    """When an agent asks before it acts."""

    kind: Literal["NeverConfirm", "AlwaysConfirm", "ConfirmRisky"]
    threshold: Literal["LOW", "MEDIUM", "HIGH"] = "HIGH"


NEVER = Policy(kind="NeverConfirm")


def new_event(kind: str, source: str, event_id: str, at: datetime, **members: Any) -> Record:
    """Return an event; its time has no zone, as on agent servers."""
    timestamp = at.replace(tzinfo=None).isoformat(timespec="microseconds")
    return {"id": event_id, "timestamp": timestamp, "source": source, **members, "kind": kind}


def text_part(text: str) -> Record:
    """Return a text as a part of a message."""
    return {"type": "text", "text": text}


def message(role: str, parts: Sequence[Record], **more: str) -> Record:
    """Return the members of a message."""
    return {"llm_message": {"role": role, "content": list(parts), **more}}
