"""Which running sandboxes a server pauses to make room for a start or resume, before and after the fact.

Before they start or resume a sandbox, servers pause the oldest running ones above a cap, and report this to nobody:
somebody else may have paused them just then.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, ClassVar

from pydantic import Field

from quarterdeck.client.models.sandbox import Sandbox
from quarterdeck.fleet.kept import KeptModel, KeptPart
from quarterdeck.fleet.memories import SandboxMemories
from quarterdeck.fleet.news import About, News
from quarterdeck.fleet.sandbox_state import UP, StateWord
from quarterdeck.fleet.sandboxes import short_id
from quarterdeck.fleet.timeline import Cause, Event

DOCKER, DOCKER_CAP = "oh-agent-server-", 5
"""The prefix of ids of Docker sandboxes, and how many of those servers let run by default."""
LOOKED_FOR = timedelta(seconds=30)
"""How long after a start or resume a stopped sandbox is assumed to have made room for it."""
_LAST = datetime.max.replace(tzinfo=UTC)


class KeptCap(KeptModel):
    """How many sandboxes a server was seen to let run; None if there is no such cap, 0 if it is not known."""

    kind: ClassVar[str] = "cap"
    cap: Annotated[int, Field(ge=0)] | None = 0


@dataclass
class RequestedStart:
    """A start or resume that was requested, and the ids that ran before it, the oldest first."""

    running: Sequence[str]
    sandbox_id: str = ""
    """What was started or resumed; empty until the server has answered."""
    until: datetime = _LAST
    displaced: int = 0

    def answered(self, sandbox_id: str, now: datetime) -> None:
        """Note what was started; for a while, what stops may have made room for it."""
        self.sandbox_id, self.until = sandbox_id, now + LOOKED_FOR


@dataclass(eq=False)
class Displacement(KeptPart[KeptCap]):
    """Finds out what starts and resumes of this deck displaced, and learns the server's cap from it.

    `records` returns all sandboxes, `title_in` the title of a conversation in a sandbox, given its id.
    """

    model = KeptCap
    records: Callable[[], Mapping[str, Sandbox]]
    memories: SandboxMemories
    title_in: Callable[[str], str | None]

    def __post_init__(self) -> None:
        super().__init__()
        self.learned = KeptCap()
        self._recent: list[RequestedStart] = []

    # Before

    @property
    def cap(self) -> int | None:
        """About how many sandboxes the server lets run, None if not known; until learned, guessed from an id."""
        if self.learned.cap != 0:
            return self.learned.cap
        return DOCKER_CAP if next(iter(self.records()), "").startswith(DOCKER) else None

    def forecast(self, count: int = 1) -> str:
        """Return a sentence about which running sandboxes starting or resuming `count` more will likely pause.

        It is empty if none will be paused, or if it cannot be foreseen: the cap is not known, or more than the cap
        already run.
        """
        running, cap = self._running, self.cap
        first = running[: max(0, len(running) + count - cap)] if cap is not None and len(running) <= cap else ()
        if not first:
            return ""
        more = f" and {len(first) - 3} more" if len(first) > 3 else ""
        ones = "the oldest one" if len(first) == 1 else f"the {len(first)} oldest ones"
        named = self._named(first[:3])
        return f"{len(running)} of about {cap} run already: the server will likely pause {ones}, {named}{more}."

    @property
    def _running(self) -> Sequence[str]:
        """The ids of running sandboxes in the order in which a server would pause them.

        Those with an action under way are left out; those of unknown age count as the youngest.
        """
        known = ((record, self.memories.by_id.get(record.id)) for record in self.records().values())
        running = [
            (record.created_at or _LAST, record.id)
            for record, memory in known
            if memory is not None and memory.pending is None and memory.word == StateWord.RUNNING
        ]
        return [sandbox_id for _, sandbox_id in sorted(running)]

    # After

    @contextmanager
    def asking(self) -> Iterator[RequestedStart]:
        """Look for what the start requested inside the block displaces.

        Servers pause before they answer, so what stops meanwhile made no room for a start that was answered before.
        """
        self._recent = [each for each in self._recent if not each.sandbox_id]
        start = RequestedStart(self._running)
        self._recent.append(start)
        try:
            yield start
        finally:
            if not start.sandbox_id:
                self._recent.remove(start)

    def read(self, now: datetime) -> Iterator[News]:
        """Look for displaced sandboxes in the timelines after a reading; notes them there and yields news of them.

        The last start is asked first: what still ran when it was requested was not paused for an earlier one.
        """
        for start in reversed([each for each in self._recent if each.sandbox_id]):
            by = short_id(start.sandbox_id)
            if ids := made_room(start.running, start.sandbox_id, self.memories.timelines.of):
                self.memories.timelines.displaced(ids, by)
                start.displaced += len(ids)
                self._learn(start)
                words = f"Paused, probably to make room for {by}: {self._named(ids)}."
                yield News(About.SANDBOXES, frozenset(ids), words=words)
            elif now >= start.until:
                self._recent.remove(start)
                events = self.memories.timelines.of(start.sandbox_id)
                if not start.displaced and events and events[-1].what == StateWord.RUNNING:
                    self._learn(start)

    def _learn(self, start: RequestedStart) -> None:
        """Learn from a start: how many ran before it, and how many of those were paused for it."""
        before, runs = self.learned, len(start.running) - start.displaced + 1
        if start.displaced:
            self.learned = KeptCap(cap=runs)
        elif before.cap and runs > before.cap:
            self.learned = KeptCap(cap=None)
        if self.learned != before:
            self.changed.set()

    def _named(self, ids: Iterable[str]) -> str:
        """Return the short ids of these sandboxes, each with a title if known."""
        titled = ((short_id(sandbox_id), self.title_in(sandbox_id)) for sandbox_id in ids)
        return ", ".join(f"{each} ({title})" if title else each for each, title in titled)

    def kept(self) -> KeptCap:
        """Return what was learned, if anything."""
        return self.learned

    def recall(self, kept: KeptCap) -> None:
        """Restore what an earlier run learned, unless this run already knows better."""
        self.learned = kept if self.learned == KeptCap() else self.learned


def made_room(running: Iterable[str], by: str, timeline: Callable[[str], Sequence[Event]]) -> tuple[str, ...]:
    """Return which of the sandboxes that ran before a start or resume were paused for it.

    `running` has the oldest first. Servers pause the oldest ones, so the search ends at the first one that is still up:
    any younger one was paused for another reason.
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
