import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.fleet.bulk import (
    AT_ONCE,
    PATIENCE,
    BulkAction,
    BulkJob,
    Plan,
    RowState,
    change_verdict,
    plan,
)
from quarterdeck.fleet.memories import SandboxMemories
from quarterdeck.fleet.sandbox_state import Action
from quarterdeck.fleet.sandboxes import SandboxRow, sandbox_row

from .fakes import FakeClock, at, failure, sandbox


@dataclass
class Fleet:
    """A server that pauses what it is asked to, `faults` aside, and a reading of it every two seconds."""

    clock: FakeClock
    ids: list[str]
    latency: float = 0.1
    faults: dict[str, list[ServiceError | None]] = field(default_factory=dict)
    """What each next request for an id answers with; None for a success that changes nothing."""
    done_anyway: set[str] = field(default_factory=set)
    """What is paused although the answer says otherwise."""
    asked: list[tuple[float, str]] = field(default_factory=list)
    under_way: int = 0
    most_at_once: int = 0

    def __post_init__(self) -> None:
        self.status = dict.fromkeys(self.ids, "RUNNING")
        self.memories = SandboxMemories()

    async def pause(self, sandbox_id: str) -> None:
        self.asked.append((self.clock.now, sandbox_id))
        self.under_way += 1
        self.most_at_once = max(self.most_at_once, self.under_way)
        await self.clock.sleep(self.latency)
        self.under_way -= 1
        if sandbox_id in self.done_anyway:
            self.status[sandbox_id] = "PAUSED"
        if faults := self.faults.get(sandbox_id):
            if (fault := faults.pop(0)) is not None:
                raise fault
        elif sandbox_id in self.status:
            self.status[sandbox_id] = "PAUSED"

    async def watch(self) -> None:
        known: set[str] = set()
        while True:
            read = [sandbox(status, sandbox_id) for sandbox_id, status in self.status.items()]
            self.memories.observe(read, at(self.clock.now), beginning=False)
            self.memories.forget(known - self.status.keys())
            known = set(self.status)
            await self.clock.sleep(2.0)

    def confirmed(self, sandbox_id: str) -> RowState | None:
        return change_verdict(self.memories.by_id.get(sandbox_id), Action.PAUSE)

    def times(self, sandbox_id: str) -> int:
        return sum(asked == sandbox_id for _, asked in self.asked)


def box(sandbox_id: str) -> SandboxRow:
    memories, record = SandboxMemories(), sandbox("RUNNING", sandbox_id)
    memories.observe([record], at(0), beginning=False)
    return sandbox_row(record, memories.by_id[sandbox_id], ())


def job(fleet: Fleet, planned: Plan[SandboxRow]) -> BulkJob:
    order = BulkAction("Pause", fleet.pause, fleet.confirmed)
    return BulkJob(order, planned, clock=fleet.clock, sleep=fleet.clock.sleep)


def bulk(fleet: Fleet) -> BulkJob:
    return job(fleet, plan(map(box, fleet.ids), lambda row: None))


@asynccontextmanager
async def going(fleet: Fleet, run: BulkJob) -> AsyncIterator[None]:
    """Let a run go on beside the readings; it has to have come to its end in the block."""
    watching, running = asyncio.create_task(fleet.watch()), asyncio.create_task(run.run())
    yield
    watching.cancel()
    await asyncio.wait((watching,))
    assert running.done()
    await running


async def played(fleet: Fleet, run: BulkJob) -> None:
    async with going(fleet, run):
        await fleet.clock.run(300.0)


def states(run: BulkJob) -> dict[str, RowState]:
    return {row.id: row.state for row in run.rows.values()}


def fleet_of(count: int) -> Fleet:
    return Fleet(FakeClock(), [f"box-{number:03}" for number in range(count)])


MISSING = ServiceError(ErrorKind.MISSING, "Not found.", status=404)
BROKEN = ServiceError(ErrorKind.SERVER, "Server error 500.", status=500)
LOST = ServiceError(ErrorKind.UNKNOWN_OUTCOME, "No answer came.", outcome=Outcome.UNKNOWN)


async def test_a_bulk_pause_of_200_ends_with_the_truth_on_every_row() -> None:
    fleet = fleet_of(200)
    failing, gone, unknown = fleet.ids[10:30], fleet.ids[40:50], fleet.ids[60:66]
    listed_still, unchanged, slow_down = fleet.ids[70], fleet.ids[80], fleet.ids[100]
    for fault, ids in ((BROKEN, failing), (MISSING, [*gone, listed_still]), (LOST, unknown), (None, [unchanged])):
        fleet.faults.update((sandbox_id, [fault]) for sandbox_id in ids)
    fleet.faults[slow_down] = [failure(ErrorKind.RATE, retry_after=7.0)]
    fleet.done_anyway |= set(unknown[:3])
    for sandbox_id in gone:
        del fleet.status[sandbox_id]
    run = bulk(fleet)
    await played(fleet, run)

    found = states(run)
    assert {i for i, state in found.items() if state is RowState.GONE} == set(gone)
    assert {i for i, state in found.items() if state is RowState.UNCHANGED} == {unchanged}
    failed = {i for i, state in found.items() if state is RowState.FAILED}
    assert failed == {*failing, *unknown[3:], listed_still}
    done = {i for i, state in found.items() if state is RowState.DONE}
    assert done == {i for i, status in fleet.status.items() if status == "PAUSED"}
    assert len(done) + len(gone) + len(failed) + 1 == 200

    assert fleet.most_at_once == AT_ONCE
    assert fleet.times(slow_down) == 2
    assert Counter(asked for _, asked in fleet.asked).most_common(2)[1][1] == 1
    first_line = run.summary.splitlines()[0]
    assert first_line == "200 sandboxes: 165 done, 24 failed, 1 unchanged, 10 gone"


async def test_when_the_server_asks_to_wait_all_wait_and_the_row_is_tried_first_again() -> None:
    fleet = fleet_of(12)
    slow_down = fleet.ids[5]
    fleet.faults[slow_down] = [failure(ErrorKind.RATE, retry_after=30.0)]
    run = bulk(fleet)
    waits = []
    async with going(fleet, run):
        await fleet.clock.run(1.0)
        waits.append(run.waits)
        assert run.rows[slow_down].state is RowState.WAITING
        await fleet.clock.run(100.0)
    assert 29.0 < waits[0] < 30.0
    moments = sorted(when for when, _ in fleet.asked)
    pause = next((a, b) for a, b in pairwise(moments) if b - a > 5)
    assert pause[1] - pause[0] >= 30.0 - fleet.latency
    after = [asked for when, asked in fleet.asked if when >= pause[1]]
    assert after[0] == slow_down
    assert set(states(run).values()) == {RowState.DONE}


@pytest.mark.parametrize(("asked", "tries"), [(500.0, 1), (None, 5), (0.0, 5)])
async def test_a_server_that_asks_to_wait_too_long_or_for_ever_is_not_waited_for(
    asked: float | None, tries: int
) -> None:
    fleet = fleet_of(1)
    fleet.faults["box-000"] = [failure(ErrorKind.RATE, retry_after=asked) for _ in range(9)]
    run = bulk(fleet)
    await played(fleet, run)
    assert states(run) == {"box-000": RowState.FAILED}
    assert len(fleet.asked) == tries


async def test_what_was_asked_with_an_unknown_outcome_is_never_sent_twice() -> None:
    fleet = fleet_of(2)
    fleet.faults = {"box-000": [LOST], "box-001": [LOST]}
    fleet.done_anyway = {"box-000"}
    run = bulk(fleet)
    await played(fleet, run)
    assert states(run) == {"box-000": RowState.DONE, "box-001": RowState.FAILED}
    assert [fleet.times(i) for i in fleet.ids] == [1, 1]
    assert "No answer came." in run.rows["box-001"].words


async def test_a_success_without_change_is_called_so_only_after_the_readings_had_their_time() -> None:
    fleet = fleet_of(1)
    fleet.faults = {"box-000": [None]}
    run = bulk(fleet)
    async with going(fleet, run):
        await fleet.clock.run(PATIENCE - 2)
        assert states(run) == {"box-000": RowState.SENT}
        await fleet.clock.run(5.0)
    assert states(run) == {"box-000": RowState.UNCHANGED}


async def test_what_failed_instead_ends_at_once() -> None:
    fleet = fleet_of(2)
    fleet.faults = {"box-000": [None]}
    run = bulk(fleet)
    async with going(fleet, run):
        await fleet.clock.run(1.0)
        fleet.status["box-000"] = "ERROR"
        await fleet.clock.run(5.0)
    assert states(run) == {"box-000": RowState.FAILED, "box-001": RowState.DONE}
    assert "it has failed instead" in run.rows["box-000"].words


async def test_what_somebody_changed_back_while_the_run_went_on_is_called_so_and_tried_again() -> None:
    fleet = fleet_of(2)
    fleet.faults = {"box-001": [failure(ErrorKind.RATE, retry_after=20.0)]}
    run = bulk(fleet)
    async with going(fleet, run):
        await fleet.clock.run(5.0)
        assert run.rows["box-000"].state is RowState.DONE
        fleet.status["box-000"] = "RUNNING"
        await fleet.clock.run(60.0)
    assert states(run) == {"box-000": RowState.UNDONE, "box-001": RowState.DONE}
    assert "changed it back" in run.rows["box-000"].words
    assert run.retry_failed()


async def test_a_stop_leaves_the_rest_and_follows_what_is_under_way() -> None:
    fleet = fleet_of(20)
    run = bulk(fleet)
    async with going(fleet, run):
        await fleet.clock.run(0.05)
        run.stop()
        await fleet.clock.run(10.0)
    assert len(fleet.asked) == AT_ONCE
    assert Counter(states(run).values()) == {RowState.DONE: AT_ONCE, RowState.STOPPED: 20 - AT_ONCE}


async def test_a_stop_ends_a_wait_the_server_asked_for() -> None:
    fleet = fleet_of(6)
    fleet.faults = {i: [failure(ErrorKind.RATE, retry_after=100.0)] for i in fleet.ids}
    run = bulk(fleet)
    running = asyncio.create_task(run.run())
    await fleet.clock.run(2.0)
    run.stop()
    await fleet.clock.run(2.0)
    assert running.done()
    assert set(states(run).values()) == {RowState.STOPPED}


async def test_a_retry_tries_only_what_failed() -> None:
    fleet = fleet_of(6)
    fleet.faults = {"box-001": [BROKEN], "box-003": [BROKEN, BROKEN], "box-004": [None]}
    run = bulk(fleet)
    await played(fleet, run)
    assert run.retry_failed()
    await played(fleet, run)
    assert [fleet.times(i) for i in fleet.ids] == [1, 2, 1, 2, 2, 1]
    assert Counter(states(run).values()) == {RowState.DONE: 5, RowState.FAILED: 1}
    assert run.ended


@pytest.mark.parametrize("kind", [ErrorKind.AUTH, ErrorKind.NOT_OFFERED, ErrorKind.UNREACHABLE])
async def test_what_goes_wrong_for_all_rows_is_not_tried_with_all(kind: ErrorKind) -> None:
    fleet = fleet_of(50)
    fleet.faults = {i: [failure(kind)] for i in fleet.ids}
    run = bulk(fleet)
    await played(fleet, run)
    assert len(fleet.asked) <= 2 * AT_ONCE
    assert Counter(states(run).values())[RowState.STOPPED] >= 50 - 2 * AT_ONCE
    assert "Did not work." in run.rows["box-049"].words


async def test_rows_that_are_left_out_stand_in_the_summary_with_the_reason() -> None:
    fleet = fleet_of(1)
    rows = Plan((box("box-000"),), ((box("b"), "It is paused already."),), (box("c"),))
    run = job(fleet, rows)
    await played(fleet, run)
    assert run.summary.splitlines() == [
        "3 sandboxes: 1 done, 2 skipped",
        "box-000  done",
        "b  skipped  It is paused already.",
        "c  skipped  The filter hides it.",
    ]


def test_a_plan_leaves_what_the_filter_hides_alone_until_it_is_included() -> None:
    planned = plan(map(box, "abc"), lambda row: "No." if row.id == "c" else None, hidden={"b", "c"})
    assert [row.id for row in planned.rows] == ["a"]
    assert [row.id for row in planned.hidden] == ["b"]
    assert [row.id for row, _ in planned.skipped] == ["c"]
    assert [row.id for row in planned.with_hidden().rows] == ["a", "b"]


def test_verdicts_follow_readings_and_not_what_was_answered() -> None:
    memories = SandboxMemories()
    memories.observe([sandbox("RUNNING", "a"), sandbox("PAUSED", "b"), sandbox("MISSING", "c")], at(0), beginning=False)
    memories.missing("a", at(1))
    verdicts = {i: change_verdict(memories.by_id.get(i), Action.PAUSE) for i in "abcd"}
    assert verdicts == {"a": None, "b": RowState.DONE, "c": RowState.GONE, "d": RowState.GONE}
    assert change_verdict(memories.by_id["b"], Action.RESUME) is None
    deleted = [change_verdict(memories.by_id.get(i), Action.DELETE) for i in "acd"]
    assert deleted == [None, RowState.DONE, RowState.DONE]
