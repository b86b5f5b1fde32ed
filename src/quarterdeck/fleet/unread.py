"""What a person has seen of conversations: what came to something since, what to notify of, which starts are dismissed.

No server keeps this. Moments are seconds since 1970. Decks beside each other keep one file: for each conversation the
later reading and the later look win.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from math import inf, nextafter
from typing import Annotated, ClassVar, NamedTuple

from pydantic import Field

from quarterdeck.client.models.conversation import Conversation
from quarterdeck.fleet.ages import ServerClock
from quarterdeck.fleet.conversations import Category, ConversationState, ConversationWord, conversation_state
from quarterdeck.fleet.kept import KeptModel, KeptPart
from quarterdeck.fleet.news import About, News

KEPT = 2_000
"""Conversations that are kept, those of which there was news last."""
DISMISSED = 300
"""Start tasks that are kept as dismissed, the latest: servers tell of the newest ones only."""
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
    def moment(self) -> float:
        """When there was news of it last."""
        return max(self.after, self.looked, self.updated)

    def joined(self, theirs: "Outcome") -> "Outcome":
        """What two decks know of one conversation: the later reading and the later look."""
        latest = theirs if theirs.after > self.after else self
        return latest._replace(looked=max(self.looked, theirs.looked), updated=max(self.updated, theirs.updated))


class Watched(NamedTuple):
    """A conversation that rings when it comes to something; its title is the server's own, raw."""

    id: str
    title: str
    state: ConversationState | None
    """None before this run has read it."""
    since: float
    """About when it came to what it is at; 0 where that is nothing, or nobody knows."""

    @property
    def urgency(self) -> tuple[int, float]:
        """What stands first needs a person most: a question, trouble, a result; of equal ones the latest."""
        if self.state is None:
            return 4, 0.0
        if self.state.attention:
            return (0 if self.state.category is Category.WAITING else 1), -self.since
        return (2 if self.state.came_to_something else 3), -self.since


class KeptUnread(KeptModel):
    """What was read and looked at, the titles of what is watched, and the start tasks that are dismissed."""

    kind: ClassVar[str] = "unread"
    since: Moment
    conversations: dict[str, Outcome]
    watched: dict[str, str] = {}
    dismissed: tuple[str, ...] = ()
    ended: frozenset[str] = Field(default=frozenset(), exclude=True)
    """What is watched no longer, whatever another deck keeps of it; not written."""

    def joined(self, kept: "KeptUnread | None") -> "KeptUnread":
        """What both decks know, of the conversations of which there was news last."""
        theirs = kept or self
        both = joined_outcomes(self.conversations, theirs.conversations)
        since = max(self.since, theirs.since)
        worth = [(each, outcome) for each, outcome in both.items() if outcome.after or outcome.updated > since]
        worth.sort(key=lambda item: item[1].moment, reverse=True)
        return KeptUnread(
            since=max([since, *(outcome.updated for _, outcome in worth[KEPT:])]),
            conversations=dict(worth[:KEPT]),
            watched=watched_by_both(self.watched, self.ended, theirs.watched),
            dismissed=tuple(dict.fromkeys([*theirs.dismissed, *self.dismissed]))[-DISMISSED:],
        )


def joined_outcomes(mine: Mapping[str, Outcome], theirs: Mapping[str, Outcome]) -> dict[str, Outcome]:
    """What two decks know of all conversations."""
    return {**mine, **{each: mine[each].joined(last) if each in mine else last for each, last in theirs.items()}}


def watched_by_both(mine: Mapping[str, str], ended: Collection[str], theirs: Mapping[str, str]) -> dict[str, str]:
    """The titles of what two decks watch, but for what one of them `ended`."""
    others = {each: title for each, title in theirs.items() if each not in ended}
    return dict([*{**others, **mine}.items()][:MOST])


class Unread(KeptPart[KeptUnread]):
    """The marks of one server, the conversations watched on it, and the start tasks that are not shown.

    A state of rest, as when its sandbox is paused, neither sets nor takes away a mark.
    """

    model = KeptUnread

    def __init__(self) -> None:
        super().__init__()
        self.watched: dict[str, str] = {}
        """The titles of what is watched, as last read."""
        self._ended: set[str] = set()
        """What was watched earlier and is not to be taken from a file again."""
        self.dismissed: dict[str, None] = {}
        """The start tasks that a person does not want to see, in their order: servers list them for ever."""
        self.ids: set[str] = set()
        """The conversations that carry the mark."""
        self._known: dict[str, Outcome] = {}
        self._elsewhere: set[str] = set()
        """Those that only another run or another deck has read so far."""
        self._since: float | None = None
        """A conversation never seen before is unread only if it changed after this moment; None at first.

        It is never in the future, whatever the file says: a clock may have been wrong.
        """

    # What is read and looked at

    def read(self, records: Iterable[Conversation], new: Collection[str], clock: ServerClock) -> frozenset[str]:
        """Take a reading, in which these are `new`; gives the conversations whose mark may have changed."""
        moment, news = clock.now.timestamp(), set()
        self._since = moment if self._since is None else min(self._since, moment)
        for record in records:
            before = self._known.get(record.id)
            if record.id not in new and (before is None or before.word != AT_WORK):
                continue  # it rests, as it did before
            if record.id in self.watched:
                self.watched[record.id] = record.title or ""
            state = conversation_state(record)
            updated = clock.here(record.updated_at)
            if state.word == AT_WORK:
                after = Outcome(state.word, moment, before.looked if before else 0.0)
            elif state.came_to_something:
                after = self._came_to(record.id, before, state.word, updated.timestamp() if updated else 0.0, moment)
            else:
                continue
            self._know(record.id, after)
            self._elsewhere.discard(record.id)
            if before is None or (before.word, before.unread) != (after.word, after.unread):
                self.changed.set()
                news.add(record.id)
        return frozenset(news)

    def _came_to(self, record_id: str, before: Outcome | None, word: str, updated: float, moment: float) -> Outcome:
        if before is None:
            news = updated > (self._since or 0.0)
            return Outcome(word, min(updated, moment), 0.0, updated) if news else Outcome(word, 0.0, moment, updated)
        if before.word == AT_WORK:
            return before._replace(word=word, updated=updated)
        meanwhile = record_id in self._elsewhere and updated > before.moment
        if before.word == word and not meanwhile:
            return before._replace(updated=max(before.updated, updated))
        return Outcome(word, max(before.after, before.looked), before.looked, updated)

    def _know(self, conversation_id: str, outcome: Outcome) -> None:
        self._known[conversation_id] = outcome
        if outcome.unread:
            self.ids.add(conversation_id)
        else:
            self.ids.discard(conversation_id)

    def looked(self, conversation_ids: Iterable[str], now: datetime, *, ended: bool = False) -> frozenset[str]:
        """Note that somebody looked at these; gives those at which there was anything to see.

        `ended` says that what they came to was there, whatever was read last.
        """
        known = {each: self._known[each] for each in conversation_ids if each in self._known}
        seen = {each: outcome for each, outcome in known.items() if ended or outcome.word != AT_WORK}
        for each, outcome in seen.items():
            self._know(each, outcome._replace(looked=max(now.timestamp(), nextafter(outcome.after, inf))))
            self.changed.set()
        return frozenset(seen)

    def dismiss(self, task_ids: Iterable[str]) -> None:
        """Show these start tasks no longer, here and in later runs."""
        self.dismissed |= dict.fromkeys(task_ids)
        self.changed.set()

    # What is watched

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

    def by_urgency(self, records: Mapping[str, Conversation]) -> Sequence[Watched]:
        """How all that is watched is now, the one that needs a person most first."""
        found = []
        for each, title in self.watched.items():
            state = conversation_state(records[each]) if each in records else None
            last, ended = self._known.get(each), state is not None and state.came_to_something
            found.append(Watched(each, title, state, max(last.after, last.updated) if last and ended else 0.0))
        return sorted(found, key=lambda watched: watched.urgency)

    def calls(self, marked: Collection[str], records: Mapping[str, Conversation], *, whole: bool) -> Iterator[News]:
        """What to ring for after a reading that changed these marks; `whole` says that `records` are all there are."""
        came = [each for each in self.by_urgency(records) if each.id in marked and each.id in self.ids and each.state]
        if came:
            words = " ".join(f"{each.title or each.id}: {each.state.word}." for each in came if each.state)
            yield News(About.CONVERSATIONS, words=words, everywhere=True, call=True)
        if whole and (gone := {each: title for each, title in self.watched.items() if each not in records}):
            self.unwatch(gone)
            titles = ", ".join(title or each for each, title in gone.items())
            ends = "is gone, so it is watched" if len(gone) == 1 else "are gone, so they are watched"
            yield News(About.CONVERSATIONS, frozenset(gone), words=f"{titles} {ends} no longer.", everywhere=True)

    # From run to run, and from deck to deck

    def kept(self) -> KeptUnread | None:
        """All of it, once something was read."""
        if self._since is None:
            return None
        return KeptUnread.model_construct(
            since=self._since,
            conversations=dict(self._known),
            watched=dict(self.watched),
            dismissed=tuple(self.dismissed),
            ended=frozenset(self._ended),
        )

    def recall(self, kept: KeptUnread) -> frozenset[str]:
        """Take what an earlier run or another deck kept; gives the conversations whose mark it changed."""
        before = frozenset(self.ids)
        self._since = max(kept.since, self._since or 0.0)
        self.watched = watched_by_both(self.watched, self._ended, kept.watched)
        self.dismissed = dict.fromkeys([*kept.dismissed, *self.dismissed])
        self._elsewhere |= kept.conversations.keys() - self._known.keys()
        for each, outcome in joined_outcomes(self._known, kept.conversations).items():
            self._know(each, outcome)
        return before ^ self.ids
