"""What happened to each sandbox: when it was observed, how long it lasted and who caused it.

All times are UTC by this machine's clock.
"""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from enum import StrEnum
from typing import ClassVar, NamedTuple

from pydantic import AwareDatetime

from quarterdeck.fleet.kept import KeptModel, KeptPart
from quarterdeck.fleet.sandbox_state import DONE_IN, Action, PendingAction, SandboxMemory

EVENTS = 20
"""How many events of one sandbox are kept, the newest."""
IDS = 2_000
"""How many sandboxes have a timeline; those without a new event for longest are dropped first."""
KEPT = timedelta(days=30)
"""A timeline is dropped if its sandbox has not been listed for this long."""
ANSWERED_BY = timedelta(minutes=5)
"""How long after a request a change can be attributed to it."""
GAP = timedelta(minutes=2)
"""If nothing was read for this long, a change may have any cause and any time within the gap."""
CATCHING_UP = timedelta(minutes=1)
"""Time after a gap, or after a start whose response was lost, until every row has been read again."""


class Cause(StrEnum):
    """Who caused a change, as far as it can be known here."""

    YOU = "you"
    """It was requested by this deck."""
    SERVER = "server"
    """It happened while this deck watched, and was not requested here."""
    DISPLACED = "displaced"
    """Probably the server paused it to make room for one that was started or resumed here."""
    UNKNOWN = "unknown"
    """It was noticed only afterwards, or it may have been requested here."""


class Event(NamedTuple):
    """A sandbox was observed in a new state."""

    what: str
    """The word of the state: a `StateWord`, or the server's own, raw."""
    seen_at: AwareDatetime
    lasted: float | None = None
    """Seconds; None while it lasts, or if it was not watched until its end."""
    cause: Cause = Cause.UNKNOWN
    words: str = ""
    """A phrase for the cause; empty if that says it all."""


class KeptTimeline(NamedTuple):
    """What is kept of one sandbox between runs."""

    seen_at: AwareDatetime
    """When it was last listed."""
    events: tuple[Event, ...]


class KeptTimelines(KeptModel):
    """The contents of the state file."""

    kind: ClassVar[str] = "timelines"
    sandboxes: dict[str, KeptTimeline] = {}

    def joined(self, kept: "KeptTimelines") -> "KeptTimelines":
        """Merge with what another deck wrote about other sandboxes or asked for, dropping what is older than `KEPT`."""
        mine = {i: each.events for i, each in self.sandboxes.items()}
        others = {i: each for i, each in kept.sandboxes.items() if _knows_more(each.events, mine.get(i))}
        both = others | {i: each for i, each in self.sandboxes.items() if i not in others}
        oldest = max(each.seen_at for each in both.values()) - KEPT
        known = [(sandbox_id, each) for sandbox_id, each in both.items() if each.seen_at >= oldest]
        return KeptTimelines.model_construct(sandboxes=dict(known[-IDS:]))


FIRST_SEEN = "first seen so"
_NOT_ASKED = "not asked for in this deck"
_PERHAPS = "came while you waited for a start"
_CLOSED = "changed while nobody watched"


class Timelines(KeptPart[KeptTimelines]):
    """The timelines of all sandboxes of one server; a reading without changes costs nothing here.

    `SandboxMemories` reports each changed state, `Displacement` the displaced sandboxes. `awaited` returns whether a
    sandbox that appears now may have been started here.
    """

    model = KeptTimelines

    def __init__(self, awaited: Callable[[], bool]) -> None:
        super().__init__()
        self._awaited = awaited
        self._by_id: dict[str, tuple[Event, ...]] = {}
        """Sandboxes without a new event for longest come first."""
        self._last_seen: dict[str, datetime] = {}
        """When the sandboxes that are no longer listed were last listed."""
        self._ours: set[str] = set()
        """Sandboxes that were started here."""
        self._read_at: datetime | None = None
        self._caught_up_at: datetime | None = None

    def of(self, sandbox_id: str) -> tuple[Event, ...]:
        """Return the events of one sandbox, the oldest first; the last one is the current state."""
        return self._by_id.get(sandbox_id, ())

    # Observations

    def read(self, now: datetime) -> None:
        """Note that a reading arrived."""
        if self._read_at is not None and now - self._read_at > GAP:
            self._caught_up_at = now + CATCHING_UP
        self._read_at = now

    def observe(self, sandbox_id: str, before: SandboxMemory | None, after: SandboxMemory, now: datetime) -> None:
        """Apply a changed memory of a sandbox; `before` is None if it was not known in this run."""
        word, events = after.word, self.of(sandbox_id)
        if before is None:
            self._last_seen.pop(sandbox_id, None)
            self.changed.set()  # the time it was last listed must be saved, too
        elif before.word == word:
            return
        if not events or events[-1].what != word:
            cause, words = self._cause(sandbox_id, before, after, now)
            if words == FIRST_SEEN and len(self._by_id) >= IDS:
                return  # it says less than any timeline that would have to go for it
            watched = before is None or not before.recalled
            self._keep(sandbox_id, with_next(events, Event(word, now, cause=cause, words=words), watched=watched))

    def gone(self, sandbox_ids: Iterable[str]) -> None:
        """Note that these are no longer listed; their timelines are kept for a while."""
        for sandbox_id in sandbox_ids:
            if self._read_at is not None and sandbox_id in self._by_id:
                self._last_seen[sandbox_id] = self._read_at
                self.changed.set()

    # Causes

    def perhaps_ours(self, sandbox_id: str) -> bool:
        """Whether it may belong to a start requested here that has no response yet."""
        return self._awaited() and any(event.words == _PERHAPS for event in self.of(sandbox_id))

    def started(self, sandbox_id: str) -> None:
        """Note that it was started here; it may have been listed before the response came."""
        self._ours.add(sandbox_id)
        events: tuple[Event, ...] = ()
        for event in self.of(sandbox_id):
            events = with_next(events, _from_start(event))
        if events:
            self._keep(sandbox_id, events)

    def displaced(self, sandbox_ids: Iterable[str], by: str) -> None:
        """Note that these probably made room for `by` (a short id), which was started or resumed here."""
        words = f"probably to make room for {by}, which you started or resumed"
        for sandbox_id in sandbox_ids:
            *earlier, last = self.of(sandbox_id)
            self._keep(sandbox_id, (*earlier, last._replace(cause=Cause.DISPLACED, words=words)))

    def _cause(
        self, sandbox_id: str, before: SandboxMemory | None, after: SandboxMemory, now: datetime
    ) -> tuple[Cause, str]:
        ours = sandbox_id in self._ours
        pending = before.pending if before is not None else None
        if before is None and ours:
            pending = PendingAction(Action.START, now, here=False)
        if pending is not None and (pending.here or ours) and now - pending.at <= ANSWERED_BY:
            explains = pending.action is not Action.PAUSE or after.word in DONE_IN[Action.PAUSE]
            if explains:
                return _cause_if_asked(pending.action, after.word)
        if self.perhaps_ours(sandbox_id):
            return Cause.UNKNOWN, _PERHAPS
        if before is not None:
            missed = self._caught_up_at is not None and now <= self._caught_up_at
            return (Cause.UNKNOWN, _CLOSED) if missed else (Cause.SERVER, _NOT_ASKED)
        if sandbox_id in self._by_id:
            return Cause.UNKNOWN, _CLOSED
        if not after.exact:
            return Cause.UNKNOWN, FIRST_SEEN
        return (Cause.UNKNOWN, _PERHAPS) if self._awaited() else (Cause.SERVER, _NOT_ASKED)

    def _keep(self, sandbox_id: str, events: tuple[Event, ...]) -> None:
        self._by_id.pop(sandbox_id, None)
        self._by_id[sandbox_id] = events
        self.changed.set()
        if len(self._by_id) > IDS:
            oldest = next(iter(self._by_id))
            del self._by_id[oldest]
            self._last_seen.pop(oldest, None)

    # Saving and restoring

    def kept(self) -> KeptTimelines:
        """Return all timelines, each with the time its sandbox was last listed; a reading has made at least one.

        The time is never in the future, even if the file says so: a clock may have been wrong.
        """
        timelines = {
            sandbox_id: KeptTimeline(min(filter(None, (self._last_seen.get(sandbox_id), self._read_at))), events)
            for sandbox_id, events in self._by_id.items()
        }
        return KeptTimelines.model_construct(sandboxes=timelines)

    def recall(self, kept: KeptTimelines) -> None:
        """Restore what an earlier run or another deck kept of sandboxes that are unknown here, or that it changed."""
        for sandbox_id, (seen_at, events) in kept.sandboxes.items():
            known = self._by_id.get(sandbox_id)
            if known is None:
                self._last_seen[sandbox_id] = seen_at
            if _knows_more(events, known):
                self._by_id[sandbox_id] = events


def _knows_more(events: tuple[Event, ...], mine: tuple[Event, ...] | None) -> bool:
    """Whether another deck knows of a sandbox what this one does not: who asked for its state, or how it came to it."""
    if not mine:
        return True
    last, own = events[-1], mine[-1]
    if last.what != own.what or (own.cause is Cause.YOU and last.cause is not Cause.YOU):
        return False
    return len(events) > len(mine) or (last.cause is Cause.YOU and own.cause is not Cause.YOU)


def with_next(events: tuple[Event, ...], event: Event, *, watched: bool = True) -> tuple[Event, ...]:
    """Return the events with one added.

    The previous event gets a duration, if it was `watched` all the time and this one was not noticed too late.
    """
    if not events:
        return (event,)
    *earlier, last = events
    known = watched and event.cause is not Cause.UNKNOWN
    lasted = max(0.0, (event.seen_at - last.seen_at).total_seconds()) if known else None
    return (*earlier, last._replace(lasted=lasted), event)[-EVENTS:]


def _from_start(event: Event) -> Event:
    """Return an event observed before the response to its start came, with the start as its cause."""
    if event.words not in (_PERHAPS, _NOT_ASKED):
        return event
    cause, words = _cause_if_asked(Action.START, event.what)
    return event._replace(cause=cause, words=words)


def _cause_if_asked(action: Action, word: str) -> tuple[Cause, str]:
    """Return the cause of a state after an action that was requested here."""
    done = word in DONE_IN[action]
    return (Cause.YOU, "") if done else (Cause.SERVER, f"what became of the {action} you asked for")
