"""What happened to each sandbox, when it was seen, how long it lasted and who caused it.

All times are UTC moments of this machine.
"""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from enum import StrEnum
from typing import ClassVar, NamedTuple

from pydantic import AwareDatetime

from quarterdeck.fleet.ages import age
from quarterdeck.fleet.kept import KeptModel, Part
from quarterdeck.fleet.news import About
from quarterdeck.fleet.sandbox_state import Action, SandboxMemory, StateWord

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


_EXPLAINS = {
    Action.PAUSE: frozenset({StateWord.PAUSED}),
    Action.RESUME: frozenset({StateWord.STARTING, StateWord.RUNNING}),
    Action.START: frozenset({StateWord.STARTING, StateWord.RUNNING}),
    Action.DELETE: frozenset({StateWord.MISSING}),
}
_ASKED = "you asked for it"
_NOT_ASKED = "nobody here asked for it"
_PERHAPS = "perhaps the start you asked for"
_UNDONE = "resumed before a reading showed the pause; nobody here asked for it"
_FIRST = "first seen so"
_CLOSED = "changed while nobody watched"


class Timelines(Part[KeptTimelines]):
    """The timelines of all sandboxes of one server; a reading that changes nothing costs nothing here.

    `SandboxMemories` tells of readings and of what is asked for; whoever finds displaced ones tells of those.
    """

    MODEL = KeptTimelines
    ABOUT = About.SANDBOXES
    WHAT = "What happens to sandboxes"
    REST = 30.0

    def __init__(self) -> None:
        super().__init__()
        self._by_id: dict[str, tuple[Event, ...]] = {}
        """Those of which nothing was heard for longest first."""
        self._last_seen: dict[str, datetime] = {}
        """When the ones that are not listed now were listed last."""
        self._asked: dict[str, tuple[Action, datetime]] = {}
        self._starts = 0
        """Starts that were asked for and are not answered."""
        self._perhaps: set[str] = set()
        """What appeared while a start was not answered."""
        self._lost_at: datetime | None = None
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
        word, events = after.settled.word, self.of(sandbox_id)
        if before is None:
            self._last_seen.pop(sandbox_id, None)
            self.changed.set()  # when it was listed last is news, too
            if not events and len(self._by_id) >= IDS:
                return
        elif after.resumed and not before.resumed:
            self._paused_unseen(sandbox_id, now)
        if (before is not None and before.settled.word == word) or (events and events[-1].what == word):
            return
        cause, words = self._cause(sandbox_id, word, now, known=before is not None, began=after.settled.exact)
        self._keep(sandbox_id, with_next(events, Event(word, now, cause=cause, words=words)))

    def gone(self, sandbox_ids: Iterable[str]) -> None:
        """Note that these are not listed any more; what happened to them stays known for a while."""
        for sandbox_id in sandbox_ids:
            if self._read_at is not None and sandbox_id in self._by_id:
                self._last_seen[sandbox_id] = self._read_at
                self.changed.set()

    # What explains it

    def start_asked(self) -> None:
        """Note that a sandbox is asked for that has no id yet: a server may list it before it answers."""
        self._starts += 1

    def start_ended(self, now: datetime, *, lost: bool = False) -> None:
        """Note that such a start was answered, or that its answer is `lost` and nobody knows what became of it.

        Once all are answered, what appeared meanwhile and was not `asked` is somebody else's.
        """
        self._starts -= 1
        if lost:
            self._lost_at = now
        if not self._starts and not self._was_lost(now):
            for sandbox_id in self._perhaps:
                self._explain(sandbox_id, _not_ours)
            self._perhaps.clear()

    def perhaps_ours(self, sandbox_id: str) -> bool:
        """Whether it may be what a start made that is not answered yet."""
        return sandbox_id in self._perhaps

    def asked(self, sandbox_id: str, action: Action, now: datetime) -> None:
        """Note that something is asked of it here; a start once its answer names it, and it may be listed by then."""
        self._asked[sandbox_id] = action, now
        if action is Action.START:
            self._perhaps.discard(sandbox_id)
            self._explain(sandbox_id, _from_start)

    def refused(self, sandbox_id: str) -> None:
        """Note that what was asked of it will not be done."""
        self._asked.pop(sandbox_id, None)

    def displaced(self, sandbox_ids: Iterable[str], by: str) -> None:
        """Note that the server paused these to make room for what was started or resumed here, `by` its short id."""
        words = f"the server paused it to make room for {by}, which you started or resumed"
        for sandbox_id in sandbox_ids:
            *earlier, last = self.of(sandbox_id)
            self._keep(sandbox_id, (*earlier, last._replace(cause=Cause.DISPLACED, words=words)))

    def _paused_unseen(self, sandbox_id: str, now: datetime) -> None:
        """Note a pause that was asked for here, and that somebody undid before a reading showed it."""
        self._asked.pop(sandbox_id, None)
        paused = Event(StateWord.PAUSED, now, cause=Cause.YOU, words=_ASKED)
        again = Event(StateWord.RUNNING, now, cause=Cause.SERVER, words=_UNDONE)
        self._keep(sandbox_id, with_next(with_next(self.of(sandbox_id), paused), again))

    def _explain(self, sandbox_id: str, explained: Callable[[Event], Event]) -> None:
        events: tuple[Event, ...] = ()
        for event in self.of(sandbox_id):
            events = with_next(events, explained(event))
        if events:
            self._keep(sandbox_id, events)

    def _cause(self, sandbox_id: str, word: str, now: datetime, *, known: bool, began: bool) -> tuple[Cause, str]:
        action = self._asked_for(sandbox_id, word, now)
        if action is not None and word in _EXPLAINS[action]:
            return Cause.YOU, _ASKED
        if action is not None and action is not Action.PAUSE:
            return Cause.SERVER, _became_of(action)
        if sandbox_id in self._perhaps:
            return Cause.UNKNOWN, _PERHAPS
        if known:
            return self._seen_late(now) or (Cause.SERVER, _NOT_ASKED)
        if sandbox_id in self._by_id:
            return Cause.UNKNOWN, _CLOSED
        if not began:
            return Cause.UNKNOWN, _FIRST
        if self._starts or self._was_lost(now):
            self._perhaps.add(sandbox_id)
            return Cause.UNKNOWN, _PERHAPS
        return Cause.SERVER, _NOT_ASKED

    def _was_lost(self, now: datetime) -> bool:
        """Whether a start whose answer was lost may still show what it did."""
        return self._lost_at is not None and now - self._lost_at <= CATCHING_UP

    def _seen_late(self, now: datetime) -> tuple[Cause, str] | None:
        """What is to be said of a change that may have happened while nothing was read."""
        if self._caught_up_at is None or now > self._caught_up_at:
            return None
        return Cause.UNKNOWN, f"changed while nothing was read for {age(self._gap.total_seconds())}"

    def _asked_for(self, sandbox_id: str, word: str, now: datetime) -> Action | None:
        """What was asked of it here not long ago; any change but that to starting settles it, and a deletion none."""
        action, at = self._asked.get(sandbox_id, (None, now))
        if word != StateWord.STARTING and action is not Action.DELETE:
            self._asked.pop(sandbox_id, None)
        return action if now - at <= ANSWERED_BY else None

    def _keep(self, sandbox_id: str, events: tuple[Event, ...]) -> None:
        self._by_id.pop(sandbox_id, None)
        self._by_id[sandbox_id] = events
        self.changed.set()
        if len(self._by_id) > IDS:
            oldest = next(iter(self._by_id))
            del self._by_id[oldest]
            self._last_seen.pop(oldest, None)

    # From run to run

    def recall(self, kept: KeptTimelines | None) -> frozenset[str]:
        """Take what an earlier run kept, before anything is read; gives the ids it tells of."""
        for sandbox_id, (seen_at, events) in list(kept.sandboxes.items())[-IDS:] if kept is not None else ():
            self._last_seen[sandbox_id], self._by_id[sandbox_id] = seen_at, events
        return frozenset(self._by_id)

    def merge(self) -> Callable[[KeptTimelines | None], KeptTimelines | None]:
        """What makes the next file of the one there is: what another deck kept of other sandboxes stays."""
        now = self._read_at
        mine = {
            sandbox_id: KeptTimeline(self._last_seen.get(sandbox_id, now) or events[-1].seen_at, events)
            for sandbox_id, events in self._by_id.items()
        }

        def merged(kept: KeptTimelines | None) -> KeptTimelines | None:
            others = {i: each for i, each in kept.sandboxes.items() if i not in mine} if kept is not None else {}
            known = [(i, each) for i, each in (others | mine).items() if now is None or now - each.seen_at <= KEPT]
            return KeptTimelines(sandboxes=dict(known[-IDS:])) if known else None

        return merged


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
    if event.what in _EXPLAINS[Action.START]:
        return event._replace(cause=Cause.YOU, words=_ASKED)
    return event._replace(cause=Cause.SERVER, words=_became_of(Action.START))


def _not_ours(event: Event) -> Event:
    """What was seen of a sandbox that may have been asked for here, and was not."""
    return event._replace(cause=Cause.SERVER, words=_NOT_ASKED) if event.words == _PERHAPS else event


def _became_of(action: Action) -> str:
    return f"what became of the {action} you asked for"
