"""Long lists are brought up to date a few rows at a time; in the end they say what short ones say."""

from pathlib import Path

import pytest

from quarterdeck.service.endpoint import Endpoint
from quarterdeck.tui.screens import live_list
from tests.tui.fake_fleet import FakeFleet
from tests.tui.seat import answering, seated

PROD = Endpoint("prod", "http://server.test")


@pytest.fixture
def fleet(monkeypatch: pytest.MonkeyPatch) -> FakeFleet:
    """More sandboxes than a screen shows."""
    monkeypatch.setattr(live_list, "AT_ONCE", 2)
    fleet = FakeFleet()
    for number in range(40):
        fleet.add(f"box{number:02}")
    return fleet


async def test_what_changed_while_another_list_was_shown_is_there_after(fleet: FakeFleet, tmp_path: Path) -> None:
    async with seated(answering(fleet.server), PROD, crashes=tmp_path) as seat:
        await seat.press("2")
        await seat.sees("● 40 Running")
        await seat.press("1")
        fleet.sandboxes["box37"]["status"] = "PAUSED"
        del fleet.sandboxes["box38"]
        fleet.add("box99")
        await seat.press("ctrl+r")
        await seat.until(lambda: "box99" in seat.session.sandboxes.records)
        await seat.press("2")
        await seat.sees("● 39 Running", "1 Paused")
        assert {"box38", "box99"} & seat.list_screen.rows.keys() == {"box99"}
        await seat.press("G")
        await seat.sees("box99", "box39")


async def test_all_rows_learn_that_every_conversation_is_known(fleet: FakeFleet, tmp_path: Path) -> None:
    fleet.mute = True
    async with seated(answering(fleet.server), PROD, crashes=tmp_path) as seat:
        await seat.press("2")
        await seat.sees("● 40 Running")
        await seat.press("slash", *"orphan", "enter")
        await seat.sees("0 of 40 match.")
        fleet.mute = False
        await seat.press("ctrl+r")
        await seat.sees("40 of 40")
