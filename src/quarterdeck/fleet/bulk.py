"""Doing one thing to many rows, a few at a time, until the readings say what became of each."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Generic

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.fleet.bulk_rows import ENDED, RETRIED, SANDBOXES, BulkRow, Noun, RowState, Verdict, rows_of, summary
from quarterdeck.fleet.interval import LONGEST_ASKED_FOR
from quarterdeck.fleet.plan import Plan, R

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
