"""Doing one thing to many sandboxes, and reading them until each of them reads so or is known not to."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from enum import StrEnum

from quarterdeck.cli.sandbox_rows import read_some, utc_now
from quarterdeck.client.client import Client
from quarterdeck.client.errors import ServiceError
from quarterdeck.fleet.bulk import BulkJob, BulkRow, Order, Plan, RowState, Verdict, change_verdict, delete_verdict
from quarterdeck.fleet.memories import SandboxMemories
from quarterdeck.fleet.sandbox_state import Action
from quarterdeck.fleet.sandboxes import SandboxRow
from quarterdeck.fleet.watch import backoff

EVERY = 0.5
"""Seconds between two readings of what was asked for."""

Sleep = Callable[[float], Awaitable[None]]


class Verb(StrEnum):
    """What can be done to sandboxes that are there."""

    PAUSE = "pause"
    RESUME = "resume"
    DELETE = "delete"


class Following:
    """One bulk command on one server; `tell` is told of each row that changes, with the server's last word.

    `clock` is monotonic, in seconds; `sleep` is `asyncio.sleep` or a stand-in for it.
    """

    def __init__(
        self,
        client: Client,
        verb: Verb,
        plan: Plan[SandboxRow],
        tell: Callable[[BulkRow, str | None], None],
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._client = client
        self._verb = verb
        self._tell = tell
        self._sleep = sleep
        self._memories = SandboxMemories()
        self._memories.observe((row.record for row in plan.rows), utc_now(), beginning=False)
        order = Order(verb, self._act, self._verdict)
        self.bulk = BulkJob(order, plan, progress=self._progress, clock=clock, sleep=sleep)

    async def run(self) -> None:
        """Ask, and read, until every row has come to its end."""
        reading = asyncio.create_task(self._read())
        try:
            await self.bulk.run()
        finally:
            reading.cancel()

    def status(self, sandbox_id: str) -> str | None:
        """What the server last called it; None when it is not there."""
        memory = self._memories.by_id.get(sandbox_id)
        return memory.status if memory is not None else None

    def _progress(self, row: BulkRow) -> None:
        self._tell(row, self.status(row.id))

    async def _act(self, sandbox_id: str) -> None:
        resource = self._client.sandboxes
        if self._verb is not Verb.DELETE:
            self._memories.asked(sandbox_id, Action(self._verb), utc_now())
        match self._verb:
            case Verb.PAUSE:
                await resource.pause(sandbox_id)
            case Verb.RESUME:
                await resource.resume(sandbox_id)
            case Verb.DELETE:
                await resource.delete(sandbox_id)

    def _verdict(self, sandbox_id: str) -> Verdict | None:
        memory = self._memories.by_id.get(sandbox_id)
        if self._verb is Verb.DELETE:
            return delete_verdict(memory)
        return change_verdict(memory, Action(self._verb))

    async def _read(self) -> None:
        """Read what was asked for again and again; a server that cannot answer is left alone for longer each time."""
        failures, rest = 0, EVERY
        while True:
            await self._sleep(rest)
            sent = [row.id for row in self.bulk.rows.values() if row.state is RowState.SENT]
            try:
                records = await read_some(self._client, sent) if sent else {}
            except ServiceError as error:
                failures += 1
                rest = backoff(failures, random.random(), error.retry_after)  # noqa: S311 - no secret
                continue
            failures, rest = 0, EVERY
            self._memories.observe(
                (record for record in records.values() if record is not None), utc_now(), beginning=False
            )
            self._memories.forget([sandbox_id for sandbox_id, record in records.items() if record is None])
            self.bulk.look()
