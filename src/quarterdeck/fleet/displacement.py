"""Which running sandbox a start or resume may cost, and which one it did.

Before they start or resume one, servers pause the oldest-created running ones above a cap, and tell nobody.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, ClassVar, NamedTuple

from pydantic import Field

from quarterdeck.client.models.sandbox import Sandbox
from quarterdeck.fleet.kept import KeptModel
from quarterdeck.fleet.sandbox_state import UP, SandboxMemory, StateWord
from quarterdeck.fleet.sandboxes import short_id
from quarterdeck.fleet.timeline import Cause, Event, Timelines

DOCKER, DOCKER_CAP = "oh-agent-server-", 5
"""What the ids of sandboxes in Docker begin with, and how many of them servers let run unless told otherwise."""
LOOKED_FOR = timedelta(seconds=30)
"""How long after a start or resume what stopped is taken to have made room for it."""
_LAST = datetime.max.replace(tzinfo=UTC)
_EXPLAINED = frozenset({Cause.YOU, Cause.DISPLACED})
Timeline = Callable[[str], Sequence[Event]]
"""What is known of one sandbox, by its id, the oldest event first."""
TitleIn = Callable[[str], str | None]
"""The title of a conversation in a sandbox, by the sandbox's id."""


class KeptCap(KeptModel):
    """How many sandboxes a server was seen to let run; None when there is no such cap."""

    kind: ClassVar[str] = "cap"
    cap: Annotated[int, Field(ge=1)] | None


def probable_cap(learned: KeptCap | None, ids: Iterable[str]) -> int | None:
    """About how many sandboxes a server lets run; while nothing was learned, their ids let guess it."""
    if learned is not None:
        return learned.cap
    return DOCKER_CAP if any(sandbox_id.startswith(DOCKER) for sandbox_id in ids) else None


def cap_learned(before: KeptCap | None, *, running: int, displaced: int) -> KeptCap | None:
    """What a start or resume teaches: `running` ran before it, so many of them were paused for it."""
    runs = running - displaced + 1
    if displaced:
        return KeptCap(cap=runs)
    if before is not None and before.cap is not None and runs > before.cap:
        return KeptCap(cap=None)
    return before


# Beforehand


def forecast(running: Sequence[str], cap: int | None, title_in: TitleIn, count: int = 1) -> str:
    """What starting or resuming `count` sandboxes will likely do to those that run, the oldest first.

    Empty when nothing, and where it cannot be foreseen: the cap is not known, or more run than it lets run.
    """
    if cap is None or len(running) > cap:
        return ""
    first = running[: max(0, len(running) + count - cap)]
    if not first:
        return ""
    named = ", ".join(_named(sandbox_id, title_in(sandbox_id)) for sandbox_id in first[:3])
    more = f" and {len(first) - 3} more" if len(first) > 3 else ""
    ones = "the oldest one" if len(first) == 1 else f"the {len(first)} oldest ones"
    return f"{len(running)} of about {cap} run already: the server will likely pause {ones}, {named}{more}."


# Afterwards


class Displaced(NamedTuple):
    """What made room for what."""

    ids: tuple[str, ...]
    by: str
    """The id of what was started or resumed."""

    def words(self, title_in: TitleIn) -> str:
        """What to say of it."""
        named = ", ".join(_named(sandbox_id, title_in(sandbox_id)) for sandbox_id in self.ids)
        return f"The server paused {named} to make room for {short_id(self.by)}."


@dataclass
class _Coming:
    """A sandbox that the server started or resumed, and what ran before it, the oldest first."""

    sandbox_id: str
    running: Sequence[str]
    until: datetime
    displaced: int = 0


class Displacement:
    """The starts and resumes of this deck whose consequences are still being looked for, and what they taught."""

    model = KeptCap

    def __init__(self) -> None:
        self.changed = asyncio.Event()
        self.learned: KeptCap | None = None
        self._coming: list[_Coming] = []

    def answered(self, sandbox_id: str, running: Sequence[str], now: datetime) -> None:
        """Look for what made room for one that the server said it starts or resumes; `running` ran before it."""
        self._coming.append(_Coming(sandbox_id, running, now + LOOKED_FOR))

    def read(self, timelines: Timelines, now: datetime) -> list[Displaced]:
        """Look at what a reading made of the timelines, and explain to them what is found to have made room."""
        found = []
        for coming in list(self._coming):
            if ids := made_room(coming.running, coming.sandbox_id, timelines.of):
                timelines.displaced(ids, short_id(coming.sandbox_id))
                coming.displaced += len(ids)
                self._learn(coming)
                found.append(Displaced(ids, coming.sandbox_id))
            elif now >= coming.until:
                self._coming.remove(coming)
                events = timelines.of(coming.sandbox_id)
                if not coming.displaced and events and events[-1].what == StateWord.RUNNING:
                    self._learn(coming)
        return found

    def _learn(self, coming: _Coming) -> None:
        before = self.learned
        self.learned = cap_learned(before, running=len(coming.running), displaced=coming.displaced)
        if self.learned != before:
            self.changed.set()

    def recall(self, kept: KeptCap | None) -> frozenset[str]:
        """Take what an earlier run learned, unless this one knows better already."""
        self.learned = self.learned or kept
        return frozenset()

    def merge(self) -> Callable[[KeptCap | None], KeptCap | None]:
        """What makes the next file of the one there is, which stays while nothing was learned."""
        learned = self.learned
        return lambda kept: learned or kept


def made_room(running: Iterable[str], by: str, timeline: Timeline) -> tuple[str, ...]:
    """Which of those that ran before a start or resume, oldest first, are paused after it for no other known reason.

    None that is younger than one that is still up: servers pause the oldest ones, so it was paused for another reason.
    """
    found = []
    for sandbox_id in running:
        events = timeline(sandbox_id)
        if sandbox_id == by or not events:
            continue
        if events[-1].what in UP:
            break
        if events[-1].what == StateWord.PAUSED and events[-1].cause not in _EXPLAINED:
            found.append(sandbox_id)
    return tuple(found)


def running_oldest_first(records: Iterable[Sandbox], memories: Mapping[str, SandboxMemory]) -> tuple[str, ...]:
    """The ids of what runs, in the order in which it would be paused, but for what something was asked of already."""
    known = ((record, memories.get(record.id)) for record in records)
    running = [
        record
        for record, memory in known
        if memory is not None and memory.asked is None and memory.settled.word == StateWord.RUNNING
    ]
    return tuple(record.id for record in sorted(running, key=_oldest_first))


def _oldest_first(record: Sandbox) -> tuple[datetime, str]:
    """One of unknown age is thought the youngest."""
    return record.created_at or _LAST, record.id


def _named(sandbox_id: str, title: str | None) -> str:
    return f"{short_id(sandbox_id)} ({title})" if title else short_id(sandbox_id)
