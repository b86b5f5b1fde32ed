"""Conversations that came to something since somebody last looked at them; no server keeps this (screens.md).

All moments are seconds since 1970. Decks beside each other note down the same: for each conversation the later reading
and the later look win.
"""

from collections.abc import Mapping, Set
from copy import copy
from datetime import datetime
from math import inf, nextafter
from typing import Any, NamedTuple

from quarterdeck.fleet.conversations import ConversationState, ConversationWord

VERSION = 1
NOTED = 2_000
"""Conversations that are noted down, those of which there was news last."""
FAR_AWAY = 1e11
"""A moment that no clock shows."""
AT_WORK = ConversationWord.WORKING


class Outcome(NamedTuple):
    """What a conversation came to last, or that it is at work on it."""

    word: str
    after: float
    """When it was last known to be otherwise; while it is at work, when that was last read. 0 if it was always so."""
    looked: float = 0.0
    """When somebody last looked at what it had come to."""
    updated: float = 0.0
    """The server's own moment of its last change, as last read."""

    @property
    def unseen(self) -> bool:
        """Whether nobody looked since."""
        return self.word != AT_WORK and self.looked <= self.after

    @property
    def moment(self) -> float:
        """When there was news of it last."""
        return max(self.after, self.looked, self.updated)


class Unseen:
    """The marks of one server. A state of rest, as when its sandbox sleeps, neither sets nor takes away a mark."""

    def __init__(self) -> None:
        self._known: dict[str, Outcome] = {}
        """What was read in this run."""
        self._noted: dict[str, Outcome] = {}
        """What only another run or another deck has read so far."""
        self._retold: set[str] = set()
        """Those of which they told something new since it was read here."""
        self._since: float | None = None
        """What nothing is known of and changed last before this moment is not news; None at first.

        It is never in the future, whatever a note says: a clock may have been wrong.
        """

    def __contains__(self, conversation_id: str) -> bool:
        outcome = self._of(conversation_id)
        return outcome is not None and outcome.unseen

    def awaits(self, conversation_id: str) -> bool:
        """Whether one more reading like the last one makes a difference."""
        outcome = self._of(conversation_id)
        return conversation_id in self._retold or (outcome is not None and outcome.word == AT_WORK)

    @property
    def ids(self) -> Set[str]:
        """The conversations that carry the mark."""
        return {each for each, outcome in self._all.items() if outcome.unseen}

    @property
    def _all(self) -> dict[str, Outcome]:
        return self._noted | self._known

    def _of(self, conversation_id: str) -> Outcome | None:
        return self._known.get(conversation_id) or self._noted.get(conversation_id)

    def observe(self, conversation_id: str, state: ConversationState, updated: datetime | None, now: datetime) -> bool:
        """Take what a reading says of a conversation; whether that is news."""
        moment = now.timestamp()
        self._retold.discard(conversation_id)
        self._since = moment if self._since is None else min(self._since, moment)
        before = self._of(conversation_id)
        if state.word == AT_WORK:
            after = Outcome(state.word, moment, before.looked if before else 0.0)
        elif state.came_to_something:
            changed = updated.timestamp() if updated is not None else 0.0
            after = self._came_to(conversation_id, state.word, changed, moment)
        else:
            return False
        self._known[conversation_id] = after
        self._noted.pop(conversation_id, None)
        return before is None or (before.word, before.unseen) != (after.word, after.unseen)

    def _came_to(self, conversation_id: str, word: str, changed: float, moment: float) -> Outcome:
        before = self._of(conversation_id)
        if before is None:
            news = changed > (self._since or 0.0)
            return Outcome(word, min(changed, moment), 0.0, changed) if news else Outcome(word, 0.0, moment, changed)
        if before.word == AT_WORK:
            return before._replace(word=word, updated=changed)
        meanwhile = conversation_id in self._noted and changed > before.moment
        if before.word == word and not meanwhile:
            return before._replace(updated=max(before.updated, changed))
        return Outcome(word, max(before.after, before.looked), before.looked, changed)

    def looked(self, conversation_id: str, now: datetime) -> bool:
        """Note that somebody looked at it; whether there was anything to see."""
        outcome = self._of(conversation_id)
        if outcome is None or outcome.word == AT_WORK:
            return False
        seen = outcome._replace(looked=max(now.timestamp(), nextafter(outcome.after, inf)))
        (self._known if conversation_id in self._known else self._noted)[conversation_id] = seen
        return True

    # From run to run, and from deck to deck

    def snapshot(self) -> "Unseen":
        """The same as they are now, for another thread to note down."""
        same = copy(self)
        same._known, same._noted, same._retold = dict(self._known), dict(self._noted), set()
        return same

    def recall(self, note: Any) -> None:
        """Take what was noted down by an earlier run or another deck; what makes no sense is ignored."""
        since, noted = _read(note)
        if since is not None:
            self._since = max(since, self._since or 0.0)
        for conversation_id, theirs in noted.items():
            known = self._known if conversation_id in self._known else self._noted
            before = known.get(conversation_id)
            known[conversation_id] = after = _joined(before, theirs)
            if after != before:
                self._retold.add(conversation_id)

    def to_note(self, noted: Any = None) -> Any:
        """What to note down beside what was `noted` already; None when there is nothing yet."""
        both = copy(self)
        both._known, both._noted, both._retold = {}, self._all, set()
        both.recall(noted)
        if both._since is None:
            return None
        newest = sorted(both._noted.items(), key=lambda item: item[1].moment, reverse=True)
        worth = [(name, each) for name, each in newest if each.after or each.updated > both._since]
        since = max([both._since, *(each.updated for _, each in worth[NOTED:])])
        outcomes = {name: [each.word, each.after, each.looked, each.updated] for name, each in worth[:NOTED]}
        return {"version": VERSION, "since": since, "conversations": outcomes}


def _joined(mine: Outcome | None, theirs: Outcome) -> Outcome:
    """What two decks know of one conversation: the later reading and the later look."""
    if mine is None:
        return theirs
    latest = theirs if theirs.after > mine.after else mine
    return latest._replace(looked=max(mine.looked, theirs.looked), updated=max(mine.updated, theirs.updated))


def _read(note: Any) -> tuple[float | None, dict[str, Outcome]]:
    match note:
        case {"version": version, "since": since, "conversations": Mapping() as told} if (
            version == VERSION and _is_moment(since)
        ):
            read = ((str(name), _outcome(each)) for name, each in told.items())
            return float(since), {name: outcome for name, outcome in read if outcome is not None}
    return None, {}


def _outcome(told: Any) -> Outcome | None:
    match told:
        case [str(word), after, looked, updated] if all(map(_is_moment, (after, looked, updated))):
            return Outcome(word, float(after), float(looked), float(updated))
    return None


def _is_moment(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < FAR_AWAY
