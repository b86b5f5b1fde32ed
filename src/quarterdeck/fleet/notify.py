"""Conversations a person keeps an eye on, whatever is shown: what each is at, and which one needs them most.

All moments are seconds since 1970.
"""

from collections.abc import Callable, Iterator, Mapping, Set
from typing import ClassVar, NamedTuple

from quarterdeck.client.models.conversation import Conversation
from quarterdeck.fleet.ages import ServerClock
from quarterdeck.fleet.conversations import Category, ConversationState, ConversationWord, conversation_state
from quarterdeck.fleet.kept import KeptModel, Part
from quarterdeck.fleet.news import About, News
from quarterdeck.fleet.unread import Moment

MOST = 20
"""Conversations that can be watched at a time: each is read at every tick."""


class Watched(NamedTuple):
    """One conversation that is watched; its title is the server's own, raw."""

    id: str
    title: str
    begun: Moment
    """Since when it is watched."""
    since: Moment = 0.0
    """When it came to be as it is; 0 where nobody knows."""
    heard: str = ""
    """The last word of its agent; empty before there was any."""
    state: ConversationState | None = None
    """None before this run has read it."""

    @property
    def named(self) -> str:
        """What to call it, raw."""
        return self.title or self.id

    @property
    def urgency(self) -> tuple[int, float]:
        """What stands first needs a person most: a question, trouble, a result; of equal ones the latest."""
        if self.state is None:
            return 4, -self.since
        if self.state.category is Category.WAITING:
            return 0, -self.since
        if self.state.attention:
            return 1, -self.since
        return (2 if self.state.came_to_something else 3), -self.since


class KeptWatches(KeptModel):
    """What is watched."""

    kind: ClassVar[str] = "watched"
    watched: tuple[Watched, ...]


class Watches(Part[KeptWatches]):
    """The conversations watched on one server."""

    MODEL = KeptWatches
    ABOUT = About.CONVERSATIONS
    WHAT = "Which conversations you watch"

    def __init__(self) -> None:
        super().__init__()
        self._by_id: dict[str, Watched] = {}
        self._ended: set[str] = set()
        """What was watched earlier and is not to be taken from a file again."""

    def __contains__(self, conversation_id: object) -> bool:
        return conversation_id in self._by_id

    def __len__(self) -> int:
        return len(self._by_id)

    @property
    def ids(self) -> Set[str]:
        """The ids of all of them."""
        return self._by_id.keys()

    @property
    def by_urgency(self) -> list[Watched]:
        """All of them, the one that needs a person most first."""
        return sorted(self._by_id.values(), key=lambda each: each.urgency)

    def begin(self, record: Conversation, last_status: str | None, clock: ServerClock) -> bool:
        """Watch one from now on; False where there are enough."""
        if record.id in self._by_id:
            return True
        if len(self._by_id) >= MOST:
            return False
        self._ended.discard(record.id)
        self._by_id[record.id] = Watched(record.id, record.title or "", clock.now.timestamp())
        self.observe(record, last_status, clock)
        self.changed.set()
        return True

    def end(self, conversation_id: str) -> None:
        """Watch one no longer."""
        self._ended.add(conversation_id)
        self._by_id.pop(conversation_id, None)
        self.changed.set()

    def read(
        self,
        records: Mapping[str, Conversation],
        last_told: Mapping[str, str | None],
        clock: ServerClock,
        *,
        whole: bool,
    ) -> Iterator[News]:
        """Take what is known now, and give what their person wants to know; `whole` says that it is all there is."""
        known = [record for each in self._by_id if (record := records.get(each)) is not None]
        came = [self._by_id[each.id] for each in known if self.observe(each, last_told.get(each.id), clock)]
        if came:
            self.changed.set()
            words = " ".join(f"{each.named}: {each.state.word}." for each in came if each.state is not None)
            yield News(About.CONVERSATIONS, words=words, everywhere=True, call=True)
        if whole and (gone := [watched for each, watched in self._by_id.items() if each not in records]):
            for watched in gone:
                self.end(watched.id)
            titles = ", ".join(watched.named for watched in gone)
            ends = "is gone, so it is watched" if len(gone) == 1 else "are gone, so they are watched"
            ids = frozenset(watched.id for watched in gone)
            yield News(About.CONVERSATIONS, ids, words=f"{titles} {ends} no longer.", everywhere=True)

    def observe(self, record: Conversation, last_status: str | None, clock: ServerClock) -> bool:
        """Take a reading of one that is watched; whether it came to something."""
        before, state, title = self._by_id[record.id], conversation_state(record, last_status), record.title or ""
        if before.state == state and before.title == title:
            return False
        word, heard, moment = state.word, before.heard, clock.now.timestamp()
        updated = clock.here(record.updated_at)
        changed = min(updated.timestamp(), moment) if updated is not None else 0.0
        self._by_id[record.id] = before._replace(
            title=title,
            since=_since(before, state, changed, moment),
            # The agent goes on afterwards where it was before it could not be heard.
            heard=heard if state.of_sandbox or word == ConversationWord.NO_ANSWER else word,
            state=state,
        )
        if not state.came_to_something or word == heard:
            return False
        return bool(heard) or (before.state is not None and changed > before.begun)

    # From run to run, beside other decks

    def recall(self, kept: KeptWatches | None) -> frozenset[str]:
        """Take what an earlier run watched."""
        self._by_id = {each.id: each for each in (kept.watched[:MOST] if kept is not None else ())}
        return frozenset(self._by_id)

    def merge(self) -> Callable[[KeptWatches | None], KeptWatches | None]:
        """What makes the next file of the one there is: also what another deck watches; None when nothing is."""
        mine = {each.id: each._replace(state=None) for each in self._by_id.values()}
        ended = frozenset(self._ended)

        def merged(kept: KeptWatches | None) -> KeptWatches | None:
            others = {each.id: each for each in (kept.watched if kept is not None else ()) if each.id not in ended}
            watched = tuple((others | mine).values())[:MOST]
            return KeptWatches(watched=watched) if watched else None

        return merged


def _since(before: Watched, state: ConversationState, changed: float, moment: float) -> float:
    """Since when it is in a state that was read just now, as far as known; `changed` is when the server says."""
    if before.state is not None:
        return before.since if before.state.word == state.word else moment
    if before.heard == state.word:
        return before.since
    return changed if state.came_to_something else 0.0
