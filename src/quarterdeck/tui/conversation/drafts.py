"""Messages that were not sent, kept between runs: those that no deck has open, and those of each deck.

A deck changes only what it has open, so that two of them lose nothing of each other. What a deck that ended still had
open counts as open nowhere.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import ClassVar
from uuid import uuid4

from pydantic import BaseModel

from quarterdeck.client.errors import ServiceError
from quarterdeck.fleet.kept import KeptModel
from quarterdeck.fleet.session import Session
from quarterdeck.tui.kept_state import KeptState
from quarterdeck.tui.processes import is_running, this_process

Texts = Mapping[str, str]
"""A text by conversation."""


class DeckDrafts(BaseModel, frozen=True):
    """What one deck has open: what is typed there, and what is being sent."""

    process: str
    texts: Texts = {}
    sending: Texts = {}


class MessageDrafts(KeptModel):
    """The contents of the state file; `texts` are those that no deck has open, `perhaps_sent` may have been sent."""

    kind: ClassVar[str] = "message-drafts"
    texts: Texts = {}
    perhaps_sent: Texts = {}
    decks: Mapping[str, DeckDrafts] = {}


class Drafts:
    """The messages of one deck to one server that were not sent; a file that cannot be used raises ServiceError."""

    def __init__(self, state: KeptState, about: str) -> None:
        self.sending: dict[str, list[str]] = {}
        """What is being sent, by conversation."""
        self._state = state
        self._about = about
        self._name = uuid4().hex
        self._open: dict[str, str] = {}
        """What is typed here, by conversation."""
        self._perhaps_sent: dict[str, str] = {}
        """The part of it that an earlier run was sending when it ended."""
        self._turn = asyncio.Lock()

    async def open(self, conversation_id: str) -> str:
        """Take over what is kept for a conversation and open nowhere; returns which part of it was perhaps sent."""

        def take(kept: MessageDrafts) -> MessageDrafts:
            ended = {name: deck for name, deck in kept.decks.items() if not is_running(deck.process)}
            sent = (kept.perhaps_sent, *(deck.sending for deck in ended.values()))
            perhaps_sent = _joined(texts.get(conversation_id, "") for texts in sent)
            typed = (kept.texts, *(deck.texts for deck in ended.values()), self._open)
            text = _joined((perhaps_sent, *(texts.get(conversation_id, "") for texts in typed)))
            self._open[conversation_id], self._perhaps_sent[conversation_id] = text, perhaps_sent
            rest = {name: _without(deck, conversation_id) for name, deck in ended.items()}
            return MessageDrafts(
                texts={**kept.texts, conversation_id: ""},
                perhaps_sent={**kept.perhaps_sent, conversation_id: ""},
                decks={**kept.decks, **rest},
            )

        await self._change(take)
        return self._perhaps_sent[conversation_id]

    def text(self, conversation_id: str) -> str:
        """Return what is typed in a conversation, or was when it could not be stored."""
        return self._open.get(conversation_id, "")

    def typed(self, conversation_id: str, words: str) -> None:
        """Note what is typed in an open conversation."""
        self._open[conversation_id] = words

    async def keep(self) -> None:
        """Store what is typed and what is being sent."""
        await self._change(lambda kept: kept)

    async def close(self, conversation_id: str, more: str = "") -> None:
        """Give what is typed in a conversation, and `more`, to whoever opens it next."""

        def give(kept: MessageDrafts) -> MessageDrafts:
            self._open.pop(conversation_id, None)
            sent = self._perhaps_sent.pop(conversation_id, "")
            sent, typed = (sent, words.replace(sent, "", 1).strip("\n")) if sent and sent in words else ("", words)
            return MessageDrafts(
                texts=_more(kept.texts, conversation_id, typed),
                perhaps_sent=_more(kept.perhaps_sent, conversation_id, sent),
                decks=kept.decks,
            )

        words = _joined((more, self._open.get(conversation_id, "")))
        try:
            await self._change(give)
        except ServiceError:
            self._open[conversation_id] = words
            raise

    async def _change(self, change: Callable[[MessageDrafts], MessageDrafts]) -> None:
        """Change what is in no deck or in ended ones, and store what is open here."""

        def changed(kept: MessageDrafts | None) -> MessageDrafts | None:
            after = change(kept or MessageDrafts())
            sending = {each: _joined(words) for each, words in self.sending.items()}
            mine = DeckDrafts(process=this_process(), texts=_not_blank(self._open), sending=_not_blank(sending))
            decks = {
                name: deck for name, deck in {**after.decks, self._name: mine}.items() if deck.texts or deck.sending
            }
            texts, perhaps_sent = _not_blank(after.texts), _not_blank(after.perhaps_sent)
            left = MessageDrafts(texts=texts, perhaps_sent=perhaps_sent, decks=decks)
            return left if texts or perhaps_sent or decks else None

        async with self._turn:  # what is closed is written before it is opened again
            await self._state.change(MessageDrafts, self._about, changed)


async def drop_draft(drafts: Drafts, session: Session, conversation_id: str) -> None:
    """Drop the draft for a conversation that was deleted here, if the server does not have it any more."""
    with suppress(ServiceError):
        if await session.client.conversations.find(conversation_id) is None:
            await drafts.open(conversation_id)
            drafts.typed(conversation_id, "")
            await drafts.keep()


def _joined(texts: Iterable[str]) -> str:
    return "\n".join(text for text in texts if text.strip())


def _more(texts: Texts, conversation_id: str, words: str) -> Texts:
    return {**texts, conversation_id: _joined((texts.get(conversation_id, ""), words))}


def _not_blank(texts: Texts) -> dict[str, str]:
    return {each: text for each, text in texts.items() if text.strip()}


def _without(deck: DeckDrafts, conversation_id: str) -> DeckDrafts:
    texts, sending = ({**texts, conversation_id: ""} for texts in (deck.texts, deck.sending))
    return DeckDrafts(process=deck.process, texts=_not_blank(texts), sending=_not_blank(sending))
