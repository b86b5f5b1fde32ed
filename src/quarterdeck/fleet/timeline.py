"""What happened to each sandbox, when it was seen, how long it lasted and who caused it.

All times are UTC moments of this machine.
"""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from enum import StrEnum
from typing import ClassVar, NamedTuple

from pydantic import AwareDatetime

from quarterdeck.fleet.kept import KeptModel, KeptPart
from quarterdeck.fleet.sandbox_state import DONE_IN, UP, Action, Asked, SandboxMemory

EVENTS = 20
"""Kept of one sandbox, the newest."""
IDS = 2_000
"""Sandboxes whose timeline is kept; those of which nothing was heard for longest go first."""
KEPT = timedelta(days=30)
"""The timeline of a sandbox that was not seen for so long is dropped."""
ANSWERED_BY = timedelta(minutes=5)
"""What was asked for explains changes for so long."""
GAP = timedelta(minutes=2)
"""When nothing was read for so long, a change may have any cause and may have happened at any time in it."""
CATCHING_UP = timedelta(minutes=1)
"""After a gap, or a start whose answer was lost, until every row has been read again."""


class Cause(StrEnum):
    """Who made it happen, as far as can be told from here."""

    YOU = "you"
    """It was asked for here."""
    SERVER = "server"
    """It was watched, and nobody here had asked."""
    DISPLACED = "displaced"
    """The server paused it to make room for what was started or resumed here."""
    UNKNOWN = "unknown"
    """It was seen only afterwards, or it may be what was asked for here."""


class Event(NamedTuple):
    """A sandbox was seen in a new state."""

    what: str
    """The word of the state, a `StateWord` or the server's own, raw."""
    seen_at: AwareDatetime
    lasted: float | None = None
    """Seconds; None while it lasts, and where its end was not seen."""
    cause: Cause = Cause.UNKNOWN
    words: str = ""
    """How it came about, a phrase."""


class KeptTimeline(NamedTuple):
    """What is kept of one sandbox between runs."""

    seen_at: AwareDatetime
    """When it was listed last."""
    events: tuple[Event, ...]


class KeptTimelines(KeptModel):
    """The state file."""

    kind: ClassVar[str] = "timelines"
    sandboxes: dict[str, KeptTimeline]

    def joined(self, kept: "KeptTimelines | None") -> "KeptTimelines":
        """These, and what another deck kept of other sandboxes that were seen in the last `KEPT`."""
        others = {i: each for i, each in kept.sandboxes.items() if i not in self.sandboxes} if kept is not None else {}
        both = others | self.sandboxes
        oldest = max(each.seen_at for each in both.values()) - KEPT
        known = [(sandbox_id, each) for sandbox_id, each in both.items() if each.seen_at >= oldest]
        return KeptTimelines(sandboxes=dict(known[-IDS:]))


_ASKED = "you asked for it"
_NOT_ASKED = "nobody here asked for it"
_PERHAPS = "came while you waited for a start"
_CLOSED = "changed while nobody watched"


class Timelines(KeptPart[KeptTimelines]):
    """The timelines of all sandboxes of one server; a reading that changes nothing costs nothing here.

    `SandboxMemories` tells of what readings made of them; whoever finds displaced ones tells of those. `awaited` says
    whether what appears may be what a start makes that was asked for here.
    """

    model = KeptTimelines

    def __init__(self, awaited: Callable[[], bool] = lambda: False) -> None:
        super().__init__()
        self._awaited = awaited
        self._by_id: dict[str, tuple[Event, ...]] = {}
        """Those of which nothing was heard for longest first."""
        self._last_seen: dict[str, datetime] = {}
        """When the ones that are not listed now were listed last."""
        self._ours: set[str] = set()
        """What starts made that were asked for here."""
        self._read_at: datetime | None = None
        self._caught_up_at: datetime | None = None

    def of(self, sandbox_id: str) -> tuple[Event, ...]:
        """What is known of one sandbox, the oldest event first; the last one lasts."""
        return self._by_id.get(sandbox_id, ())

    # What is seen

    def read(self, now: datetime) -> None:
        """Note that a reading came in."""
        if self._read_at is not None and now - self._read_at > GAP:
            self._caught_up_at = now + CATCHING_UP
        self._read_at = now

    def observe(self, sandbox_id: str, before: SandboxMemory | None, after: SandboxMemory, now: datetime) -> None:
        """Take what a reading made of a sandbox; a `before` of None means that it was not known in this run."""
        word, events = after.settled.word, self.of(sandbox_id)
        if before is None:
            self._last_seen.pop(sandbox_id, None)
            self.changed.set()  # when it was listed last is news, too
        elif before.settled.word == word:
            return
        if not events or events[-1].what != word:
            cause, words = self._cause(sandbox_id, before, after, now)
            self._keep(sandbox_id, with_next(events, Event(word, now, cause=cause, words=words)))

    def gone(self, sandbox_ids: Iterable[str]) -> None:
        """Note that these are not listed any more; what happened to them stays known for a while."""
        for sandbox_id in sandbox_ids:
            if self._read_at is not None and sandbox_id in self._by_id:
                self._last_seen[sandbox_id] = self._read_at
                self.changed.set()

    # What explains it

    def perhaps_ours(self, sandbox_id: str) -> bool:
        """Whether it may be what a start made that is not answered yet."""
        return self._awaited() and any(event.words == _PERHAPS for event in self.of(sandbox_id))

    def started(self, sandbox_id: str) -> None:
        """Note that it is what a start made that was asked for here; it may have been listed before."""
        self._ours.add(sandbox_id)
        events: tuple[Event, ...] = ()
        for event in self.of(sandbox_id):
            events = with_next(events, _from_start(event))
        if events:
            self._keep(sandbox_id, events)

    def displaced(self, sandbox_ids: Iterable[str], by: str) -> None:
        """Note that the server paused these to make room for what was started or resumed here, `by` its short id."""
        words = f"the server paused it to make room for {by}, which you started or resumed"
        for sandbox_id in sandbox_ids:
            *earlier, last = self.of(sandbox_id)
            self._keep(sandbox_id, (*earlier, last._replace(cause=Cause.DISPLACED, words=words)))

    def _cause(
        self, sandbox_id: str, before: SandboxMemory | None, after: SandboxMemory, now: datetime
    ) -> tuple[Cause, str]:
        ours = sandbox_id in self._ours
        asked = before.asked if before is not None else Asked(Action.START, now, here=False) if ours else None
        if asked is not None and (asked.here or ours) and now - asked.at <= ANSWERED_BY:
            if after.settled.word in DONE_IN[asked.action]:
                return Cause.YOU, _ASKED
            if asked.action is not Action.PAUSE:
                return Cause.SERVER, _became_of(asked.action)
        if self.perhaps_ours(sandbox_id):
            return Cause.UNKNOWN, _PERHAPS
        if before is not None:
            missed = self._caught_up_at is not None and now <= self._caught_up_at
            return (Cause.UNKNOWN, _CLOSED) if missed else (Cause.SERVER, _NOT_ASKED)
        if sandbox_id in self._by_id:
            return Cause.UNKNOWN, _CLOSED
        if not after.settled.exact:
            return Cause.UNKNOWN, "first seen so"
        return (Cause.UNKNOWN, _PERHAPS) if self._awaited() else (Cause.SERVER, _NOT_ASKED)

    def _keep(self, sandbox_id: str, events: tuple[Event, ...]) -> None:
        self._by_id.pop(sandbox_id, None)
        self._by_id[sandbox_id] = events
        self.changed.set()
        if len(self._by_id) > IDS:
            oldest = next(iter(self._by_id))
            del self._by_id[oldest]
            self._last_seen.pop(oldest, None)

    # From run to run

    def kept(self) -> KeptTimelines | None:
        """All timelines, each with when its sandbox was listed last."""
        if not self._by_id:
            return None
        timelines = {
            sandbox_id: KeptTimeline(self._last_seen.get(sandbox_id, self._read_at) or events[-1].seen_at, events)
            for sandbox_id, events in self._by_id.items()
        }
        return KeptTimelines.model_construct(sandboxes=timelines)

    def recall(self, kept: KeptTimelines) -> frozenset[str]:
        """Take what an earlier run or another deck kept of sandboxes that nothing is known of here."""
        for sandbox_id, (seen_at, events) in kept.sandboxes.items():
            if sandbox_id not in self._by_id:
                self._last_seen[sandbox_id], self._by_id[sandbox_id] = seen_at, events
        return frozenset()


def with_next(events: tuple[Event, ...], event: Event) -> tuple[Event, ...]:
    """The events with one more, which ends the last of them: when, is known unless it was seen only afterwards."""
    if not events:
        return (event,)
    *earlier, last = events
    lasted = None if event.cause is Cause.UNKNOWN else max(0.0, (event.seen_at - last.seen_at).total_seconds())
    return (*earlier, last._replace(lasted=lasted), event)[-EVENTS:]


def _from_start(event: Event) -> Event:
    """What was seen of a sandbox before the start that made it was answered."""
    if event.words not in (_PERHAPS, _NOT_ASKED):
        return event
    if event.what in UP:
        return event._replace(cause=Cause.YOU, words=_ASKED)
    return event._replace(cause=Cause.SERVER, words=_became_of(Action.START))


def _became_of(action: Action) -> str:
    return f"what became of the {action} you asked for"
