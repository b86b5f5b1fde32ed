"""Messages that were written and not sent, by conversation: they outlive the run."""

from collections.abc import Callable, Mapping
from typing import ClassVar

from quarterdeck.fleet.kept import KeptModel


class MessageDrafts(KeptModel):
    """What stands in the state file."""

    kind: ClassVar[str] = "message-drafts"
    texts: Mapping[str, str] = {}


def with_draft(conversation_id: str, text: str) -> Callable[[MessageDrafts | None], MessageDrafts | None]:
    """What makes the next file of the one there is: with this text, or with none where it is empty."""

    def change(kept: MessageDrafts | None) -> MessageDrafts | None:
        texts = {**(kept.texts if kept is not None else {})}
        texts.pop(conversation_id, None)
        if text.strip():
            texts[conversation_id] = text
        return MessageDrafts(texts=texts) if texts else None

    return change
