"""Conversations that came to something since somebody last looked at them; no server keeps this.

All moments are seconds since 1970. Decks beside each other keep one file: for each conversation the later reading and
the later look win.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from math import inf, nextafter
from typing import Annotated, ClassVar, NamedTuple

from pydantic import Field

from quarterdeck.client.models.conversation import Conversation
from quarterdeck.fleet.ages import ServerClock
from quarterdeck.fleet.conversations import ConversationState, ConversationWord, conversation_state
from quarterdeck.fleet.kept import KeptModel, Part
from quarterdeck.fleet.news import About

KEPT = 2_000
"""Conversations that are kept, those of which there was news last."""
AT_WORK = ConversationWord.WORKING
Moment = Annotated[float, Field(ge=0, lt=1e11, allow_inf_nan=False)]
"""Seconds since 1970 that a clock may show."""


class Outcome(NamedTuple):
    """What a conversation came to last, or that it is at work on it."""

    word: str
    after: Moment
    """When it was last known to be otherwise; while it is at work, when that was last read. 0 if it was always so."""
    looked: Moment = 0.0
    """When somebody last looked at what it had come to."""
    updated: Moment = 0.0
    """The server's own moment of its last change, as last read."""

    @property
    def unread(self) -> bool:
        """Whether nobody looked since."""
        return self.word != AT_WORK and self.looked <= self.after

    @property
    def moment(self) -> float:
        """When there was news of it last."""
        return max(self.after, self.looked, self.updated)


class KeptUnread(KeptModel):
    """What was read and looked at."""

    kind: ClassVar[str] = "unread"
    since: Moment
    conversations: dict[str, Outcome]


class Unread(Part[KeptUnread]):
    """The marks of one server.

    A state of rest, as when its sandbox is paused, neither sets nor takes away a mark.
    """

    MODEL = KeptUnread
    ABOUT = About.CONVERSATIONS
    WHAT = "Which conversations you have read"
    SHARED = True

    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        """The conversations that carry the mark."""
        self._known: dict[str, Outcome] = {}
        self._elsewhere: set[str] = set()
        """Those that only another run or another deck has read so far."""
        self._since: float | None = None
        """What nothing is known of and changed last before this moment is not news; None at first.

        It is never in the future, whatever the file says: a clock may have been wrong.
        """

    def __contains__(self, conversation_id: str) -> bool:
        return conversation_id in self.ids

    def _know(self, conversation_id: str, outcome: Outcome) -> None:
        self._known[conversation_id] = outcome
        if outcome.unread:
            self.ids.add(conversation_id)
        else:
            self.ids.discard(conversation_id)

    # What is read and looked at

    def read(
        self, records: Iterable[Conversation], last_told: Mapping[str, str | None], clock: ServerClock
    ) -> frozenset[str]:
        """Take a reading; gives the conversations whose mark may have changed."""
        states = ((record, conversation_state(record, last_told.get(record.id))) for record in records)
        return frozenset(
            record.id
            for record, state in states
            if self.observe(record.id, state, clock.here(record.updated_at), clock.now)
        )

    def observe(self, conversation_id: str, state: ConversationState, updated: datetime | None, now: datetime) -> bool:
        """Take what a reading says of a conversation; whether that is news."""
        moment = now.timestamp()
        self._since = moment if self._since is None else min(self._since, moment)
        before = self._known.get(conversation_id)
        if state.word == AT_WORK:
            after = Outcome(state.word, moment, before.looked if before else 0.0)
        elif state.came_to_something:
            changed = updated.timestamp() if updated is not None else 0.0
            after = self._came_to(conversation_id, state.word, changed, moment)
        else:
            return False
        self._know(conversation_id, after)
        self._elsewhere.discard(conversation_id)
        if before is not None and (before.word, before.unread) == (after.word, after.unread):
            return False
        self.changed.set()
        return True

    def _came_to(self, conversation_id: str, word: str, changed: float, moment: float) -> Outcome:
        before = self._known.get(conversation_id)
        if before is None:
            news = changed > (self._since or 0.0)
            return Outcome(word, min(changed, moment), 0.0, changed) if news else Outcome(word, 0.0, moment, changed)
        if before.word == AT_WORK:
            return before._replace(word=word, updated=changed)
        meanwhile = conversation_id in self._elsewhere and changed > before.moment
        if before.word == word and not meanwhile:
            return before._replace(updated=max(before.updated, changed))
        return Outcome(word, max(before.after, before.looked), before.looked, changed)

    def looked(self, conversation_ids: Iterable[str], now: datetime) -> frozenset[str]:
        """Note that somebody looked at these; gives those at which there was anything to see."""
        seen = set()
        for each in conversation_ids:
            outcome = self._known.get(each)
            if outcome is not None and outcome.word != AT_WORK:
                self._know(each, outcome._replace(looked=max(now.timestamp(), nextafter(outcome.after, inf))))
                seen.add(each)
                self.changed.set()
        return frozenset(seen)

    # From run to run, and from deck to deck

    def recall(self, kept: KeptUnread | None) -> frozenset[str]:
        """Take what an earlier run or another deck kept; gives the conversations whose mark it changed."""
        before = frozenset(self.ids)
        if kept is not None:
            self._since = max(kept.since, self._since or 0.0)
            for each, theirs in kept.conversations.items():
                mine = self._known.get(each)
                self._know(each, _joined(mine, theirs))
                if mine is None:
                    self._elsewhere.add(each)
        return before ^ self.ids

    def merge(self) -> Callable[[KeptUnread | None], KeptUnread | None]:
        """What makes the next file of the one there is."""
        mine, since = dict(self._known), self._since
        return lambda kept: _merged(mine, since, kept)


def _merged(mine: Mapping[str, Outcome], since: float | None, kept: KeptUnread | None) -> KeptUnread | None:
    both = dict(mine)
    if kept is not None:
        since = max(kept.since, since or 0.0)
        both.update((each, _joined(mine.get(each), theirs)) for each, theirs in kept.conversations.items())
    if since is None:
        return None
    worth = [(each, outcome) for each, outcome in both.items() if outcome.after or outcome.updated > since]
    worth.sort(key=lambda item: item[1].moment, reverse=True)
    since = max([since, *(outcome.updated for _, outcome in worth[KEPT:])])
    return KeptUnread(since=since, conversations=dict(worth[:KEPT]))


def _joined(mine: Outcome | None, theirs: Outcome) -> Outcome:
    """What two decks know of one conversation: the later reading and the later look."""
    if mine is None:
        return theirs
    latest = theirs if theirs.after > mine.after else mine
    return latest._replace(looked=max(mine.looked, theirs.looked), updated=max(mine.updated, theirs.updated))
