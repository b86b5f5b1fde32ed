"""Which running sandbox a start or resume may cost, and which one it did.

Before they start or resume one, servers pause the oldest-created running ones above a cap, and tell nobody.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, ClassVar

from pydantic import Field

from quarterdeck.client.models.sandbox import Sandbox
from quarterdeck.fleet.kept import KeptModel, KeptPart
from quarterdeck.fleet.news import About, News
from quarterdeck.fleet.sandbox_state import UP, SandboxMemory, StateWord
from quarterdeck.fleet.sandboxes import short_id
from quarterdeck.fleet.timeline import Cause, Event, Timelines

DOCKER, DOCKER_CAP = "oh-agent-server-", 5
"""What the ids of sandboxes in Docker begin with, and how many of them servers let run unless told otherwise."""
LOOKED_FOR = timedelta(seconds=30)
"""How long after a start or resume what stopped is taken to have made room for it."""
_LAST = datetime.max.replace(tzinfo=UTC)
Named = Callable[[str], str | None]
"""The title of a conversation in a sandbox, by the sandbox's id."""


class KeptCap(KeptModel):
    """How many sandboxes a server was seen to let run; None when there is no such cap."""

    kind: ClassVar[str] = "cap"
    cap: Annotated[int, Field(ge=1)] | None


# Beforehand


def forecast(running: Sequence[str], cap: int | None, title_in: Named, count: int = 1) -> str:
    """What starting or resuming `count` sandboxes will likely do to those that run, the oldest first.

    Empty when nothing, and where it cannot be foreseen: the cap is not known, or more run than it lets run.
    """
    first = running[: max(0, len(running) + count - cap)] if cap is not None and len(running) <= cap else ()
    if not first:
        return ""
    more = f" and {len(first) - 3} more" if len(first) > 3 else ""
    ones = "the oldest one" if len(first) == 1 else f"the {len(first)} oldest ones"
    named = _named(first[:3], title_in)
    return f"{len(running)} of about {cap} run already: the server will likely pause {ones}, {named}{more}."


def running_oldest_first(records: Iterable[Sandbox], memories: Mapping[str, SandboxMemory]) -> tuple[str, ...]:
    """The ids of what runs, in the order in which it would be paused, but for what something was asked of already.

    One of unknown age is thought the youngest.
    """
    known = ((record, memories.get(record.id)) for record in records)
    running = [
        (record.created_at or _LAST, record.id)
        for record, memory in known
        if memory is not None and memory.asked is None and memory.settled.word == StateWord.RUNNING
    ]
    return tuple(sandbox_id for _, sandbox_id in sorted(running))


# Afterwards


@dataclass
class _Coming:
    """A sandbox that the server started or resumed, and what ran before it, the oldest first."""

    sandbox_id: str
    running: Sequence[str]
    until: datetime
    displaced: int = 0


class Displacement(KeptPart[KeptCap]):
    """The starts and resumes of this deck whose consequences are still being looked for, and what they taught."""

    model = KeptCap

    def __init__(self, timelines: Timelines, title_in: Named) -> None:
        super().__init__()
        self.learned: KeptCap | None = None
        self._timelines = timelines
        self._title_in = title_in
        self._coming: list[_Coming] = []

    def cap(self, ids: Iterable[str]) -> int | None:
        """About how many sandboxes the server lets run; while nothing was learned, their ids let guess it."""
        if self.learned is not None:
            return self.learned.cap
        return DOCKER_CAP if any(sandbox_id.startswith(DOCKER) for sandbox_id in ids) else None

    def answered(self, sandbox_id: str, running: Sequence[str], now: datetime) -> None:
        """Look for what made room for one that the server said it starts or resumes; `running` ran before it."""
        self._coming.append(_Coming(sandbox_id, running, now + LOOKED_FOR))

    def read(self, now: datetime) -> Iterator[News]:
        """Look at what a reading made of the timelines; tells, and notes in them, what is found to have made room."""
        for coming in list(self._coming):
            by = short_id(coming.sandbox_id)
            if ids := made_room(coming.running, coming.sandbox_id, self._timelines.of):
                self._timelines.displaced(ids, by)
                coming.displaced += len(ids)
                self._learn(coming)
                words = f"The server paused {_named(ids, self._title_in)} to make room for {by}."
                yield News(About.SANDBOXES, frozenset(ids), words=words)
            elif now >= coming.until:
                self._coming.remove(coming)
                events = self._timelines.of(coming.sandbox_id)
                if not coming.displaced and events and events[-1].what == StateWord.RUNNING:
                    self._learn(coming)

    def _learn(self, coming: _Coming) -> None:
        """What a start teaches: so many ran before it, of which so many were paused for it."""
        before, runs = self.learned, len(coming.running) - coming.displaced + 1
        if coming.displaced:
            self.learned = KeptCap(cap=runs)
        elif before is not None and before.cap is not None and runs > before.cap:
            self.learned = KeptCap(cap=None)
        if self.learned != before:
            self.changed.set()

    def kept(self) -> KeptCap | None:
        """What was learned, if anything was."""
        return self.learned

    def recall(self, kept: KeptCap) -> frozenset[str]:
        """Take what an earlier run learned, unless this one knows better already."""
        self.learned = self.learned or kept
        return frozenset()


def made_room(running: Iterable[str], by: str, timeline: Callable[[str], Sequence[Event]]) -> tuple[str, ...]:
    """Which of those that ran before a start or resume, oldest first, are paused after it for no other known reason.

    It stops at the first one that is still up: servers pause the oldest ones, so any younger one had another reason.
    """
    found = []
    for sandbox_id in running:
        events = timeline(sandbox_id)
        if sandbox_id == by or not events:
            continue
        if events[-1].what in UP:
            break
        if events[-1].what == StateWord.PAUSED and events[-1].cause not in (Cause.YOU, Cause.DISPLACED):
            found.append(sandbox_id)
    return tuple(found)


def _named(ids: Iterable[str], title_in: Named) -> str:
    """These sandboxes by their short ids, and a title where one is known."""
    titled = ((short_id(sandbox_id), title_in(sandbox_id)) for sandbox_id in ids)
    return ", ".join(f"{each} ({title})" if title else each for each, title in titled)
