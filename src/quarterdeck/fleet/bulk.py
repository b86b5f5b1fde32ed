"""Doing one thing to many rows: what it will do to which, a few at a time, and what the readings say became of each."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Container, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, NamedTuple, Protocol, TypeVar

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.fleet.sandbox_state import UP, Action, SandboxMemory, StateWord
from quarterdeck.fleet.store import Identified
from quarterdeck.fleet.watch import LONGEST_ASKED_FOR

R = TypeVar("R", bound=Identified)


class Named(Identified, Protocol):
    """A row that a question can name to a person."""

    @property
    def short_id(self) -> str:
        """The beginning of its id."""
        ...

    @property
    def name(self) -> str:
        """What it is about, raw; empty where there is nothing to say."""
        ...

    @property
    def spent(self) -> float:
        """US dollars so far."""
        ...


N = TypeVar("N", bound=Named)


@dataclass(frozen=True)
class Plan(Generic[R]):
    """The rows a command is for, and those it leaves out, each with the reason."""

    rows: tuple[R, ...]
    skipped: tuple[tuple[R, str], ...] = ()
    hidden: tuple[R, ...] = ()
    """Rows it could be done to, marked, but out of sight behind the filter: left alone unless that is asked for."""

    def with_hidden(self) -> Plan[R]:
        """The plan that includes the rows out of sight."""
        return Plan(self.rows + self.hidden, self.skipped)


def plan(rows: Iterable[R], why_not: Callable[[R], str | None], hidden: Collection[str] = ()) -> Plan[R]:
    """Sort rows into those a command can be done to, those it can't, and those of the `hidden` ids that it could."""
    done, skipped, out_of_sight = [], [], []
    for row in rows:
        reason = why_not(row)
        if reason is not None:
            skipped.append((row, reason))
        elif row.id in hidden:
            out_of_sight.append(row)
        else:
            done.append(row)
    return Plan(tuple(done), tuple(skipped), tuple(out_of_sight))


class Noun(NamedTuple):
    """What the rows of a command are called."""

    one: str
    many: str

    def counted(self, count: int) -> str:
        """So many of them."""
        return f"{count:,} {self.one if count == 1 else self.many}"


SANDBOXES = Noun("sandbox", "sandboxes")
CONVERSATIONS = Noun("conversation", "conversations")


class RowState(StrEnum):
    """Where one row of a bulk command is; the value is the word for it."""

    WAITING = "waiting"
    SENT = "sent"
    """Asked for; the readings have not told yet what became of it."""
    DONE = "done"
    """A reading confirmed it."""
    UNCHANGED = "unchanged"
    """The server said that it did it, and the readings say that it did not."""
    UNDONE = "undone"
    """It was done, and is so no longer: something else changed it since."""
    FAILED = "failed"
    GONE = "gone"
    """It is not there any more."""
    SKIPPED = "skipped"
    """It could not be done to this one, so nothing was asked for."""
    STOPPED = "stopped"
    """Its turn did not come."""


ENDED = frozenset(RowState) - {RowState.WAITING, RowState.SENT}
"""States that only a retry leaves."""
RETRIED = frozenset({RowState.FAILED, RowState.UNCHANGED, RowState.UNDONE})
"""States that a retry tries again: the readings have shown that it is not so."""


@dataclass(frozen=True, slots=True)
class BulkRow:
    """One row of a bulk command."""

    id: str
    state: RowState = RowState.WAITING
    words: str = ""
    """Why it is so, raw: it may hold a server's text."""


class Verdict(StrEnum):
    """What the readings say of a row that something was asked of."""

    DONE = "done"
    UNDONE = "undone"
    """It was done, and is so no longer."""
    BROKEN = "broken"
    """It has failed instead."""
    GONE = "gone"


def counted(rows: Iterable[BulkRow]) -> str:
    """How many rows are in which state: "194 done, 3 failed, 2 gone, 1 skipped"."""
    counts = Counter(row.state for row in rows)
    return ", ".join(f"{counts[state]} {state}" for state in RowState if counts[state])


def summary(rows: Iterable[BulkRow], noun: Noun = SANDBOXES) -> str:
    """What became of all rows, as text to copy: how many of each, then a line a row."""
    rows = list(rows)
    lines = [f"{row.id}  {row.state}" + (f"  {' '.join(row.words.split())}" if row.words else "") for row in rows]
    return "\n".join([f"{noun.counted(len(rows))}: {counted(rows)}", *lines])


def rows_of(plan: Plan[R]) -> dict[str, BulkRow]:
    """The rows of a plan before anything is done, those that are left out among them."""
    rows = {row.id: BulkRow(row.id) for row in plan.rows}
    rows |= {row.id: BulkRow(row.id, RowState.SKIPPED, reason) for row, reason in plan.skipped}
    return rows | {row.id: BulkRow(row.id, RowState.SKIPPED, "The filter hides it.") for row in plan.hidden}


def change_verdict(memory: SandboxMemory | None, action: Action) -> Verdict | None:
    """Whether a pause, resume or start was seen done; `memory` is None for what is no longer listed.

    A change is done when it is seen: whoever asks for it makes sure it was not so before. What has failed instead
    stays so, and what was paused and runs again was resumed by somebody else.
    """
    if memory is None or memory.status == SandboxStatus.MISSING:
        return Verdict.GONE
    word = memory.settled.known
    if word is StateWord.ERROR:
        return Verdict.BROKEN
    if action is Action.PAUSE:
        return Verdict.DONE if word is StateWord.PAUSED else Verdict.UNDONE if memory.resumed else None
    return Verdict.DONE if word in UP else None


def listed_verdict(row_id: str, listed: Container[str]) -> Verdict | None:
    """Whether the deletion of something without a state was seen done: it is no longer listed."""
    return None if row_id in listed else Verdict.DONE


def delete_verdict(memory: SandboxMemory | None) -> Verdict | None:
    """Whether a deletion was seen done: it is no longer listed, or listed as missing."""
    return Verdict.DONE if memory is None or memory.status == SandboxStatus.MISSING else None


AT_ONCE = 4
"""Requests under way at a time."""
LOOK_AGAIN = 0.5
"""Seconds between two looks at what the readings say."""
PATIENCE = 65.0
"""Seconds after which what no reading confirmed counts as not done: a little over the pause that lasts longest."""
MISSED = 20.0
"""The same for what a server said is not there: nothing is under way, so the next readings tell."""
WAIT = 5.0
"""Seconds to wait when a server asks for a wait and does not say how long."""
TRIES = 5
"""Times one row is sent to a server that asks to wait."""
HOPELESS = frozenset({ErrorKind.AUTH, ErrorKind.READ_ONLY, ErrorKind.NOT_OFFERED})
"""What goes wrong with one row then goes wrong with all."""
AWAY = frozenset({ErrorKind.DNS, ErrorKind.UNREACHABLE, ErrorKind.CONNECT_TIMEOUT, ErrorKind.TLS})
AWAY_AFTER = 3
"""Rows in a row that found no server until the rest is not tried."""
_TOLD = {
    Verdict.DONE: (RowState.DONE, ""),
    Verdict.UNDONE: (RowState.UNDONE, "It was done, but something else has changed it back since."),
    Verdict.BROKEN: (RowState.FAILED, "The readings say that it has failed instead."),
    Verdict.GONE: (RowState.GONE, "It is no longer there."),
}
"""The end of a row that the readings tell of."""


def _nobody(row: BulkRow) -> None:
    """Whom to tell when nobody wants to know."""


class BulkRun(Generic[R]):
    """One thing done to the rows of a plan: `await run()`, and again after `retry_failed()`.

    `act` asks for it and raises ServiceError. `confirmed` says what readings made since then tell of a row, None while
    they tell nothing: only that decides, never the server's answer. `progress` is told of each row that changes.
    `clock` is monotonic, in seconds; `sleep` is `asyncio.sleep` or a stand-in for it.
    """

    def __init__(
        self,
        plan: Plan[R],
        act: Callable[[str], Awaitable[None]],
        confirmed: Callable[[str], Verdict | None],
        *,
        at_once: int = AT_ONCE,
        progress: Callable[[BulkRow], None] = _nobody,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._rows = rows_of(plan)
        self._act = act
        self._confirmed = confirmed
        self._at_once = at_once
        self._progress = progress
        self._clock = clock
        self._sleep = sleep
        self._stopped = asyncio.Event()
        self._resume_at = 0.0
        self._queue: list[str] = []
        self._tries: dict[str, int] = {}
        self._pending: dict[str, tuple[float, str]] = {}
        """Rows the readings decide: until when they may, and what counts when they do not; empty for "unchanged"."""
        self._away = 0

    @property
    def rows(self) -> Mapping[str, BulkRow]:
        """All rows of the plan by id, in its order, those that are left out last."""
        return self._rows

    @property
    def ended(self) -> bool:
        """Whether every row has come to its end."""
        return all(row.state in ENDED for row in self._rows.values())

    @property
    def waits(self) -> float:
        """Seconds for which the server asked to wait, from now."""
        return max(0.0, self._resume_at - self._clock())

    def stop(self, words: str = "Stopped before its turn.") -> None:
        """Ask for nothing more; what was asked for already is still followed to its end."""
        self._stopped.set()
        for row_id in self._queue:
            self._say(row_id, RowState.STOPPED, words)
        self._queue.clear()

    def retry_failed(self) -> int:
        """Put the rows that were tried and not done back into line for the next `run()`; how many there are."""
        failed = [row.id for row in self._rows.values() if row.state in RETRIED]
        for row_id in failed:
            self._say(row_id, RowState.WAITING)
        return len(failed)

    def summary(self, noun: Noun = SANDBOXES) -> str:
        """What became of all rows, as text to copy."""
        return summary(self._rows.values(), noun)

    async def run(self) -> None:
        """Do it to the rows in line; returns when every row has come to its end."""
        self._stopped.clear()
        self._tries.clear()
        self._away = 0
        self._queue = [row.id for row in self._rows.values() if row.state is RowState.WAITING]
        async with asyncio.TaskGroup() as group:
            senders = [group.create_task(self._send_all()) for _ in range(self._at_once)]
            group.create_task(self._follow(senders))

    async def _send_all(self) -> None:
        while self._queue:
            if (wait := self.waits) > 0:
                await self._wait(wait)
            elif self._queue:
                await self._send(self._queue.pop(0))

    async def _wait(self, seconds: float) -> None:
        """Sleep, but not for longer than there is something to wait for."""
        sleeping = asyncio.ensure_future(self._sleep(seconds))
        stopping = asyncio.ensure_future(self._stopped.wait())
        try:
            await asyncio.wait((sleeping, stopping), return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeping.cancel()
            stopping.cancel()

    async def _send(self, row_id: str) -> None:
        self._say(row_id, RowState.SENT)
        try:
            await self._act(row_id)
        except ServiceError as error:
            self._failed(row_id, error)
        else:
            self._away = 0
            self._decide_by_reading(row_id)

    def _failed(self, row_id: str, error: ServiceError) -> None:
        words = f"{error.words} {error.advice}".strip()
        self._away = self._away + 1 if error.kind in AWAY else 0
        if error.kind is ErrorKind.RATE:
            self._again_after(row_id, error, words)
        elif error.kind is ErrorKind.MISSING:
            self._decide_by_reading(row_id, f"{words} No reading has shown that it is gone.", missed=True)
        elif error.outcome is Outcome.APPLIED:
            self._decide_by_reading(row_id)
        elif error.outcome is Outcome.UNKNOWN:
            self._decide_by_reading(row_id, f"{words} No reading has shown it done.")
        else:
            self._say(row_id, RowState.FAILED, words)
            if error.kind in HOPELESS or self._away >= AWAY_AFTER:
                self.stop(f"Not tried: {words}")

    def _again_after(self, row_id: str, error: ServiceError, words: str) -> None:
        """All wait as long as the server asks; the row stands first in line then."""
        asked = error.retry_after if error.retry_after is not None and error.retry_after > 0 else WAIT
        self._tries[row_id] = self._tries.get(row_id, 0) + 1
        if asked > LONGEST_ASKED_FOR or self._tries[row_id] >= TRIES:
            self._say(row_id, RowState.FAILED, words)
            self.stop(f"Not tried: {words}")
        elif self._stopped.is_set():
            self._say(row_id, RowState.STOPPED, words)
        else:
            self._resume_at = max(self._resume_at, self._clock() + asked)
            self._say(row_id, RowState.WAITING, words)
            self._queue.insert(0, row_id)

    # What the readings say

    def look(self) -> None:
        """Take what the readings say by now; `run` does so until its end, later ones may be taken by calling it."""
        for row_id, (until, otherwise) in list(self._pending.items()):
            verdict = self._confirmed(row_id)
            if verdict is None and self._clock() < until:
                continue
            del self._pending[row_id]
            self._say(row_id, *_decided(verdict, otherwise))
        for row in [row for row in self._rows.values() if row.state in RETRIED]:
            if (verdict := self._confirmed(row.id)) in (Verdict.DONE, Verdict.GONE):
                self._say(row.id, *_decided(verdict, row.words))

    def _decide_by_reading(self, row_id: str, otherwise: str = "", *, missed: bool = False) -> None:
        self._pending[row_id] = self._clock() + (MISSED if missed else PATIENCE), otherwise

    def _look_again(self) -> None:
        """Doubt what is done already for as long as the rest goes on: somebody else may change it back."""
        for row in [row for row in self._rows.values() if row.state is RowState.DONE]:
            verdict = self._confirmed(row.id) or Verdict.UNDONE
            if verdict is not Verdict.DONE:
                self._say(row.id, *_TOLD[verdict])

    async def _follow(self, senders: list[asyncio.Task[None]]) -> None:
        while True:
            self.look()
            self._look_again()
            if all(sender.done() for sender in senders) and not self._pending:
                return
            await self._sleep(LOOK_AGAIN)

    def _say(self, row_id: str, state: RowState, words: str = "") -> None:
        row = self._rows[row_id] = BulkRow(row_id, state, words)
        self._progress(row)


def _decided(verdict: Verdict | None, otherwise: str) -> tuple[RowState, str]:
    """The end of a row: what the readings say, or what counts when they say nothing."""
    if verdict is not None:
        return _TOLD[verdict]
    if otherwise:
        return RowState.FAILED, otherwise
    return RowState.UNCHANGED, "The server said that it did it, but the readings show no change."
