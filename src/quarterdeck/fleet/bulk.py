"""Bulk commands: which rows one applies to, a few requests at a time, and the result of each row from the readings."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, NamedTuple, TypeVar

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.fleet.conversations import ConversationRow
from quarterdeck.fleet.sandbox_state import DONE_IN, Action, SandboxMemory, StateWord
from quarterdeck.fleet.sandboxes import SandboxRow
from quarterdeck.fleet.watch import LONGEST_ASKED_FOR

AT_ONCE = 4
"""Requests under way at a time."""
CHECK_EVERY = 0.5
"""Seconds between two checks of the readings."""
PATIENCE = 65.0
"""Seconds after which an unconfirmed change counts as not done: a little longer than the slowest pause."""
MISSED = 20.0
"""The same after a 404: nothing is under way, so the next readings decide."""
WAIT = 5.0
"""Seconds to wait if a server asks for a wait without saying how long."""
TRIES = 5
"""How many times one row is sent while the server asks to wait."""

# The rows, taken when the key is pressed, so that the command acts on what was seen then


NamedRow = SandboxRow | ConversationRow
"""A row with a name for questions to a person."""
N = TypeVar("N", bound=NamedRow)


@dataclass(frozen=True)
class Plan(Generic[N]):
    """The rows a command applies to, and the rows it leaves out, each with the reason."""

    rows: tuple[N, ...]
    skipped: tuple[tuple[N, str], ...] = ()
    hidden: tuple[N, ...] = ()
    """Marked rows that the command could apply to but the filter hides: left out unless a person includes them."""

    @property
    def alone(self) -> bool:
        """Whether it applies to one row and leaves out none."""
        return len(self.rows) == 1 and not self.skipped and not self.hidden

    def with_hidden(self) -> "Plan[N]":
        """Return the plan with the hidden rows included."""
        return Plan(self.rows + self.hidden, self.skipped)


def plan(rows: Iterable[N], why_not: Callable[[N], str | None], hidden: Collection[str] = ()) -> Plan[N]:
    """Sort rows into those a command can apply to, those it cannot, and those it could but that are `hidden`."""
    reasons = [(row, why_not(row)) for row in rows]
    able = [row for row, reason in reasons if reason is None]
    return Plan(
        tuple(row for row in able if row.id not in hidden),
        tuple((row, reason) for row, reason in reasons if reason is not None),
        tuple(row for row in able if row.id in hidden),
    )


class Noun(NamedTuple):
    """The singular and plural of what the rows are."""

    one: str
    many: str

    def counted(self, count: int) -> str:
        """Return a count with the noun."""
        return f"{count:,} {self.one if count == 1 else self.many}"


SANDBOXES = Noun("sandbox", "sandboxes")
CONVERSATIONS = Noun("conversation", "conversations")
STARTS = Noun("failed start", "failed starts")


# The result of each row


class RowState(StrEnum):
    """The state of one row of a bulk command, in the order of the summary; the value is its word."""

    DONE = "done"
    """A reading confirmed it."""
    FAILED = "failed"
    UNCHANGED = "unchanged"
    """The server said that it was done, but the readings show that it was not."""
    UNDONE = "undone"
    """It was done, but something has changed it back since."""
    GONE = "gone"
    """It does not exist."""
    SENT = "asked for"
    """No reading has shown the result yet."""
    WAITING = "waiting"
    STOPPED = "stopped"
    """The command was stopped before its turn."""
    SKIPPED = "skipped"
    """The command does not apply to it, so nothing was sent."""


ENDED = frozenset(RowState) - {RowState.WAITING, RowState.SENT}
"""Final states, which only a retry leaves."""
RETRIED = frozenset({RowState.FAILED, RowState.UNCHANGED, RowState.UNDONE, RowState.STOPPED})
"""States that a retry tries again: nothing was sent, or the readings have shown that it is not done."""


@dataclass(frozen=True, slots=True)
class BulkRow:
    """One row of a bulk command."""

    id: str
    state: RowState = RowState.WAITING
    words: str = ""
    """The reason, raw: it may contain a server's text."""


def counts(rows: Iterable[BulkRow]) -> dict[RowState, int]:
    """Return how many rows are in each state, without states that have no row."""
    counted = Counter(row.state for row in rows)
    return {state: counted[state] for state in RowState if counted[state]}


def counted(rows: Iterable[BulkRow]) -> str:
    """Return the counts as words: "194 done, 3 failed, 2 gone, 1 skipped"."""
    return ", ".join(f"{count:,} {state}" for state, count in counts(rows).items())


_WHY = {
    RowState.FAILED: "The readings show an error instead.",
    RowState.UNCHANGED: "The server said yes, but no reading has shown it done.",
    RowState.UNDONE: "Done, but something changed it back.",
    RowState.GONE: "It is no longer there.",
}
"""The reason shown for a result that comes from readings."""


def change_verdict(memory: SandboxMemory | None, action: Action) -> RowState | None:
    """Return the result of a requested change according to the readings; `memory` is None for an unlisted sandbox.

    A change is done once its goal state is seen, so the caller makes sure that the state was different before. A
    failure is final.
    """
    if memory is None or memory.status == SandboxStatus.MISSING:
        return RowState.DONE if action is Action.DELETE else RowState.GONE
    if action is Action.DELETE:
        return None
    if memory.word == StateWord.ERROR:
        return RowState.FAILED
    return RowState.DONE if memory.word in DONE_IN[action] else None


# Running a command


@dataclass(frozen=True)
class BulkAction:
    """An action on rows; `verb` and `noun` are the words for it."""

    verb: str
    act: Callable[[str], Awaitable[None]]
    """Sends the request for one id; raises ServiceError."""
    verdict: Callable[[str], RowState | None]
    """Returns what readings since then say of a row, None while they say nothing."""
    noun: Noun = SANDBOXES
    pauses_quiet: bool = False
    """Whether the rows are paused because they are quiet."""


@dataclass(eq=False)
class BulkJob:
    """A bulk command and its progress: `await run()`, and again after `retry()`.

    Only the readings decide the result, never the server's response. `progress` is called with each row that changes.
    `clock` is monotonic, in seconds; `sleep` is `asyncio.sleep` or a replacement.
    """

    action: BulkAction
    planned: Plan[Any]
    progress: Callable[[BulkRow], None] = lambda row: None
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def __post_init__(self) -> None:
        planned = self.planned
        left_out = (*planned.skipped, *((row, "The filter hides it.") for row in planned.hidden))
        self.named: Mapping[str, NamedRow] = {row.id: row for row in (*planned.rows, *(row for row, _ in left_out))}
        """The rows of the plan as they were when the command was given."""
        self.rows = {row.id: BulkRow(row.id) for row in planned.rows}
        """The result of each row by id, the left-out rows last."""
        self.rows |= {row.id: BulkRow(row.id, RowState.SKIPPED, reason) for row, reason in left_out}
        self.stopped = False
        """No more requests are sent."""
        self._resume_at = 0.0
        self._tries: Counter[str] = Counter()
        self._pending: dict[str, tuple[int, str]] = {}
        """Rows that wait for a reading: how many checks are left, and the reason after them; an empty one means
        "unchanged". A suspended program reads nothing, so checks are counted and not the time.
        """

    # Progress

    @property
    def ended(self) -> bool:
        """Whether every row is in a final state."""
        return all(row.state in ENDED for row in self.rows.values())

    @property
    def left(self) -> list[str]:
        """The ids that failed or were stopped, and can be tried again."""
        return [row.id for row in self.rows.values() if row.state in RETRIED]

    @property
    def waits(self) -> float:
        """Seconds that the server still asks to wait."""
        return max(0.0, self._resume_at - self.clock())

    @property
    def title(self) -> str:
        """What the command does."""
        count = sum(row.state is not RowState.SKIPPED for row in self.rows.values())
        action = self.action
        return f"{'Quiet sandboxes: pause' if action.pauses_quiet else action.verb} {action.noun.counted(count)}"

    @property
    def result(self) -> str:
        """The result in one line."""
        return f"{self.title}: {counted(self.rows.values())}. {self.saved}".strip()

    @property
    def saved(self) -> str:
        """What the pause of quiet sandboxes stopped, and what those had cost."""
        if not self.action.pauses_quiet:
            return ""
        done = [self.named[row_id].cost or 0.0 for row_id, row in self.rows.items() if row.state is RowState.DONE]
        cost = f", which had cost ${sum(done):,.2f} so far" if sum(done) else ""
        return f"It stopped {len(done):,}{cost}."

    @property
    def summary(self) -> str:
        """The result as text to copy: the counts, then one line per row."""
        rows = self.rows.values()
        lines = [f"{row.id}  {row.state}" + (f"  {' '.join(row.words.split())}" if row.words else "") for row in rows]
        return "\n".join([f"{self.action.noun.counted(len(rows))}: {counted(rows)}", *lines])

    # Requests of the person

    async def run(self) -> None:
        """Apply the action to the waiting rows; returns when every row is in a final state."""
        self.stopped = False
        self._tries.clear()
        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(self._send_all())
            group.create_task(self._follow())

    def stop(self, words: str = "Stopped before its turn.") -> None:
        """Send nothing more; what was already sent is still followed to its end."""
        self.stopped = True
        for row in list(self.rows.values()):
            if row.state is RowState.WAITING:
                self._say(row.id, RowState.STOPPED, words)

    def retry(self) -> bool:
        """Set the rows that are left to waiting for the next `run()`; returns whether there are any."""
        left = self.left
        for row_id in left:
            self._say(row_id, RowState.WAITING)
        return bool(left)

    # Sending requests

    @property
    def _next(self) -> str | None:
        """The id of the first row that waits for its turn."""
        return next((row.id for row in self.rows.values() if row.state is RowState.WAITING), None)

    async def _send_all(self) -> None:
        while (row_id := self._next) is not None:
            if (wait := self.waits) > 0:
                await self.sleep(min(wait, CHECK_EVERY))  # in short waits, because it may be stopped meanwhile
            else:
                await self._send(row_id)

    async def _send(self, row_id: str) -> None:
        self._say(row_id, RowState.SENT)
        try:
            await self.action.act(row_id)
        except ServiceError as error:
            self._not_answered(row_id, error)
        else:
            self._decide_by_reading(row_id, PATIENCE)

    def _not_answered(self, row_id: str, error: ServiceError) -> None:
        words = error.sentences
        if error.kind is ErrorKind.RATE:
            self._again_after(row_id, error, words)
        elif error.kind is ErrorKind.MISSING:
            self._decide_by_reading(row_id, MISSED, f"{error.words} No reading has shown that it is gone.")
        elif error.outcome is Outcome.APPLIED:
            self._decide_by_reading(row_id, PATIENCE)
        elif error.outcome is Outcome.UNKNOWN:
            self._decide_by_reading(row_id, PATIENCE, f"{words} No reading has shown it done.")
        else:
            self._say(row_id, RowState.FAILED, words)
            if _concerns_all(error):
                self.stop(f"Not tried: {words}")

    def _again_after(self, row_id: str, error: ServiceError, words: str) -> None:
        """Make all rows wait as long as the server asks, then try this row again."""
        asked = error.retry_after or WAIT
        self._tries[row_id] += 1
        if asked > LONGEST_ASKED_FOR or self._tries[row_id] >= TRIES:
            self._say(row_id, RowState.FAILED, words)
            self.stop(f"Not tried: {words}")
            return
        self._resume_at = max(self._resume_at, self.clock() + asked)
        self._say(row_id, RowState.STOPPED if self.stopped else RowState.WAITING, words)

    # Results from readings

    def _decide_by_reading(self, row_id: str, within: float, otherwise: str = "") -> None:
        self._pending[row_id] = round(within / CHECK_EVERY), otherwise

    async def _follow(self) -> None:
        """Check the readings until every row is in a final state."""
        while True:
            for row in list(self.rows.values()):
                self._judge(row)
            if self.ended:
                return
            await self.sleep(CHECK_EVERY)

    def _judge(self, row: BulkRow) -> None:
        """Apply what the readings say of one row; a row that is done may be changed back while the others continue."""
        if row.state is RowState.DONE and self.action.verdict(row.id) is not RowState.DONE:
            self._say(row.id, RowState.UNDONE, _WHY[RowState.UNDONE])
        if row.id not in self._pending:
            return
        (left, otherwise), verdict = self._pending[row.id], self.action.verdict(row.id)
        if verdict is None and left:
            self._pending[row.id] = left - 1, otherwise
            return
        del self._pending[row.id]
        if verdict is None and otherwise:
            self._say(row.id, RowState.FAILED, otherwise)
        else:
            verdict = verdict or RowState.UNCHANGED
            self._say(row.id, verdict, _WHY.get(verdict, ""))

    def _say(self, row_id: str, state: RowState, words: str = "") -> None:
        row = self.rows[row_id] = BulkRow(row_id, state, words)
        self.progress(row)


def _concerns_all(error: ServiceError) -> bool:
    """Whether an error of one row will occur for all rows: its cause is not the id."""
    unsent = error.outcome is Outcome.NOT_SENT and error.kind is not ErrorKind.INVALID
    return unsent or error.kind in (ErrorKind.AUTH, ErrorKind.NOT_OFFERED)
