import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise

import pytest

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.fleet.bulk import AT_ONCE, MISSED, PATIENCE, BulkAction, BulkJob, RowState, change_verdict, plan
from quarterdeck.fleet.memories import SandboxMemories
from quarterdeck.fleet.sandbox_state import Action
from tests.client.fakes import under_way

from .fakes import FakeClock, at, failure, row, sandbox

MISSING = ServiceError(ErrorKind.MISSING, "Not found.", status=404)
BROKEN = ServiceError(ErrorKind.SERVER, "Server error 500.", status=500)
LOST = ServiceError(ErrorKind.UNKNOWN_OUTCOME, "No answer came.", outcome=Outcome.UNKNOWN)


class Fleet:
    """A server that pauses what it is asked to, `faults` aside, and a reading of it every two seconds."""

    latency = 0.1

    def __init__(self, count: int) -> None:
        self.clock, self.ids = FakeClock(), [f"box-{number:03}" for number in range(count)]
        self.status = dict.fromkeys(self.ids, "RUNNING")
        self.faults: dict[str, list[ServiceError | None]] = {}
        """What each next request for an id answers with; None for a success that changes nothing."""
        self.asked: list[tuple[float, str]] = []
        self.memories = SandboxMemories()
        planned = plan([row(name=each) for each in self.ids], lambda each: None)
        order = BulkAction("Pause", self._pause, lambda row: change_verdict(self.memories.by_id.get(row), Action.PAUSE))
        self.job = BulkJob(order, planned, clock=self.clock, sleep=self.clock.sleep)

    async def _pause(self, sandbox_id: str) -> None:
        self.asked.append((self.clock.now, sandbox_id))
        await self.clock.sleep(self.latency)
        if faults := self.faults.get(sandbox_id):
            if (fault := faults.pop(0)) is not None:
                raise fault
        else:
            self.status[sandbox_id] = "PAUSED"

    async def _watch(self) -> None:
        while True:
            read = [sandbox(status, sandbox_id) for sandbox_id, status in self.status.items()]
            self.memories.observe(read, at(self.clock.now), beginning=False)
            await self.clock.sleep(2.0)

    @asynccontextmanager
    async def going(self) -> AsyncIterator[asyncio.Task[None]]:
        """Let the job go on beside the readings; it has to have come to its end after the block."""
        async with under_way(self._watch()):
            running = asyncio.create_task(self.job.run())
            yield running
            await self.clock.run(300.0)
        assert running.done()
        await running

    @property
    def states(self) -> dict[str, RowState]:
        return {each.id: each.state for each in self.job.rows.values()}


async def test_when_the_server_asks_to_wait_all_wait_and_the_row_is_tried_first_again() -> None:
    fleet = Fleet(12)
    slow_down = fleet.ids[5]
    fleet.faults[slow_down] = [failure(ErrorKind.RATE, retry_after=30.0)]
    async with fleet.going():
        await fleet.clock.run(1.0)
        assert 29.0 < fleet.job.waits < 30.0
        assert fleet.states[slow_down] is RowState.WAITING
    [(before, (after, first))] = [(a, b) for (a, _), b in pairwise(fleet.asked) if b[0] - a > 5]
    assert (after - before >= 30.0 - fleet.latency, first) == (True, slow_down)
    assert set(fleet.states.values()) == {RowState.DONE}


@pytest.mark.parametrize(
    ("faults", "then", "state", "after", "times"),
    [
        ([LOST], "PAUSED", RowState.DONE, 0.0, 1),
        ([LOST], "RUNNING", RowState.FAILED, PATIENCE, 1),
        ([None], "RUNNING", RowState.UNCHANGED, PATIENCE, 1),
        ([None], "ERROR", RowState.FAILED, 0.0, 1),
        ([MISSING], "RUNNING", RowState.FAILED, MISSED, 1),
        ([MISSING], "MISSING", RowState.GONE, 0.0, 1),
        ([BROKEN], "RUNNING", RowState.FAILED, 0.0, 1),
        ([failure(ErrorKind.RATE, retry_after=500.0)], "RUNNING", RowState.FAILED, 0.0, 1),
        ([failure(ErrorKind.RATE, retry_after=0.0)] * 9, "RUNNING", RowState.FAILED, 20.0, 5),
    ],
)
async def test_a_row_becomes_what_the_readings_say_and_an_unknown_outcome_is_not_repeated(
    faults: list[ServiceError | None], then: str, state: RowState, after: float, times: int
) -> None:
    fleet = Fleet(1)
    fleet.faults["box-000"] = [*faults]
    async with fleet.going():
        await fleet.clock.run(1.0)
        fleet.status["box-000"] = then
        await fleet.clock.run(after - 1.0)
        assert not after or not fleet.job.ended
        await fleet.clock.run(5.0)
        assert fleet.job.ended
    assert (fleet.states, len(fleet.asked)) == ({"box-000": state}, times)
    assert bool(fleet.job.rows["box-000"].words) is (state is not RowState.DONE)
    assert fleet.job.retry() is (state in (RowState.FAILED, RowState.UNCHANGED))


async def test_what_somebody_changed_back_while_the_run_went_on_is_called_so_and_tried_again() -> None:
    fleet, fleet.faults = Fleet(2), {"box-001": [failure(ErrorKind.RATE, retry_after=99.0)]}
    async with fleet.going():
        await fleet.clock.run(0.3)
        fleet.clock.now += PATIENCE  # it was suspended, and read nothing
        await fleet.clock.run(5.0)
        assert fleet.states["box-000"] is RowState.DONE
        fleet.status["box-000"] = "RUNNING"
    assert fleet.states == {"box-000": RowState.UNDONE, "box-001": RowState.DONE}
    assert fleet.job.retry()


@pytest.mark.parametrize(("slow_down", "after"), [(False, 0.05), (True, 2.0), (True, 0.05)])
async def test_a_stop_leaves_the_rest_ends_a_wait_and_follows_what_goes_on(slow_down: bool, after: float) -> None:
    fleet = Fleet(200)
    if slow_down:
        fleet.faults = {i: [failure(ErrorKind.RATE, retry_after=100.0)] for i in fleet.ids}
    async with fleet.going() as running:
        await fleet.clock.run(after)
        fleet.job.stop()
        await fleet.clock.run(5.0)
        assert running.done()
    assert len(fleet.asked) == AT_ONCE
    done = 0 if slow_down else AT_ONCE
    assert Counter(fleet.states.values()) == Counter({RowState.DONE: done, RowState.STOPPED: 200 - done})


@pytest.mark.parametrize("kind", [ErrorKind.AUTH, ErrorKind.UNREACHABLE])
async def test_what_goes_wrong_for_all_rows_is_not_tried_with_all(kind: ErrorKind) -> None:
    fleet = Fleet(50)
    fleet.faults = {i: [ServiceError(kind, "Did not work.", outcome=Outcome.NOT_SENT)] for i in fleet.ids}
    async with fleet.going():
        pass
    assert len(fleet.asked) <= 2 * AT_ONCE
    last = fleet.job.rows["box-049"]
    assert (last.state, "Did not work." in last.words) == (RowState.STOPPED, True)
