"""One command for many rows: which it is for, a few at a time, until the readings say what became of each."""

import asyncio
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, NamedTuple, TypeVar

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.fleet.conversations import ConversationRow
from quarterdeck.fleet.sandbox_state import DONE_IN, Action, SandboxMemory, StateWord
from quarterdeck.fleet.sandboxes import SandboxRow
from quarterdeck.fleet.watch import LONGEST_ASKED_FOR

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

# What it is for: taken when the key is pressed, so that it acts on what was seen then


Named = SandboxRow | ConversationRow
"""A row that a question can name to a person."""
N = TypeVar("N", bound=Named)


@dataclass(frozen=True)
class Plan(Generic[N]):
    """The rows a command is for, and those it leaves out, each with the reason."""

    rows: tuple[N, ...]
    skipped: tuple[tuple[N, str], ...] = ()
    hidden: tuple[N, ...] = ()
    """Rows it could be done to, marked, but out of sight behind the filter: left alone unless that is asked for."""

    @property
    def alone(self) -> bool:
        """Whether it is for one row, and no other was meant."""
        return len(self.rows) == 1 and not self.skipped and not self.hidden

    def with_hidden(self) -> "Plan[N]":
        """The plan that includes the rows out of sight."""
        return Plan(self.rows + self.hidden, self.skipped)


def plan(rows: Iterable[N], why_not: Callable[[N], str | None], hidden: Collection[str] = ()) -> Plan[N]:
    """Sort rows into those a command can be done to, those it can't, and those of the `hidden` ids that it could."""
    reasons = [(row, why_not(row)) for row in rows]
    able = [row for row, reason in reasons if reason is None]
    return Plan(
        tuple(row for row in able if row.id not in hidden),
        tuple((row, reason) for row, reason in reasons if reason is not None),
        tuple(row for row in able if row.id in hidden),
    )


class Noun(NamedTuple):
    """What the rows of a command are called."""

    one: str
    many: str

    def counted(self, count: int) -> str:
        """So many of them."""
        return f"{count:,} {self.one if count == 1 else self.many}"


SANDBOXES = Noun("sandbox", "sandboxes")
CONVERSATIONS = Noun("conversation", "conversations")


# What becomes of each row


class RowState(StrEnum):
    """Where one row of a bulk command is, in the order in which they are counted; the value is the word for it."""

    DONE = "done"
    """A reading confirmed it."""
    FAILED = "failed"
    UNCHANGED = "unchanged"
    """The server said that it did it, and the readings say that it did not."""
    UNDONE = "undone"
    """It was done, and something else has changed it back since."""
    GONE = "gone"
    """It is not there."""
    SENT = "asked for"
    """The readings have not told yet what became of it."""
    WAITING = "waiting"
    STOPPED = "stopped"
    """Its turn did not come."""
    SKIPPED = "skipped"
    """It could not be done to this one, so nothing was asked for."""


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


def counts(rows: Iterable[BulkRow]) -> dict[RowState, int]:
    """How many rows are in which state, without those that none is in."""
    counted = Counter(row.state for row in rows)
    return {state: counted[state] for state in RowState if counted[state]}


def counted(rows: Iterable[BulkRow]) -> str:
    """The same in words: "194 done, 3 failed, 2 gone, 1 skipped"."""
    return ", ".join(f"{count:,} {state}" for state, count in counts(rows).items())


_WHY = {
    RowState.FAILED: "The readings show an error instead.",
    RowState.UNCHANGED: "The server said yes; the readings say no.",
    RowState.UNDONE: "Done, but something changed it back.",
    RowState.GONE: "It is no longer there.",
}
"""What is said of a state that readings gave."""


def change_verdict(memory: SandboxMemory | None, action: Action) -> RowState | None:
    """What the readings say of what was asked of a sandbox; `memory` is None for what is not listed.

    A change is done when it is seen: whoever asks for it makes sure it was not so before. What has failed instead
    stays so.
    """
    if memory is None or memory.status == SandboxStatus.MISSING:
        return RowState.DONE if action is Action.DELETE else RowState.GONE
    if action is Action.DELETE:
        return None
    if memory.settled.word == StateWord.ERROR:
        return RowState.FAILED
    return RowState.DONE if memory.settled.word in DONE_IN[action] else None


# Doing it


@dataclass(frozen=True)
class BulkAction:
    """Something that can be asked of rows; `verb` is what a person calls it, `noun` what they are."""

    verb: str
    act: Callable[[str], Awaitable[None]]
    """Asks for it, by the id; raises ServiceError."""
    verdict: Callable[[str], RowState | None]
    """What readings made since then say of one it was asked of, None while they say nothing."""
    noun: Noun = SANDBOXES


def _nobody(row: BulkRow) -> None:
    """Whom to tell when nobody wants to know."""


class BulkJob:
    """An order for the rows of a plan, and how far it is: `await run()`, and again after `retry_failed()`.

    Only the verdict of the readings decides, never the server's answer. `progress` is told of each row that changes;
    `place` is where it was asked for, `sweep` says that it pauses what is quiet. `clock` is monotonic, in seconds;
    `sleep` is `asyncio.sleep` or a stand-in for it.
    """

    def __init__(
        self,
        order: BulkAction,
        planned: Plan[N],
        *,
        place: str = "",
        sweep: bool = False,
        progress: Callable[[BulkRow], None] = _nobody,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.order = order
        self.place = place
        self.sweep = sweep
        left_out = (*planned.skipped, *((row, "The filter hides it.") for row in planned.hidden))
        self.named: Mapping[str, Named] = {row.id: row for row in (*planned.rows, *(row for row, _ in left_out))}
        """The rows themselves, as they were when it was given."""
        self.rows = {row.id: BulkRow(row.id) for row in planned.rows}
        """What became of all rows of the plan by id, those that are left out last."""
        self.rows |= {row.id: BulkRow(row.id, RowState.SKIPPED, reason) for row, reason in left_out}
        self._progress = progress
        self._clock = clock
        self._sleep = sleep
        self.stopped = False
        """Nothing more is asked for."""
        self._line: deque[str] = deque()
        """The rows that wait for their turn."""
        self._resume_at = 0.0
        self._tries: Counter[str] = Counter()
        self._pending: dict[str, tuple[float, str]] = {}
        """Rows the readings decide: until when they may, and what counts when they do not; empty for "unchanged"."""

    # How far it is

    @property
    def ended(self) -> bool:
        """Whether every row has come to its end."""
        return all(row.state in ENDED for row in self.rows.values())

    @property
    def failed(self) -> list[str]:
        """What was tried and not done, so that it can be tried again."""
        return [row.id for row in self.rows.values() if row.state in RETRIED]

    @property
    def waits(self) -> float:
        """Seconds for which the server asked to wait, from now."""
        return max(0.0, self._resume_at - self._clock())

    @property
    def title(self) -> str:
        """What is being done."""
        count = sum(row.state is not RowState.SKIPPED for row in self.rows.values())
        return f"{'Quiet sandboxes: pause' if self.sweep else self.order.verb} {self.order.noun.counted(count)}"

    @property
    def result(self) -> str:
        """What became of it, in one line."""
        return f"{self.title}: {counted(self.rows.values())}. {self.saved}".strip()

    @property
    def saved(self) -> str:
        """What a sweep of quiet sandboxes stopped, and what that had cost."""
        if not self.sweep:
            return ""
        done = [self.named[row_id].spent for row_id, row in self.rows.items() if row.state is RowState.DONE]
        return f"It stopped {len(done):,}, which had cost ${sum(done):,.2f} so far."

    @property
    def summary(self) -> str:
        """What became of all rows, as text to copy: how many of each, then a line a row."""
        rows = self.rows.values()
        lines = [f"{row.id}  {row.state}" + (f"  {' '.join(row.words.split())}" if row.words else "") for row in rows]
        return "\n".join([f"{self.order.noun.counted(len(rows))}: {counted(rows)}", *lines])

    # What a person asks of it

    async def run(self) -> None:
        """Do it to the rows that wait; returns when every row has come to its end."""
        self.stopped = False
        self._tries.clear()
        self._line.extend(row.id for row in self.rows.values() if row.state is RowState.WAITING)
        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(self._send_all())
            group.create_task(self._follow())

    def stop(self, words: str = "Stopped before its turn.") -> None:
        """Ask for nothing more; what was asked for already is still followed to its end."""
        self.stopped = True
        self._line.clear()
        for row in list(self.rows.values()):
            if row.state is RowState.WAITING:
                self._say(row.id, RowState.STOPPED, words)

    def retry_failed(self) -> bool:
        """Have the rows that were tried and not done wait for the next `run()`; whether there are any."""
        failed = self.failed
        for row_id in failed:
            self._say(row_id, RowState.WAITING)
        return bool(failed)

    # Asking the server

    async def _send_all(self) -> None:
        while self._line:
            if (wait := self.waits) > 0:
                await self._sleep(min(wait, LOOK_AGAIN))  # it may be stopped meanwhile
            else:
                await self._send(self._line.popleft())

    async def _send(self, row_id: str) -> None:
        self._say(row_id, RowState.SENT)
        try:
            await self.order.act(row_id)
        except ServiceError as error:
            self._not_answered(row_id, error)
        else:
            self._decide_by_reading(row_id, PATIENCE)

    def _not_answered(self, row_id: str, error: ServiceError) -> None:
        words = error.sentences
        if error.kind is ErrorKind.RATE:
            self._again_after(row_id, error, words)
        elif error.kind is ErrorKind.MISSING:
            self._decide_by_reading(row_id, MISSED, f"{words} No reading has shown that it is gone.")
        elif error.outcome is Outcome.APPLIED:
            self._decide_by_reading(row_id, PATIENCE)
        elif error.outcome is Outcome.UNKNOWN:
            self._decide_by_reading(row_id, PATIENCE, f"{words} No reading has shown it done.")
        else:
            self._say(row_id, RowState.FAILED, words)
            if _concerns_all(error):
                self.stop(f"Not tried: {words}")

    def _again_after(self, row_id: str, error: ServiceError, words: str) -> None:
        """All wait as long as the server asks; the row is tried again before those not asked for yet."""
        asked = error.retry_after if error.retry_after is not None and error.retry_after > 0 else WAIT
        self._tries[row_id] += 1
        if asked > LONGEST_ASKED_FOR or self._tries[row_id] >= TRIES:
            self._say(row_id, RowState.FAILED, words)
            self.stop(f"Not tried: {words}")
            return
        self._resume_at = max(self._resume_at, self._clock() + asked)
        self._say(row_id, RowState.STOPPED if self.stopped else RowState.WAITING, words)
        if not self.stopped:
            self._line.appendleft(row_id)

    # What the readings say

    def _decide_by_reading(self, row_id: str, within: float, otherwise: str = "") -> None:
        self._pending[row_id] = self._clock() + within, otherwise

    async def _follow(self) -> None:
        """Take what the readings say until every row has come to its end."""
        while True:
            for row in list(self.rows.values()):
                self._look(row)
            if self.ended:
                return
            await self._sleep(LOOK_AGAIN)

    def _look(self, row: BulkRow) -> None:
        """Take what the readings say of a row; what is done may be changed back while the rest goes on."""
        until, otherwise = self._pending.get(row.id, (0.0, ""))
        if row.state is not RowState.DONE and row.id not in self._pending:
            return
        verdict = self.order.verdict(row.id)
        if row.state is RowState.DONE:
            if verdict is not RowState.DONE:
                self._say(row.id, RowState.UNDONE, _WHY[RowState.UNDONE])
        elif verdict is not None or self._clock() >= until:
            del self._pending[row.id]
            failed = verdict is None and otherwise
            verdict = RowState.FAILED if failed else verdict or RowState.UNCHANGED
            self._say(row.id, verdict, otherwise if failed else _WHY.get(verdict, ""))

    def _say(self, row_id: str, state: RowState, words: str = "") -> None:
        row = self.rows[row_id] = BulkRow(row_id, state, words)
        self._progress(row)


def _concerns_all(error: ServiceError) -> bool:
    """Whether what goes wrong with one row then goes wrong with all: it is not the id that keeps it from being sent."""
    unsent = error.outcome is Outcome.NOT_SENT and error.kind is not ErrorKind.INVALID
    return unsent or error.kind in (ErrorKind.AUTH, ErrorKind.NOT_OFFERED)
