"""The marks of conversations that came to something since somebody looked: kept true by readings, looks and notes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from datetime import datetime
from typing import TYPE_CHECKING, Any

from quarterdeck.fleet.conversations import conversation_state
from quarterdeck.fleet.unseen import Unseen
from quarterdeck.tui.live.carrying import Carried, Carrying
from quarterdeck.tui.live.news import About, News

if TYPE_CHECKING:
    from quarterdeck.client.errors import ServiceError
    from quarterdeck.client.models.conversation import Conversation
    from quarterdeck.config.connections import Connection
    from quarterdeck.fleet.watch import Watch
    from quarterdeck.tui.notes import Notes

KIND = "unseen"
"""The kind of note they are kept as."""


class UnseenMarks:
    """The marks of one session. Nothing is marked before it is known what earlier runs had seen."""

    def __init__(
        self,
        notes: Notes,
        endpoint: Connection,
        conversations: Watch[Conversation],
        last_told: Mapping[str, str | None],
        publish: Callable[[News], None],
        clock: Callable[[], datetime],
    ) -> None:
        self._unseen = Unseen()
        self._conversations = conversations
        self._last_told = last_told
        self._publish = publish
        self._clock = clock
        self._recalled = False
        carried = Carried(KIND, self._recall, lambda: self._unseen.snapshot().to_note, shared=True)
        self._carrying = Carrying(notes, endpoint, (carried,), self._not_carried)

    def __contains__(self, conversation_id: str) -> bool:
        return self._recalled and conversation_id in self._unseen

    async def run(self) -> None:
        """Read what was seen earlier, and note down what is seen, until cancelled."""
        await self._carrying.run()

    def read(self, records: Iterable[Conversation], other: Set[str]) -> Set[str]:
        """Take what was read; gives the conversations whose mark may have changed.

        `other` are the ids of which another record than before was read.
        """
        if not self._recalled:
            return frozenset()
        return self._take(each for each in records if each.id in other or self._unseen.awaits(each.id))

    def _take(self, records: Iterable[Conversation]) -> Set[str]:
        now = self._clock()
        news = {record.id for record in records if self._observe(record, now)}
        if news:
            self._carrying.changed()
        return news

    def _observe(self, record: Conversation, now: datetime) -> bool:
        state = conversation_state(record, self._last_told.get(record.id))
        return self._unseen.observe(record.id, state, record.updated_at, now)

    def looked(self, conversation_ids: Iterable[str]) -> None:
        """Note that somebody looks at these."""
        now = self._clock()
        if seen := frozenset(each for each in conversation_ids if self._unseen.looked(each, now)):
            self._carrying.changed()
            self._publish(News(About.CONVERSATIONS, seen))

    def _recall(self, note: Any) -> None:
        """Take what was noted: first by earlier runs, then by decks beside this one."""
        before, first = self._unseen.ids if self._recalled else frozenset(), not self._recalled
        self._unseen.recall(note)
        self._recalled = True
        if first:
            self._take(self._conversations.records.values())
        if other := frozenset(before ^ self._unseen.ids):
            self._publish(News(About.CONVERSATIONS, other))

    def _not_carried(self, error: ServiceError) -> None:
        words = f"Which conversations you have seen is not noted down for the next run: {error.words} {error.advice}"
        if not self._recalled:
            self._recall(None)
        self._publish(News(About.CONVERSATIONS, words=words))
