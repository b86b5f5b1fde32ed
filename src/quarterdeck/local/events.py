"""What happens in a conversation, as real agent servers tell it: the members that clients read, and no others."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

from quarterdeck.local.bodies import Body, OpenBody
from quarterdeck.local.store import Record

DELTA = "StreamingDeltaEvent"
"""A piece of an answer that is still coming: told to whoever listens, and not kept."""


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
        """Its parts, as a log has them."""
        return [part.model_dump(exclude_unset=True) for part in self.content]

    def text(self) -> str:
        """All its text."""
        return "\n".join(part.text for part in self.content if part.type == "text")


class Policy(Body):
    """When an agent asks before it acts."""

    kind: Literal["NeverConfirm", "AlwaysConfirm", "ConfirmRisky"]
    threshold: Literal["LOW", "MEDIUM", "HIGH"] = "HIGH"


NEVER = Policy(kind="NeverConfirm")


def new_event(kind: str, source: str, event_id: str, at: datetime, **members: Any) -> Record:
    """An event; the time is told as agent servers do, without its zone."""
    timestamp = at.replace(tzinfo=None).isoformat(timespec="microseconds")
    return {"id": event_id, "timestamp": timestamp, "source": source, **members, "kind": kind}


def text_part(text: str) -> Record:
    """A part of a message that is text."""
    return {"type": "text", "text": text}


def message(role: str, parts: Sequence[Record], **more: str) -> Record:
    """The members that a message has."""
    return {"llm_message": {"role": role, "content": list(parts), **more}}
