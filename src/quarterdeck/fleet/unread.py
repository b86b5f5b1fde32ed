"""What a person has seen: which conversations are unread, which are watched, which failed starts are dismissed.

Servers do not store this. Moments are seconds since 1970. Several decks share one file: for each conversation, the
later reading and the later look win.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
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
"""How many conversations are kept, the most recently changed ones."""
DISMISSED = 300
"""How many dismissed start tasks are kept, the latest; servers list only the newest ones."""
MOST_WATCHED = 20
"""How many conversations can be watched at a time: each is read at every tick."""
LONGEST_NAME = 100
"""How many characters of a title stand in a sentence, whose end says what is new."""
AT_WORK = ConversationWord.WORKING
GOES_ON = frozenset({AT_WORK, ConversationWord.IDLE, ConversationWord.AGENT_PAUSED})
"""Words after which the same result is a new one: somebody has dealt with the last."""
SETTLED = 90.0
"""Seconds after a result, its last change or a look in which its conversation may still change: a server may take in
what was streamed long after its end.
"""
Moment = Annotated[float, Field(ge=0, lt=1e11, allow_inf_nan=False)]
"""Seconds since 1970, within the range that a clock may show."""


class LastResult(NamedTuple):
    """The last known result of a conversation, or that its agent is working."""

    word: str
    after: Moment
    """The result is not older than this moment; while the agent works, the last reading that said so.

    0 if the first reading found a result that is no news.
    """
    read_at: Moment = 0.0
    """When somebody last looked at the result."""
    updated: Moment = 0.0
    """When the conversation last changed, by the server's clock, as last read."""

    @property
    def unread(self) -> bool:
        """Whether there is a result that nobody has looked at."""
        return self.word != AT_WORK and self.read_at <= self.after

    @property
    def told(self) -> tuple[str, bool, Moment]:
        """What a mark and a notification tell: while the agent works, the moment tells nothing."""
        return self.word, self.unread, 0.0 if self.word == AT_WORK else self.after

    @property
    def moment(self) -> float:
        """The latest of its three moments."""
        return max(self.after, self.read_at, self.updated)

    def joined(self, theirs: "LastResult") -> "LastResult":
        """Merge what two decks know of one conversation: the later reading and the later look win.

        That it worked does not replace a result, which may have been read after that: only a reading tells.
        """
        says_more = self.word == AT_WORK or theirs.word != AT_WORK
        latest = theirs if says_more and theirs.after > self.after else self
        return latest._replace(read_at=max(self.read_at, theirs.read_at), updated=max(self.updated, theirs.updated))


class Watched(NamedTuple):
    """A conversation that a person wants to be notified of; its title is raw, as the server sent it."""

    id: str
    title: str
    state: ConversationState | None
    """None until this run has read it."""
    since: float
    """Approximately when the current result appeared; 0 if there is no result or the time is not known."""

    @property
    def name(self) -> str:
        """What it is called in a sentence."""
        name = self.title or self.id
        return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"

    @property
    def urgency(self) -> tuple[int, float]:
        """A sort key, most urgent first: a question, then trouble, then a result; among equals the latest first."""
        if self.state is None:
            return 4, 0.0
        if self.state.attention:
            return (0 if self.state.category is Category.WAITING else 1), -self.since
        return (2 if self.state.has_result else 3), -self.since


class KeptUnread(KeptModel):
    """The contents of the state file: results, looks, watched titles and dismissed start tasks."""

    kind: ClassVar[str] = "unread"
    since: Moment = 0.0
    conversations: dict[str, LastResult] = {}
    watched: dict[str, str] = {}
    dismissed: tuple[str, ...] = ()
    ended: frozenset[str] = Field(default=frozenset(), exclude=True)
    """Conversations that are no longer watched here, even if another deck's file lists them; not written."""
    shared: frozenset[str] = Field(default=frozenset(), exclude=True)
    """Watched conversations that the file listed last; one that it lists no more was ended elsewhere. Not written."""

    def joined(self, kept: "KeptUnread") -> "KeptUnread":
        """Merge with what another deck knows; only the most recently changed conversations are kept."""
        theirs = self if kept == KeptUnread() else kept
        both = dict(self.conversations)
        for each, last in theirs.conversations.items():
            both[each] = both[each].joined(last) if each in both else last
        since = max(self.since, theirs.since)
        worth = [(each, result) for each, result in both.items() if result.after or result.updated > since]
        worth.sort(key=lambda item: item[1].moment, reverse=True)
        ended = self.ended | (self.shared - theirs.watched.keys())
        watched = self.watched | theirs.watched | self.watched  # its own first, and with its own titles
        return KeptUnread.model_construct(
            since=max([since, *(result.updated for _, result in worth[KEPT:])]),
            conversations=dict(worth[:KEPT]),
            watched={each: title for each, title in watched.items() if each not in ended},
            dismissed=tuple(dict.fromkeys([*theirs.dismissed, *self.dismissed]))[-DISMISSED:],
        )


class Unread(KeptPart[KeptUnread]):
    """Which conversations of one server are unread, which are watched, and which start tasks are dismissed.

    A resting state, for example that of a paused sandbox, neither makes a conversation unread nor read. `publish`
    receives the rows that look different because of what a person or another deck did.
    """

    model = KeptUnread

    def __init__(self, publish: Callable[[News], None]) -> None:
        super().__init__()
        self._publish = publish
        self.watched: dict[str, str] = {}
        """The titles of the watched conversations, by id, as last read."""
        self._shared: frozenset[str] = frozenset()
        """The watched conversations that the file listed last."""
        self._ended: set[str] = set()
        """Conversations that are no longer watched and must not be taken from the file again."""
        self.dismissed: dict[str, None] = {}
        """Dismissed start tasks, in the order of dismissal; kept because servers list start tasks for ever."""
        self.ids: set[str] = set()
        """The ids of the unread conversations."""
        self._known: dict[str, LastResult] = {}
        self._elsewhere: set[str] = set()
        """Conversations that so far only another run or another deck has read."""
        self._since: float | None = None
        """A conversation read for the first time is unread only if it changed after this moment; None at first.

        It is never in the future, even if the file says so: a clock may have been wrong.
        """

    # What is read and looked at

    def read(self, records: Iterable[Conversation], new: Collection[str], clock: ServerClock) -> frozenset[str]:
        """Apply a reading in which the ids `new` are new or changed; returns the ids whose mark may have changed."""
        moment, news = clock.now.timestamp(), set()
        self._since = moment if self._since is None else min(self._since, moment)
        for record in records:
            before = self._known.get(record.id)
            if record.id not in new and (before is None or before.word != AT_WORK):
                continue  # it is resting, as before
            if record.id in self.watched:
                self.watched[record.id] = record.title or ""
            state = conversation_state(record)
            updated = clock.here(record.updated_at)
            if state.word == AT_WORK or (before is not None and state.word in GOES_ON):
                after = LastResult(AT_WORK, moment, before.read_at if before else 0.0)
            elif state.has_result:
                after = self._came_to(record.id, before, state.word, updated.timestamp() if updated else 0.0, moment)
            else:
                continue
            self._know(record.id, after)
            self._elsewhere.discard(record.id)
            if before is None or before.told != after.told:
                self.changed.set()
                news.add(record.id)
        return frozenset(news)

    def _came_to(
        self, record_id: str, before: LastResult | None, word: str, updated: float, moment: float
    ) -> LastResult:
        """Return the result that a reading found, by what was known before.

        - First reading: unread if it changed after the deck began to watch, otherwise as if already looked at.
        - The agent was working: new, later than the last reading of the work.
        - The same result: only the time of the last change moves.
        - A change after the result was settled, or since another deck's or run's reading: new, though the word is the
          same; later than any look.
        - Another word: new, later than any look.
        """
        if before is None:
            news = updated > (self._since or 0.0)
            after, read_at = (min(updated, moment), 0.0) if news else (0.0, moment)
            return LastResult(word, after, read_at, updated)
        if before.word == AT_WORK:
            return before._replace(word=word, updated=updated)
        settles = 0.0 if record_id in self._elsewhere else SETTLED
        if before.word == word and updated <= before.moment + settles:
            return before._replace(updated=max(before.updated, updated))
        return LastResult(word, max(before.after, before.read_at, min(updated, moment)), before.read_at, updated)

    def _know(self, conversation_id: str, result: LastResult) -> None:
        self._known[conversation_id] = result
        if result.unread:
            self.ids.add(conversation_id)
        else:
            self.ids.discard(conversation_id)

    def mark_read(self, conversation_ids: Iterable[str], now: datetime) -> None:
        """Note that somebody looks at these conversations."""
        known = {each: self._known[each] for each in conversation_ids if each in self._known}
        seen = {each: result for each, result in known.items() if result.word != AT_WORK}
        for each, result in seen.items():
            self._know(each, result._replace(read_at=max(now.timestamp(), nextafter(result.after, inf))))
        if seen:
            self._change(seen)

    def dismiss(self, task_ids: Collection[str]) -> None:
        """Hide these start tasks, in this run and in later ones."""
        self.dismissed |= dict.fromkeys(task_ids)
        self._change(task_ids)

    def _change(self, ids: Iterable[str]) -> None:
        """Save what a person did soon, and show it in these rows."""
        self.changed.set()
        self._publish(News(About.CONVERSATIONS, frozenset(ids)))

    # What is watched

    def watch(self, records: Mapping[str, Conversation]) -> set[str]:
        """Watch these conversations as well; returns the ids for which there was no room."""
        self._shared = self._shared.difference(records)  # that they are not in the file then is no end elsewhere
        for each, record in records.items():
            if each in self.watched or len(self.watched) < MOST_WATCHED:
                self._ended.discard(each)
                self.watched[each] = record.title or ""
        self._change(records)
        return records.keys() - self.watched.keys()

    def unwatch(self, conversation_ids: Collection[str]) -> None:
        """Stop watching these conversations."""
        for each in conversation_ids:
            self._ended.add(each)
            self.watched.pop(each, None)
        self._change(conversation_ids)

    def by_urgency(self, records: Mapping[str, Conversation]) -> Sequence[Watched]:
        """Return the watched conversations, the most urgent first."""
        found = []
        for each, title in self.watched.items():
            state = conversation_state(records[each]) if each in records else None
            last, ended = self._known.get(each), state is not None and state.has_result
            found.append(Watched(each, title, state, max(last.after, last.updated) if last and ended else 0.0))
        return sorted(found, key=lambda watched: watched.urgency)

    def calls(self, marked: Collection[str], records: Mapping[str, Conversation], *, whole: bool) -> Iterator[News]:
        """Yield notifications after a reading that changed these marks; `whole` means that `records` is complete."""
        came = [each for each in self.by_urgency(records) if each.id in marked and each.id in self.ids and each.state]
        if came:
            words = " ".join(f"{each.name}: {each.state.word}." for each in came if each.state)
            yield News(About.CONVERSATIONS, words=words, everywhere=True, call=True)
        if whole and (gone := [each for each in self.by_urgency(records) if each.id not in records]):
            self.unwatch([each.id for each in gone])
            names = ", ".join(each.name for each in gone)
            ends = "is gone, so it is watched" if len(gone) == 1 else "are gone, so they are watched"
            yield News(About.CONVERSATIONS, words=f"{names} {ends} no longer.", everywhere=True)

    # Saving, restoring and sharing between decks

    def kept(self) -> KeptUnread | None:
        """Return everything to save, None before the first reading."""
        if self._since is None:
            return None
        return KeptUnread.model_construct(
            since=self._since,
            conversations=dict(self._known),
            watched=dict(self.watched),
            dismissed=tuple(self.dismissed),
            ended=frozenset(self._ended),
            shared=self._shared,
        )

    def recall(self, kept: KeptUnread) -> None:
        """Merge what an earlier run or another deck saved."""
        before, watched = frozenset(self.ids), self.watched.keys()
        both = (self.kept() or KeptUnread()).joined(kept)
        self._since, self.dismissed = both.since, dict.fromkeys(both.dismissed)
        self.watched = dict([*both.watched.items()][:MOST_WATCHED])
        no_room = both.watched.keys() - self.watched.keys() - self._shared
        self._elsewhere |= kept.conversations.keys() - self._known.keys()
        for each, result in both.conversations.items():
            self._know(each, result)
        self._shared = frozenset(kept.watched)
        self._ended &= self._shared
        if changed := before ^ self.ids | watched ^ self.watched.keys():
            self._publish(News(About.CONVERSATIONS, changed))
        if no_room:
            words = f"{MOST_WATCHED} can be watched at a time; {len(no_room)} that another deck or run watched are not."
            self._publish(News(About.CONVERSATIONS, words=words))
