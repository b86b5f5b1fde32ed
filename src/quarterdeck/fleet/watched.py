"""Conversations a person keeps an eye on, whatever is shown: what each is at, and which one needs them most.

All moments are seconds since 1970.
"""

from collections.abc import Iterable, Set
from copy import copy
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from quarterdeck.fleet.conversations import Category, ConversationState, ConversationWord

if TYPE_CHECKING:
    from quarterdeck.client.models.conversation import Conversation

VERSION = 1
MOST = 20
"""Conversations that can be watched at a time: each is read at every tick."""
FAR_AWAY = 1e11
"""A moment that no clock shows."""
AGENT_UNHEARD = frozenset[str](
    {
        ConversationWord.ASLEEP,
        ConversationWord.WAKING,
        ConversationWord.NO_ANSWER,
        ConversationWord.SANDBOX_ERROR,
        ConversationWord.ARCHIVED,
    }
)
"""Words that say nothing of the agent: it goes on afterwards where it was before."""


class Watched(NamedTuple):
    """One conversation that is watched; its title is the server's own, raw."""

    id: str
    title: str
    begun: float
    """Since when it is watched."""
    since: float = 0.0
    """When it came to be as it is; 0 where nobody knows."""
    state: ConversationState | None = None
    """None before this run has read it."""
    heard: str = ""
    """The last word of its agent; empty before there was any."""

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


class WatchedSet:
    """The conversations watched on one server."""

    def __init__(self) -> None:
        self._by_id: dict[str, Watched] = {}
        self._ended: set[str] = set()
        """What was watched earlier and is not to be taken from a note again."""

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

    def begin(self, record: "Conversation", state: ConversationState, now: datetime) -> bool:
        """Watch one from now on; False where there are enough."""
        if record.id in self._by_id:
            return True
        if len(self._by_id) >= MOST:
            return False
        self._ended.discard(record.id)
        self._by_id[record.id] = Watched(record.id, record.title or "", now.timestamp())
        self.observe(record, state, now)
        return True

    def end(self, conversation_id: str) -> Watched | None:
        """Watch one no longer; gives what it was at."""
        self._ended.add(conversation_id)
        return self._by_id.pop(conversation_id, None)

    def observe(self, record: "Conversation", state: ConversationState, now: datetime) -> bool:
        """Take a reading of one that is watched; whether it came to something, so that its person wants to know."""
        before, word, title = self._by_id[record.id], state.word, record.title or ""
        if before.state == state and before.title == title:
            return False
        moment = now.timestamp()
        changed = min(record.updated_at.timestamp(), moment) if record.updated_at is not None else 0.0
        after = before._replace(
            title=title,
            since=_since(before, state, changed, moment),
            state=state,
            heard=before.heard if word in AGENT_UNHEARD else word,
        )
        self._by_id[record.id] = after
        if not state.came_to_something or word == before.heard:
            return False
        return bool(before.heard) or (before.state is not None and changed > before.begun)

    # From run to run, beside other decks

    def snapshot(self) -> "WatchedSet":
        """The same as they are now, for another thread to note down."""
        same = copy(self)
        same._by_id, same._ended = dict(self._by_id), set(self._ended)
        return same

    def recall(self, note: Any) -> None:
        """Take what an earlier run watched; what makes no sense is ignored."""
        for each in _read(note):
            if each.id not in self._by_id and each.id not in self._ended and len(self._by_id) < MOST:
                self._by_id[each.id] = each

    def to_note(self, noted: Any = None) -> Any:
        """What to note down: also what another deck watches; None when nothing is watched."""
        others = {each.id: each for each in _read(noted) if each.id not in self._ended}
        watched = list((others | self._by_id).values())[:MOST]
        if not watched:
            return None
        told = [[each.id, each.title, each.begun, each.since, each.heard] for each in watched]
        return {"version": VERSION, "watched": told}


def _since(before: Watched, state: ConversationState, changed: float, moment: float) -> float:
    """Since when it is in a state that was read just now, as far as that is known; `changed` is the server's moment."""
    if before.state is not None:
        return before.since if before.state.word == state.word else moment
    if before.heard == state.word:
        return before.since
    return changed if state.came_to_something else 0.0


def _read(note: Any) -> Iterable[Watched]:
    match note:
        case {"version": version, "watched": list() as told} if version == VERSION:
            return [watched for each in told if (watched := _watched(each)) is not None]
    return ()


def _watched(told: Any) -> Watched | None:
    match told:
        case [str(name), str(title), begun, since, str(heard)] if _is_moment(begun) and _is_moment(since):
            return Watched(name, title, float(begun), float(since), heard=heard)
    return None


def _is_moment(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < FAR_AWAY
