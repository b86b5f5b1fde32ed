"""Which running sandbox a start or resume may cost, and which one it did.

Before they start or resume one, servers pause the oldest-created running ones above a cap, and tell nobody.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Annotated, ClassVar, NamedTuple

from pydantic import Field

from quarterdeck.client.models.sandbox import Sandbox
from quarterdeck.fleet.kept import KeptModel, Part
from quarterdeck.fleet.news import About
from quarterdeck.fleet.sandbox_state import UP, Action, SandboxMemory, StateWord
from quarterdeck.fleet.sandboxes import SandboxRow, short_id

DOCKER, DOCKER_CAP = "oh-agent-server-", 5
"""What the ids of sandboxes in Docker begin with, and how many of them servers let run unless told otherwise."""
LOOKED_FOR = timedelta(seconds=30)
"""How long after a start or resume what stopped is taken to have made room for it."""
_LAST = datetime.max.replace(tzinfo=UTC)


class Cap(NamedTuple):
    """How many sandboxes a server lets run at a time, as far as is known here."""

    about: int | None = None
    """None when it is not known, and when there is none."""
    learned: bool = False
    """Seen here; else it is what servers of its kind do unless told otherwise."""


class KeptCap(KeptModel):
    """How many sandboxes a server was seen to let run; None when there is no such cap."""

    kind: ClassVar[str] = "cap"
    cap: Annotated[int, Field(ge=1)] | None


def guessed(cap: Cap, ids: Iterable[str]) -> Cap:
    """The cap, or what the ids of the sandboxes let guess while nothing was learned."""
    if cap.learned or not any(sandbox_id.startswith(DOCKER) for sandbox_id in ids):
        return cap
    return Cap(DOCKER_CAP)


def cap_learned(cap: Cap, *, running: int, displaced: int) -> Cap:
    """What a start or resume teaches: `running` ran before it, so many of them were paused for it."""
    runs = running - displaced + 1
    if displaced:
        return Cap(runs, learned=True)
    if cap.about is not None and runs > cap.about:
        return Cap(None, learned=True)
    return cap


# Beforehand


class Forecast(NamedTuple):
    """What starting or resuming some sandboxes will likely do to others."""

    ids: tuple[str, ...] = ()
    """Those likely to be paused, in that order."""
    words: str = ""
    """A sentence; empty when nothing is likely to be paused."""


def forecast(rows: Iterable[SandboxRow], now: datetime, cap: int | None, action: Action, *, count: int = 1) -> Forecast:
    """Foresee what starting (or resuming) `count` sandboxes does.

    Nothing can be foreseen where the cap is not known, or is another one, for more run than it lets run.
    """
    running = [row for row in rows if row.state(now).known is StateWord.RUNNING]
    if cap is None or len(running) > cap or action is Action.PAUSE:
        return Forecast()
    running.sort(key=lambda row: _oldest_first(row.record))
    first = running[: max(0, len(running) + count - cap)]
    if not first:
        return Forecast()
    named = ", ".join(_named(row.id, row.name) for row in first[:3])
    more = f" and {len(first) - 3} more" if len(first) > 3 else ""
    ones = "the oldest one" if len(first) == 1 else f"the {len(first)} oldest ones"
    words = f"{len(running)} of about {cap} run already: the server will likely pause {ones}, {named}{more}."
    return Forecast(tuple(row.id for row in first), words)


# Afterwards


class Displaced(NamedTuple):
    """What made room for what."""

    ids: tuple[str, ...]
    by: str
    """The id of what was started or resumed."""

    def words(self, title_in: Callable[[str], str | None]) -> str:
        """What to say of it; `title_in` gives the title of a conversation in a sandbox."""
        named = ", ".join(_named(sandbox_id, title_in(sandbox_id)) for sandbox_id in self.ids)
        return f"The server paused {named} to make room for {short_id(self.by)}."


class Coming:
    """A sandbox that is coming up, and which ones ran before it, the oldest first."""

    def __init__(self, running: Sequence[str], clock: Callable[[], datetime]) -> None:
        self.running = running
        self.sandbox_id: str | None = None
        """None while the server has not answered."""
        self.until = clock()
        self.displaced = 0
        self._clock = clock

    def answered(self, sandbox_id: str) -> None:
        """Note that the server took it."""
        self.sandbox_id, self.until = sandbox_id, self._clock() + LOOKED_FOR


class Displacement(Part[KeptCap]):
    """The starts and resumes of this deck whose consequences are still being looked for, and what they taught."""

    MODEL = KeptCap
    ABOUT = About.SANDBOXES
    WHAT = "What happens to sandboxes"

    def __init__(self) -> None:
        super().__init__()
        self.cap = Cap()
        self._coming: list[Coming] = []
        self._explained: set[str] = set()
        """Sandboxes whose pause has another reason: somebody here asked for it, or another start displaced them."""

    @contextmanager
    def watching(self, running: Sequence[str], clock: Callable[[], datetime]) -> Iterator[Coming]:
        """Note what runs before a start or resume, oldest first; what it costs is looked for once it was answered."""
        coming = Coming(running, clock)
        self._coming.append(coming)
        try:
            yield coming
        finally:
            if coming.sandbox_id is None:
                self._forget(coming)

    def asked_to_pause(self, sandbox_id: str) -> None:
        """Note that a pause is not the work of a start."""
        if self._coming:
            self._explained.add(sandbox_id)

    def read(self, memories: Mapping[str, SandboxMemory], now: datetime) -> list[Displaced]:
        """Take a reading; gives what was found to have made room."""
        found: list[Displaced] = []
        after = {known: memory.settled.word for known, memory in memories.items()} if self._coming else {}
        for coming in list(self._coming):
            if coming.sandbox_id is None:
                continue
            if ids := found_displaced(coming.running, after, coming.sandbox_id, self._explained):
                self._explained.update(ids)
                coming.displaced += len(ids)
                self._learn(coming)
                found.append(Displaced(ids, coming.sandbox_id))
            elif now >= coming.until:
                self._forget(coming)
                if not coming.displaced and after.get(coming.sandbox_id) == StateWord.RUNNING:
                    self._learn(coming)
        return found

    def _learn(self, coming: Coming) -> None:
        before, self.cap = self.cap, cap_learned(self.cap, running=len(coming.running), displaced=coming.displaced)
        if self.cap != before:
            self.changed.set()

    def _forget(self, coming: Coming) -> None:
        self._coming.remove(coming)
        if not self._coming:
            self._explained.clear()

    def recall(self, kept: KeptCap | None) -> frozenset[str]:
        """Take what an earlier run learned, unless this one knows better already."""
        if kept is not None and not self.cap.learned:
            self.cap = Cap(kept.cap, learned=True)
        return frozenset()

    def merge(self) -> Callable[[KeptCap | None], KeptCap | None]:
        """What makes the next file of the one there is, which stays while nothing was learned."""
        learned = KeptCap(cap=self.cap.about) if self.cap.learned else None
        return lambda kept: learned or kept


def found_displaced(
    running: Sequence[str], after: Mapping[str, str], started_id: str, asked: Container[str] = ()
) -> tuple[str, ...]:
    """Which of those that ran before a start or resume, oldest first, are paused after it, by `settled.word`.

    None that is younger than one that is still up: servers pause the oldest ones, so it was paused for another reason.
    `asked` are the ids of those a pause was asked for here.
    """
    found = []
    for sandbox_id in running:
        word = after.get(sandbox_id)
        if sandbox_id == started_id or sandbox_id in asked:
            continue
        if word in UP:
            break
        if word == StateWord.PAUSED:
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
