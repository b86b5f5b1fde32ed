"""A bulk pause of 200 in the deck, on a simulation in which things go wrong: the truth stands on every row."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import SecretStr

from quarterdeck.client.client import IN_PROCESS, Client
from quarterdeck.client.transport import Access
from quarterdeck.config.connections import Connection
from quarterdeck.fleet import bulk, sandbox_state, watch
from quarterdeck.fleet.bulk import RowState
from quarterdeck.local.runtime.simulated import Faults, Simulation
from quarterdeck.local.service import LocalService
from quarterdeck.tui.connecting import Connect
from tests.client.fakes import FAST
from tests.tui.seat import WIDE, seated

SIM = Connection("sim")
WANTED = 200


def simulated(simulation: Simulation) -> Connect:
    @asynccontextmanager
    async def connect(endpoint: Connection, key: SecretStr | None = None) -> AsyncIterator[Client]:
        service = await LocalService.simulated(simulation)
        try:
            async with Client(
                endpoint.url or IN_PROCESS,
                key=service.key,
                access=Access(read_only=endpoint.read_only, app=service.app, limits=FAST),
            ) as client:
                yield client
        finally:
            await service.close()

    return connect


async def statuses(simulation: Simulation, wanted: str) -> list[str]:
    """The ids of the sandboxes that begin in a status."""
    async with simulated(simulation)(SIM, None) as client:
        return [one.id async for page in client.sandboxes.pages() for one in page.items if one.status == wanted]


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readings follow each other fast, and patience with a pause ends soon."""
    monkeypatch.setattr(watch, "IN_TRANSITION", 0.2)
    monkeypatch.setattr(bulk, "PATIENCE", 4.0)
    monkeypatch.setattr(sandbox_state, "PAUSED_BY", sandbox_state.PAUSED_BY / 20)


async def test_a_bulk_pause_of_200_ends_with_the_truth_on_every_row(hurried: None, tmp_path: Path) -> None:
    calm = Simulation(700, churn=0)
    running = await statuses(calm, "RUNNING")
    ids = sorted(running)[:WANTED]
    faults = Faults(
        pauses_fail=frozenset(ids[10:20]),
        pauses_ignored=frozenset(ids[30:35]),
        gone=frozenset(ids[50:62]),
        rate_limit_at=100,
        retry_after=2,
    )
    expected = (
        dict.fromkeys(ids, (RowState.DONE, "Paused"))
        | dict.fromkeys(faults.pauses_fail, (RowState.FAILED, "Running"))
        | dict.fromkeys(faults.pauses_ignored, (RowState.UNCHANGED, "still Running"))
        | dict.fromkeys(faults.gone, (RowState.GONE, None))
    )
    async with seated(simulated(replace(calm, faults=faults)), SIM, size=WIDE, crashes=tmp_path) as seat:
        await seat.press("2")
        await seat.until(lambda: seat.deck.session and not seat.session.sandboxes.health.incomplete)
        await seat.until(lambda: not seat.session.conversations.health.incomplete)
        screen = seat.list_screen
        screen.table.set_marks(ids)
        await seat.press("p")
        await seat.sees("Pause 200 sandboxes?", "200 will be paused")
        await seat.press("y")
        await seat.sees("173 done", "10 failed", "5 unchanged", "12 gone", "R retry failed")
        await seat.press("escape")
        await seat.until(lambda: not seat.deck.screen.is_modal)
        job, now = seat.session.job, seat.deck.clock()
        assert job is not None
        shown = {row.id: row.state(now).words for row in screen.table.rows}
        assert {each: (row.state, shown.get(each)) for each, row in job.rows.items()} == expected
        for untouched in set(running) - set(ids):
            assert shown[untouched] == "Running"
        # Not a fixed number: those that were starting come up by and by.
        await seat.until(lambda: f"{screen.list.counts['Running']} Running" in seat.text)
        limited = [entry for entry in seat.session.client.log if entry.status == 429]
        assert len(limited) == 1
