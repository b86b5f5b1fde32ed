"""What happened to each sandbox, when it was seen, how long it lasted and who caused it."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from copy import copy
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

from quarterdeck.fleet.ages import age
from quarterdeck.fleet.sandbox_state import ALIKE, Action, SandboxMemory, StateWord

EVENTS = 20
"""Kept of one sandbox, the newest."""


class Cause(StrEnum):
    """Who made it happen, as far as can be told from here."""

    YOU = "you"
    """It was asked for here."""
    SERVER = "server"
    """It was watched, and nobody here had asked."""
    DISPLACED = "displaced"
    """The server paused it to make room for what was started or resumed here (needs.md fact 0.11)."""
    UNKNOWN = "unknown"
    """It was seen only afterwards."""


class Event(NamedTuple):
    """A sandbox was seen in a new state; the moment is a UTC one of this machine."""

    what: str
    """The word of the state, a `StateWord` or the server's own, raw."""
    seen_at: datetime
    lasted: float | None = None
    """Seconds; None while it lasts, and where its end was not seen."""
    cause: Cause = Cause.UNKNOWN
    words: str = ""
    """How it came about, a phrase."""


def with_next(events: tuple[Event, ...], event: Event) -> tuple[Event, ...]:
    """The events with one more, which ends the last of them: when, is known unless it was seen only afterwards."""
    if not events:
        return (event,)
    *earlier, last = events
    lasted = None if event.cause is Cause.UNKNOWN else max(0.0, (event.seen_at - last.seen_at).total_seconds())
    return (*earlier, last._replace(lasted=lasted), event)[-EVENTS:]


def joined(earlier: tuple[Event, ...], later: tuple[Event, ...], between: str) -> tuple[Event, ...]:
    """Events of an earlier run and of this one; `between` says how a state came about that nobody saw begin."""
    if not earlier or not later:
        return earlier or later
    first, *rest = later
    if first.what != earlier[-1].what:
        unseen = first._replace(cause=Cause.UNKNOWN, words=between) if first.cause is not Cause.YOU else first
        return (*with_next(earlier, unseen), *rest)[-EVENTS:]
    going_on = earlier
    for event in rest:
        going_on = with_next(going_on, event._replace(lasted=None))
    if rest:
        going_on = (*going_on[:-1], rest[-1])
    return going_on[-EVENTS:]


VERSION = 2
ONE_BY_ONE = 1
"""The version that says of each sandbox by itself what happened to it."""


class Noted(NamedTuple):
    """What is noted of one sandbox."""

    seen_at: datetime
    """When it was listed last."""
    events: tuple[Event, ...]


def to_note(known: Mapping[str, Noted]) -> Any:
    """Word timelines as JSON data: moments as whole seconds since 1970, those that are alike once for all their ids."""
    alike: dict[Noted, list[str]] = {}
    for sandbox_id, noted in known.items():
        alike.setdefault(noted, []).append(sandbox_id)
    return {"version": VERSION, "alike": [[ids, *_from_noted(noted)] for noted, ids in alike.items()]}


def from_note(note: Any, *, without: Container[str] = ()) -> dict[str, Noted]:
    """Read timelines, `without` those of some sandboxes; whatever makes no sense is left out."""
    read: dict[str, Noted] = {}
    for ids, told in _told(note):
        wanted = [each for each in map(str, ids) if each not in without]
        if wanted and (noted := _noted(told)) is not None:
            read.update(dict.fromkeys(wanted, noted))
    return read


def _told(note: Any) -> Iterator[tuple[Sequence[Any], Any]]:
    """Ids of sandboxes, and what is told of all of them."""
    match note:
        case {"version": int(version), "alike": [*alike]} if version == VERSION:
            for each in alike:
                match each:
                    case [[*ids], *told]:
                        yield ids, told
        case {"version": int(version), "sandboxes": dict() as sandboxes} if version == ONE_BY_ONE:
            yield from (([sandbox_id], told) for sandbox_id, told in sandboxes.items())


def _noted(told: Any) -> Noted | None:
    match told:
        case [seen_at, [*events]]:
            read = tuple(event for each in events[-EVENTS:] if (event := _read_event(each)) is not None)
            moment = _moment(seen_at)
            return Noted(moment, read) if read and moment is not None else None
    return None


def _from_noted(noted: Noted) -> list[Any]:
    return [_seconds(noted.seen_at), [_from_event(event) for event in noted.events]]


def _from_event(event: Event) -> list[Any]:
    lasted = None if event.lasted is None else round(event.lasted)
    return [event.what, _seconds(event.seen_at), lasted, event.cause.value, event.words]


def _read_event(told: Any) -> Event | None:
    match told:
        case [str(what), seen_at, lasted, str(cause), str(words)] if cause in set(Cause):
            moment = _moment(seen_at)
            seconds = float(lasted) if _is_number(lasted) and lasted >= 0 else None
            return None if moment is None else Event(what, moment, seconds, Cause(cause), words)
    return None


def _seconds(moment: datetime) -> int:
    return round(moment.timestamp())


def _moment(told: Any) -> datetime | None:
    if not _is_number(told):
        return None
    try:
        return datetime.fromtimestamp(told, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _is_number(told: Any) -> bool:
    return isinstance(told, int | float) and not isinstance(told, bool) and math.isfinite(told)


IDS = 2_000
"""Sandboxes whose timeline is kept; those of which nothing was heard for longest go first."""
KEPT = timedelta(days=30)
"""The timeline of a sandbox that was not seen for so long is dropped."""
ANSWERED_BY = timedelta(minutes=5)
"""What was asked for, and what our start displaced, explains changes for so long."""
GAP = timedelta(minutes=2)
"""When nothing was read for so long, a change may have any cause and may have happened at any time in it."""
CATCHING_UP = timedelta(minutes=1)
"""After a gap, until every row has been read again."""

_EXPLAINS = {
    Action.PAUSE: frozenset({StateWord.PAUSED}),
    Action.RESUME: frozenset({StateWord.STARTING, StateWord.RUNNING}),
    Action.START: frozenset({StateWord.STARTING, StateWord.RUNNING}),
}
_COMING_UP = frozenset({Action.RESUME, Action.START})
_ASKED = "you asked for it"
_NOT_ASKED = "nobody here asked for it"
_UNDONE = "resumed before a reading showed the pause; nobody here asked for it"
_FIRST = "first seen so"
_CLOSED = "changed while nobody watched"


class Timelines:
    """The timelines of all sandboxes of one server; a reading that changes nothing costs nothing here.

    `SandboxMemories` tells of readings and of what is asked for; whoever finds displaced ones tells of those.
    """

    def __init__(self) -> None:
        self._by_id: dict[str, tuple[Event, ...]] = {}
        """Those of which nothing was heard for longest first."""
        self._last_seen: dict[str, datetime] = {}
        """When the ones that are not listed now were listed last."""
        self._asked: dict[str, tuple[Action, datetime]] = {}
        self._displaced: dict[str, tuple[str, datetime]] = {}
        self._read_at: datetime | None = None
        self._gap = timedelta()
        self._caught_up_at: datetime | None = None

    def of(self, sandbox_id: str) -> tuple[Event, ...]:
        """What is known of one sandbox, the oldest event first; the last one lasts."""
        return self._by_id.get(sandbox_id, ())

    # What is seen

    def read(self, now: datetime) -> None:
        """Note that a reading came in."""
        if self._read_at is not None and now - self._read_at > GAP:
            self._gap, self._caught_up_at = now - self._read_at, now + CATCHING_UP
        self._read_at = now

    def observe(self, sandbox_id: str, before: SandboxMemory | None, after: SandboxMemory, now: datetime) -> None:
        """Take what a reading made of a sandbox; a `before` of None means that it was not known in this run."""
        word = after.settled.word
        if before is not None and after.resumed and not before.resumed:
            self._paused_unseen(sandbox_id, now)
        if before is not None and before.settled.word == word:
            return
        events = self._by_id.get(sandbox_id, ())
        if before is None:
            self._last_seen.pop(sandbox_id, None)
        if events and events[-1].what == word:
            return
        if not events and before is None and len(self._by_id) >= IDS:
            return
        cause, words = self._cause(sandbox_id, word, now, known=before is not None, began=after.settled.exact)
        event = _event(word, now, cause, words)
        self._keep(sandbox_id, with_next(events, event) if events else _alone(event))

    def gone(self, sandbox_ids: Iterable[str]) -> None:
        """Note that these are not listed any more; what happened to them stays known for a while."""
        for sandbox_id in sandbox_ids:
            if self._read_at is not None and sandbox_id in self._by_id:
                self._last_seen[sandbox_id] = self._read_at

    # What explains it

    def asked(self, sandbox_id: str, action: Action, now: datetime) -> None:
        """Note that something is asked of it here; a start is told of once answered, and may be listed by then."""
        self._asked[sandbox_id] = action, now
        if action is Action.START and (events := self.of(sandbox_id)):
            self._keep(sandbox_id, tuple([_from_start(event) for event in events]))

    def refused(self, sandbox_id: str) -> None:
        """Note that what was asked of it will not be done."""
        self._asked.pop(sandbox_id, None)

    def displaced(self, sandbox_ids: Iterable[str], by: str, now: datetime) -> None:
        """Note that the server paused these to make room for what was started or resumed here, `by` its short id."""
        for sandbox_id in sandbox_ids:
            events = self.of(sandbox_id)
            if not events or events[-1].what != StateWord.PAUSED or now - events[-1].seen_at > ANSWERED_BY:
                self._displaced[sandbox_id] = by, now
            elif events[-1].cause is not Cause.YOU:
                made_room = events[-1]._replace(cause=Cause.DISPLACED, words=_made_room(by))
                self._keep(sandbox_id, (*events[:-1], made_room))

    def _paused_unseen(self, sandbox_id: str, now: datetime) -> None:
        """Note a pause that was asked for here, and that somebody undid before a reading showed it."""
        self._asked.pop(sandbox_id, None)
        paused = Event(StateWord.PAUSED, now, cause=Cause.YOU, words=_ASKED)
        again = Event(StateWord.RUNNING, now, cause=Cause.SERVER, words=_UNDONE)
        self._keep(sandbox_id, with_next(with_next(self.of(sandbox_id), paused), again))

    def _cause(self, sandbox_id: str, word: str, now: datetime, *, known: bool, began: bool) -> tuple[Cause, str]:
        action = self._asked_for(sandbox_id, word, now)
        if action is not None and word in _EXPLAINS[action]:
            return Cause.YOU, _ASKED
        if action is not None and action in _COMING_UP:
            return Cause.SERVER, _became_of(action)
        by, at = self._displaced.pop(sandbox_id, ("", None))
        if at is not None and word == StateWord.PAUSED and now - at <= ANSWERED_BY:
            return Cause.DISPLACED, _made_room(by)
        if not known:
            if sandbox_id in self._by_id:
                return Cause.UNKNOWN, _CLOSED
            return (Cause.SERVER, _NOT_ASKED) if began else (Cause.UNKNOWN, _FIRST)
        if self._caught_up_at is not None and now <= self._caught_up_at:
            return Cause.UNKNOWN, f"changed while nothing was read for {age(self._gap.total_seconds())}"
        return Cause.SERVER, _NOT_ASKED

    def _asked_for(self, sandbox_id: str, word: str, now: datetime) -> Action | None:
        """What was asked of it here not long ago; any change but that to starting settles it."""
        action, at = self._asked.get(sandbox_id, (None, now))
        if word != StateWord.STARTING:
            self._asked.pop(sandbox_id, None)
        return action if now - at <= ANSWERED_BY else None

    def _keep(self, sandbox_id: str, events: tuple[Event, ...]) -> None:
        self._by_id.pop(sandbox_id, None)
        self._by_id[sandbox_id] = events[-EVENTS:]
        if len(self._by_id) > IDS:
            oldest = next(iter(self._by_id))
            del self._by_id[oldest]
            self._last_seen.pop(oldest, None)

    # From run to run

    def snapshot(self) -> Timelines:
        """The same as they are now, for another thread to note down."""
        same = copy(self)
        same._by_id, same._last_seen = dict(self._by_id), dict(self._last_seen)
        return same

    def to_note(self, noted: Any = None) -> Any:
        """What to note down; what was `noted` of sandboxes not known here stays, while it is of use."""
        now = self._read_at
        known = {} if noted is None else from_note(noted, without=self._by_id)
        for sandbox_id, events in self._by_id.items():
            seen = self._last_seen.get(sandbox_id, now) or events[-1].seen_at
            known[sandbox_id] = Noted(seen, events)
        fresh = {i: noted for i, noted in known.items() if now is None or now - noted.seen_at <= KEPT}
        return to_note(dict(list(fresh.items())[-IDS:]))

    def recall(self, known: Mapping[str, Noted]) -> None:
        """Take what an earlier run noted down, as `timeline_note.from_note` reads it; readings may have come before."""
        here = self._by_id
        self._by_id = {}
        for sandbox_id, noted in known.items():
            if sandbox_id not in here:
                self._last_seen[sandbox_id] = noted.seen_at
            self._by_id[sandbox_id] = joined(noted.events, here.pop(sandbox_id, ()), _CLOSED)
        self._by_id = dict(list((self._by_id | here).items())[-IDS:])

    @classmethod
    def from_note(cls, note: Any) -> Timelines:
        """The timelines that were noted down."""
        timelines = cls()
        timelines.recall(from_note(note))
        return timelines


def _from_start(event: Event) -> Event:
    """What was seen of a sandbox before the start that made it was answered."""
    if event.cause is not Cause.SERVER:
        return event
    if event.what in _EXPLAINS[Action.START]:
        return event._replace(cause=Cause.YOU, words=_ASKED)
    return event._replace(words=_became_of(Action.START))


def _became_of(action: Action) -> str:
    return f"what became of the {action} you asked for"


@lru_cache(maxsize=ALIKE)
def _event(word: str, now: datetime, cause: Cause, words: str) -> Event:
    """One object for all that were seen so at the same moment: at first they are all of a page."""
    return Event(word, now, cause=cause, words=words)


@lru_cache(maxsize=ALIKE)
def _alone(event: Event) -> tuple[Event, ...]:
    return (event,)


def _made_room(by: str) -> str:
    return f"the server paused it to make room for {by}, which you started or resumed"
