"""Which running sandbox a start or resume may cost, and which one it did.

Before they start or resume one, servers pause the oldest-created running ones above a cap, and tell nobody (needs.md
fact 0.11).
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from quarterdeck.fleet.sandbox_state import UP, Action, StateWord
from quarterdeck.fleet.sandboxes import SandboxRow

if TYPE_CHECKING:
    from quarterdeck.client.models.sandbox import Sandbox
    from quarterdeck.fleet.sandbox_state import SandboxMemory

DOCKER, DOCKER_CAP = "oh-agent-server-", 5
"""What the ids of sandboxes in Docker begin with, and how many of them servers let run unless told otherwise."""
_LAST = datetime.max.replace(tzinfo=UTC)


class Cap(NamedTuple):
    """How many sandboxes a server lets run at a time, as far as is known here."""

    about: int | None = None
    """None when it is not known, and when there is none."""
    learned: bool = False
    """Seen here; else it is what servers of its kind do unless told otherwise."""

    def to_note(self) -> dict[str, Any] | None:
        """What to note down; None for what was not learned."""
        return {"cap": self.about} if self.learned else None

    @classmethod
    def from_note(cls, note: Any) -> "Cap":
        """Read a note; one that makes no sense is none."""
        if not isinstance(note, Mapping) or "cap" not in note:
            return cls()
        about = note["cap"]
        if about is not None and (not isinstance(about, int) or isinstance(about, bool) or about < 1):
            return cls()
        return cls(about, learned=True)


def guessed(cap: Cap, ids: Iterable[str]) -> Cap:
    """The cap, or what the ids of the sandboxes let guess while nothing was learned."""
    if cap.learned or not any(sandbox_id.startswith(DOCKER) for sandbox_id in ids):
        return cap
    return Cap(DOCKER_CAP)


def cap_learned(cap: Cap, *, running: int, displaced: int, started: int = 1) -> Cap:
    """What a start or resume teaches: `running` ran before it, so many of them were paused for the `started` ones."""
    runs = running - displaced + started
    if displaced:
        return Cap(runs, learned=True)
    if cap.about is not None and runs > cap.about:
        return Cap(None, learned=True)
    return cap


class Forecast(NamedTuple):
    """What starting or resuming some sandboxes will likely do to others."""

    ids: tuple[str, ...] = ()
    """Those likely to be paused, in that order."""
    words: str = ""
    """A sentence; empty when nothing is likely to be paused."""
    running: int = 0
    cap: int | None = None


def forecast(rows: Iterable[SandboxRow], now: datetime, cap: int | None, action: Action, *, count: int = 1) -> Forecast:
    """Foresee what starting (or resuming) `count` sandboxes does.

    Nothing can be foreseen where the cap is not known, or is another one, for more run than it lets run.
    """
    running = [row for row in rows if row.state(now).known is StateWord.RUNNING]
    if cap is None or len(running) > cap or action is Action.PAUSE:
        return Forecast(running=len(running), cap=cap)
    excess = min(len(running) + count - cap, len(running))
    if excess <= 0:
        return Forecast(running=len(running), cap=cap)
    running.sort(key=lambda row: _oldest_first(row.record))
    first = running[:excess]
    return Forecast(tuple(row.id for row in first), _words(first, len(running), cap), len(running), cap)


def _words(rows: list[SandboxRow], running: int, cap: int) -> str:
    named = ", ".join(_name(row) for row in rows[:3])
    more = f" and {len(rows) - 3} more" if len(rows) > 3 else ""
    ones = "the oldest one" if len(rows) == 1 else f"the {len(rows)} oldest ones"
    return f"{running} of about {cap} run already: the server will likely pause {ones}, {named}{more}."


def _name(row: SandboxRow) -> str:
    title = next(filter(None, row.conversation_titles), "")
    return f"{row.short_id} ({title})" if title else row.short_id


def running_oldest_first(records: "Iterable[Sandbox]", memories: "Mapping[str, SandboxMemory]") -> tuple[str, ...]:
    """The ids of what runs, in the order in which it would be paused, but for what something was asked of already."""
    running = [record for record in records if (memory := memories.get(record.id)) is not None and _runs(memory)]
    return tuple(record.id for record in sorted(running, key=_oldest_first))


def _runs(memory: "SandboxMemory") -> bool:
    return memory.settled.word == StateWord.RUNNING and memory.asked is None


def _oldest_first(record: "Sandbox") -> tuple[datetime, str]:
    """One of unknown age is thought the youngest."""
    return record.created_at or _LAST, record.id


def found_displaced(
    running: Sequence[str], after: Mapping[str, str], started_id: str | None, asked: Container[str] = ()
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
