"""Conversations that came to something since somebody last looked at them, and those of them that ring.

No server keeps this. Moments are seconds since 1970. Decks beside each other keep one file: for each conversation the
later reading and the later look win.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from math import inf, nextafter
from typing import Annotated, ClassVar, NamedTuple

from pydantic import Field

from quarterdeck.client.models.conversation import Conversation
from quarterdeck.fleet.ages import ServerClock
from quarterdeck.fleet.conversations import Category, ConversationState, ConversationWord, conversation_state
from quarterdeck.fleet.kept import KeptModel
from quarterdeck.fleet.news import About, News

KEPT = 2_000
"""Conversations that are kept, those of which there was news last."""
MOST = 20
"""Conversations that can be watched at a time: each is read at every tick."""
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
    def since(self) -> float:
        """About when it came to that; 0 while it is at work."""
        return 0.0 if self.word == AT_WORK else max(self.after, self.updated)

    @property
    def moment(self) -> float:
        """When there was news of it last."""
        return max(self.after, self.looked, self.updated)


class Watched(NamedTuple):
    """A conversation that rings when it comes to something; its title is the server's own, raw."""

    id: str
    title: str
    state: ConversationState | None
    """None before this run has read it."""
    since: float
    """About when it came to what it is at; 0 where that is nothing, or nobody knows."""

    @property
    def named(self) -> str:
        """What to call it, raw."""
        return self.title or self.id

    @property
    def urgency(self) -> tuple[int, float]:
        """What stands first needs a person most: a question, trouble, a result; of equal ones the latest."""
        state = self.state
        if state is None:
            return 4, 0.0
        if state.category is Category.WAITING:
            return 0, -self.since
        if state.attention:
            return 1, -self.since
        return (2 if state.came_to_something else 3), -self.since


class KeptUnread(KeptModel):
    """What was read and looked at, and the titles of what is watched."""

    kind: ClassVar[str] = "unread"
    since: Moment
    conversations: dict[str, Outcome]
    watched: dict[str, str] = {}


class Unread:
    """The marks of one server, and the conversations watched on it.

    A state of rest, as when its sandbox is paused, neither sets nor takes away a mark.
    """

    model = KeptUnread

    def __init__(self) -> None:
        self.changed = asyncio.Event()
        self.watched: dict[str, str] = {}
        """The titles of what is watched, as last read."""
        self._ended: set[str] = set()
        """What was watched earlier and is not to be taken from a file again."""
        self.ids: set[str] = set()
        """The conversations that carry the mark."""
        self._known: dict[str, Outcome] = {}
        self._elsewhere: set[str] = set()
        """Those that only another run or another deck has read so far."""
        self._since: float | None = None
        """What nothing is known of and changed last before this moment is not news; None at first.

        It is never in the future, whatever the file says: a clock may have been wrong.
        """

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
        moment, changed = clock.now.timestamp(), set()
        self._since = moment if self._since is None else min(self._since, moment)
        for record in records:
            if record.id in self.watched:
                self.watched[record.id] = record.title or ""
            state = conversation_state(record, last_told.get(record.id))
            if self._observe(record.id, state, clock.here(record.updated_at), moment):
                changed.add(record.id)
        return frozenset(changed)

    def _observe(self, conversation_id: str, state: ConversationState, updated: datetime | None, moment: float) -> bool:
        """Take what a reading says of a conversation; whether that is news."""
        before = self._known.get(conversation_id)
        if state.word == AT_WORK:
            after = Outcome(state.word, moment, before.looked if before else 0.0)
        elif state.came_to_something:
            after = self._came_to(conversation_id, state.word, updated.timestamp() if updated else 0.0, moment)
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

    # What rings

    def watch(self, records: Iterable[Conversation]) -> list[str]:
        """Watch these as well; gives those for which there was no room."""
        left_out = []
        for record in records:
            if record.id in self.watched or len(self.watched) < MOST:
                self._ended.discard(record.id)
                self.watched[record.id] = record.title or ""
            else:
                left_out.append(record.id)
        self.changed.set()
        return left_out

    def unwatch(self, conversation_ids: Iterable[str]) -> None:
        """Watch these no longer."""
        for each in conversation_ids:
            self._ended.add(each)
            self.watched.pop(each, None)
        self.changed.set()

    def by_urgency(self, records: Mapping[str, Conversation], last_told: Mapping[str, str | None]) -> Sequence[Watched]:
        """How all that is watched is now, the one that needs a person most first."""
        found = []
        for each, title in self.watched.items():
            record, outcome = records.get(each), self._known.get(each)
            state = conversation_state(record, last_told.get(each)) if record is not None else None
            at = outcome.since if outcome is not None and state is not None and state.came_to_something else 0.0
            found.append(Watched(each, title, state, at))
        return sorted(found, key=lambda watched: watched.urgency)

    def calls(
        self,
        marked: Collection[str],
        records: Mapping[str, Conversation],
        last_told: Mapping[str, str | None],
        *,
        whole: bool,
    ) -> Iterator[News]:
        """What to ring for after a reading that changed these marks; `whole` says that `records` are all there are."""
        watched = self.by_urgency(records, last_told) if marked else ()
        came = [each for each in watched if each.id in marked and each.id in self.ids]
        if came:
            words = " ".join(f"{each.named}: {each.state.word}." for each in came if each.state is not None)
            yield News(About.CONVERSATIONS, words=words, everywhere=True, call=True)
        if whole and (gone := {each: title for each, title in self.watched.items() if each not in records}):
            self.unwatch(gone)
            titles = ", ".join(title or each for each, title in gone.items())
            ends = "is gone, so it is watched" if len(gone) == 1 else "are gone, so they are watched"
            yield News(About.CONVERSATIONS, frozenset(gone), words=f"{titles} {ends} no longer.", everywhere=True)

    # From run to run, and from deck to deck

    def recall(self, kept: KeptUnread | None) -> frozenset[str]:
        """Take what an earlier run or another deck kept; gives the conversations whose mark it changed."""
        if kept is None:
            return frozenset()
        before = frozenset(self.ids)
        self._since = max(kept.since, self._since or 0.0)
        self.watched = _watched_by_both(self.watched, self._ended, kept)
        for each, theirs in kept.conversations.items():
            mine = self._known.get(each)
            self._know(each, _joined(mine, theirs))
            if mine is None:
                self._elsewhere.add(each)
        return before ^ self.ids

    def merge(self) -> Callable[[KeptUnread | None], KeptUnread | None]:
        """What makes the next file of the one there is."""
        mine, since, watched, ended = dict(self._known), self._since, dict(self.watched), frozenset(self._ended)

        def merged(kept: KeptUnread | None) -> KeptUnread | None:
            marks = _merged(mine, since, kept)
            return marks and marks.model_copy(update={"watched": _watched_by_both(watched, ended, kept)})

        return merged


def _watched_by_both(mine: Mapping[str, str], ended: Collection[str], kept: KeptUnread | None) -> dict[str, str]:
    theirs = {each: title for each, title in kept.watched.items() if each not in ended} if kept is not None else {}
    return dict([*theirs.items(), *mine.items()][:MOST])


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
