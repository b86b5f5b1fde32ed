"""The conversations that are watched through one connection: kept true by readings, told of, kept for the next run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from quarterdeck.fleet.conversations import ConversationState, conversation_state
from quarterdeck.fleet.watched import Watched, WatchedSet
from quarterdeck.tui.live.carrying import Carried, Carrying
from quarterdeck.tui.live.news import About, News

if TYPE_CHECKING:
    from quarterdeck.client.errors import ServiceError
    from quarterdeck.client.models.conversation import Conversation
    from quarterdeck.config.connections import Connection
    from quarterdeck.fleet.watch import Watch
    from quarterdeck.tui.notes import Notes

KIND = "watched"
"""The kind of note they are kept as."""


class WatchedConversations:
    """What is watched in one session; `publish` is told of what a person wants to know, `look` when others are read."""

    def __init__(
        self,
        notes: Notes,
        endpoint: Connection,
        conversations: Watch[Conversation],
        last_told: Mapping[str, str | None],
        publish: Callable[[News], None],
        clock: Callable[[], datetime],
        look: Callable[[], None],
    ) -> None:
        self._watched = WatchedSet()
        self._conversations = conversations
        self._last_told = last_told
        self._publish = publish
        self._clock = clock
        self._look = look
        carried = Carried(KIND, self._recall, lambda: self._watched.snapshot().to_note)
        self._carrying = Carrying(notes, endpoint, (carried,), self._not_carried)

    def __contains__(self, conversation_id: str) -> bool:
        return conversation_id in self._watched

    def __len__(self) -> int:
        return len(self._watched)

    @property
    def ids(self) -> Sequence[str]:
        """The ids of all of them."""
        return tuple(self._watched.ids)

    @property
    def by_urgency(self) -> Sequence[Watched]:
        """All of them, the one that needs a person most first."""
        return self._watched.by_urgency

    async def run(self) -> None:
        """Read what an earlier run watched, and note down what is, until cancelled."""
        await self._carrying.run()

    # What a person asks for

    def begin(self, conversation_ids: Iterable[str]) -> Sequence[str]:
        """Watch these as well; gives those for which there was no room."""
        now, left_out = self._clock(), []
        for each in (asked := tuple(conversation_ids)):
            record = self._conversations.records.get(each)
            if record is not None and not self._watched.begin(record, self._state(record), now):
                left_out.append(each)
        self._changed(asked)
        return left_out

    def end(self, conversation_ids: Iterable[str]) -> None:
        """Watch these no longer."""
        for each in (asked := tuple(conversation_ids)):
            self._watched.end(each)
        self._changed(asked)

    def _changed(self, conversation_ids: Iterable[str]) -> None:
        self._carrying.changed()
        self._look()
        self._publish(News(About.CONVERSATIONS, frozenset(conversation_ids)))

    # What is read

    def read(self) -> None:
        """Take what is known of them after a reading."""
        now, turns, gone = self._clock(), [], []
        for each in self.ids:
            record = self._conversations.records.get(each)
            if record is not None:
                if self._watched.observe(record, self._state(record), now):
                    turns.append(f"{record.title or each}: {self._state(record).word}.")
            elif not self._conversations.health.incomplete:
                gone.append(each)
        if turns:
            self._carrying.changed()
            self._publish(News(About.CONVERSATIONS, words=" ".join(turns), everywhere=True, call=True))
        if gone:
            self._drop(gone)

    def _drop(self, gone: Sequence[str]) -> None:
        titles = [watched.title or watched.id for each in gone if (watched := self._watched.end(each)) is not None]
        self._changed(gone)
        words = f"{', '.join(titles)} is gone, so it is watched no longer."
        if len(titles) > 1:
            words = f"{', '.join(titles)} are gone, so they are watched no longer."
        self._publish(News(About.CONVERSATIONS, words=words, everywhere=True))

    def _state(self, record: Conversation) -> ConversationState:
        return conversation_state(record, self._last_told.get(record.id))

    # From run to run

    def _recall(self, note: Any) -> None:
        self._watched.recall(note)
        if self._watched:
            self._look()
            self.read()
            self._publish(News(About.CONVERSATIONS, frozenset(self.ids)))

    def _not_carried(self, error: ServiceError) -> None:
        words = f"Which conversations you watch is not noted down for the next run: {error.words} {error.advice}"
        self._publish(News(About.CONVERSATIONS, words=words))
