"""Messages that were not sent, kept between runs: those that no deck has open, and those of each deck.

A deck changes only what it has open, so that two of them lose nothing of each other. What a deck that ended still had
open counts as open nowhere.
"""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import ClassVar
from uuid import uuid4

from pydantic import BaseModel

from quarterdeck.client.errors import ServiceError
from quarterdeck.fleet.kept import KeptModel
from quarterdeck.fleet.session import Session
from quarterdeck.tui.kept_state import KeptState
from quarterdeck.tui.processes import is_running, this_process

NOT_KEPT = "The draft is not kept"


class Draft(BaseModel, frozen=True):
    """A message to a conversation that was not sent."""

    conversation: str
    text: str = ""
    perhaps_sent: tuple[str, ...] = ()
    """The parts of it that are being sent, or were when their deck ended."""
    deck: str = ""
    """The deck that has it open; empty if none has."""
    process: str = ""
    """The process of that deck."""


class MessageDrafts(KeptModel):
    """The contents of the state file."""

    kind: ClassVar[str] = "drafts"
    drafts: tuple[Draft, ...] = ()


class Drafts:
    """The messages of one deck to one server that were not sent; `say` says that they cannot be stored or read."""

    def __init__(self, state: KeptState, about: str, say: Callable[[str], None]) -> None:
        self.sending: list[Draft] = []
        """What is being sent."""
        self._state = state
        self._about = about
        self._say = say
        self._name = uuid4().hex
        self._open: dict[str, Draft] = {}
        """What is typed here, by conversation."""
        self._turn = asyncio.Lock()

    def of(self, conversation_id: str) -> Draft:
        """Return what is typed in a conversation, or was when it could not be stored."""
        return self._open.get(conversation_id) or Draft(conversation=conversation_id)

    def typed(self, conversation_id: str, words: str) -> None:
        """Note what is typed in an open conversation."""
        self._open[conversation_id] = self.of(conversation_id).model_copy(update={"text": words})

    async def open(self, conversation_id: str) -> None:
        """Take over what is kept for a conversation and open nowhere."""

        def take(others: list[Draft]) -> list[Draft]:
            free = [each for each in others if each.conversation == conversation_id and not is_running(each.process)]
            found = sorted((*free, self.of(conversation_id)), key=lambda draft: not draft.perhaps_sent)
            perhaps_sent = tuple(part for each in found for part in each.perhaps_sent if part in each.text)
            text = _joined(each.text for each in found)
            self._open[conversation_id] = Draft(conversation=conversation_id, text=text, perhaps_sent=perhaps_sent)
            return [each for each in others if each not in free]

        await self._change(take, "Drafts cannot be read")

    async def keep(self) -> None:
        """Store what is typed and what is being sent."""
        await self._change(lambda others: others)

    async def close(self, conversation_id: str, more: str = "") -> None:
        """Give what is typed in a conversation, and `more`, to whoever opens it next."""
        self.typed(conversation_id, _joined((more, self.of(conversation_id).text)))
        closed = Draft(conversation=conversation_id)
        await self._change(lambda others: [*others, self._open.pop(conversation_id, closed)])

    async def _change(self, change: Callable[[list[Draft]], list[Draft]], failed: str = NOT_KEPT) -> None:
        """Change what other decks have or none has, and store what is open here."""

        def changed(kept: MessageDrafts) -> MessageDrafts:
            others = change([each for each in kept.drafts if each.deck != self._name])
            here = {"deck": self._name, "process": this_process()}
            mine = [each.model_copy(update=here) for each in (*self.sending, *self._open.values())]
            return MessageDrafts(drafts=tuple(each for each in (*others, *mine) if each.text.strip()))

        async with self._turn:  # what is closed is written before it is opened again
            before = dict(self._open)
            try:
                await self._state.change(MessageDrafts, self._about, changed)
            except ServiceError as error:
                self._open = before | self._open  # what could not be given away stays
                self._say(f"{failed}: {error.words}")


async def drop_draft(drafts: Drafts, session: Session, conversation_id: str) -> None:
    """Drop the draft for a conversation that was deleted here, if the server does not have it any more."""
    with suppress(ServiceError):
        if await session.client.conversations.find(conversation_id) is None:
            await drafts.open(conversation_id)
            drafts.typed(conversation_id, "")
            await drafts.keep()


def _joined(texts: Iterable[str]) -> str:
    return "\n".join(text for text in texts if text.strip())
