"""A bulk pause through the real client, on a simulation in which things go wrong: the truth stands on every row."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from quarterdeck.cli.sandbox_rows import read_all
from quarterdeck.cli.sandboxes_change import Following, Verb
from quarterdeck.client.client import IN_PROCESS, Client
from quarterdeck.client.limits import Limits
from quarterdeck.client.transport import Access
from quarterdeck.fleet.bulk import BulkRow, Plan, RowState, plan
from quarterdeck.fleet.sandboxes import SandboxRow
from quarterdeck.local.runtime.simulated import Faults, Simulation
from quarterdeck.local.service import App, LocalService

BIG = Simulation(800, churn=0)
WANTED = 200
TURNS = 100
"""Turns of the loop in which no request is made, after which nobody is about to make one."""


@dataclass
class Time:
    """Time that passes when everybody sleeps and no request is under way, and then at once."""

    seconds: float = 0.0
    under_way: int = 0
    waking: list[float] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)

    def clock(self) -> float:
        return self.seconds

    def moment(self) -> datetime:
        return datetime(2026, 3, 1, tzinfo=UTC) + timedelta(seconds=self.seconds)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        until = self.seconds + seconds
        self.waking.append(until)
        try:
            while self.seconds < until:
                if await self._nothing_else_to_do():
                    self.seconds = max(self.seconds, min(self.waking))
        finally:
            self.waking.remove(until)

    async def _nothing_else_to_do(self) -> bool:
        for _ in range(TURNS):
            await asyncio.sleep(0.001 if self.under_way else 0)
            if self.under_way:
                return False
        return True

    def counting(self, app: App) -> App:
        async def counted(*asked: Any) -> None:
            self.under_way += 1
            try:
                await app(*asked)
            finally:
                self.under_way -= 1

        return counted


async def opened(stack: AsyncExitStack, simulation: Simulation, time: Time) -> Client:
    service = await LocalService.simulated(simulation, clock=time.moment)
    stack.push_async_callback(service.close)
    client = Client(
        IN_PROCESS, service.key, access=Access(app=time.counting(service.app), limits=Limits(repeat_after=0.0))
    )
    return await stack.enter_async_context(client)


async def running(client: Client) -> list[SandboxRow]:
    rows = (await read_all(client, conversations=False)).rows
    return [row for row in rows if row.record.status == "RUNNING"][:WANTED]


def faults_among(ids: list[str]) -> Faults:
    return Faults(
        pauses_fail=frozenset(ids[10:20]),
        pauses_ignored=frozenset(ids[30:35]),
        gone=frozenset(ids[50:62]),
        rate_limit_at=100,
        retry_after=9,
    )


async def test_a_bulk_pause_of_200_ends_with_the_truth_on_every_row() -> None:
    time, said = Time(), list[tuple[BulkRow, str | None]]()
    async with AsyncExitStack() as stack:
        ids = [row.id for row in await running(await opened(stack, BIG, time))]
        assert len(ids) == WANTED
        faults = faults_among(ids)
        client = await opened(stack, replace(BIG, faults=faults), time)
        planned: Plan[SandboxRow] = plan(await running(client), lambda row: None)
        following = Following(
            client,
            Verb.PAUSE,
            planned,
            lambda row, status: said.append((row, status)),
            clock=time.clock,
            sleep=time.sleep,
        )
        await following.run()
        truth = {row.id: row.record.status for row in (await read_all(client, conversations=False)).rows}

    expected = {
        one: RowState.FAILED
        if one in faults.pauses_fail
        else RowState.UNCHANGED
        if one in faults.pauses_ignored
        else RowState.GONE
        if one in faults.gone
        else RowState.DONE
        for one in ids
    }
    assert {one: row.state for one, row in following.bulk.rows.items()} == expected
    for one, row in following.bulk.rows.items():
        assert truth.get(one) == {RowState.DONE: "PAUSED", RowState.GONE: None}.get(row.state, "RUNNING")
    limited = [entry for entry in client.log if entry.status == 429]
    assert len(limited) == 1
    assert any(8 < seconds <= 9 for seconds in time.slept)
    paused = [status for row, status in said if row.state is RowState.DONE]
    assert paused == ["PAUSED"] * (WANTED - 10 - 5 - 12)
    assert "173 done" in following.bulk.summary


async def test_what_is_deleted_is_read_as_gone() -> None:
    time = Time()
    async with AsyncExitStack() as stack:
        client = await opened(stack, replace(BIG, sandboxes=40), time)
        rows = (await read_all(client, conversations=False)).rows[:5]
        following = Following(
            client,
            Verb.DELETE,
            plan(rows, lambda row: None),
            lambda row, status: None,
            clock=time.clock,
            sleep=time.sleep,
        )
        await following.run()
        left = {row.id for row in (await read_all(client, conversations=False)).rows}
    assert [row.state for row in following.bulk.rows.values()] == [RowState.DONE] * 5
    assert not left & {row.id for row in rows}
    assert len(left) == 35
