from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.tui.kept_state import KeptState
from quarterdeck.tui.lists import screen as list_screen
from tests.local.conftest import processes
from tests.tui.conftest import Sit
from tests.tui.fake_fleet import FakeFleet, at_sandboxes
from tests.tui.seat import WIDE


async def test_a_sandbox_is_started_paused_and_resumed_by_keys_and_outlives_the_deck(sit: Sit, folder: Path) -> None:
    async with sit() as seat:
        await seat.press("2", sees="No sandboxes.")
        await seat.press("p", sees="Pause: there is no row here.")
        await seat.press("n", sees=("Start a sandbox", "files  (default)", "shell", "{port}"))
        command, rest = (line for line in seat.text.splitlines() if "command  " in line or "{port}" in line)
        at = command.index("command")
        assert not rest[at : at + 13].strip(), "it is wrapped beside its label"
        await seat.press("enter", sees=("● Running", "1 Running", "asked for; the list shows when it runs."))
        await seat.press("p", sees=("‖ Paused", "1 Paused"))
        assert {process.state for process in processes(folder)} == {"T"}
        await seat.press("r", sees=("● Running", "1 Running"))
        assert "T" not in {process.state for process in processes(folder)}
        await seat.press("p", sees="‖ Paused")
    assert {process.state for process in processes(folder)} == {"T"}
    async with sit() as seat:
        await seat.press("2", sees="‖ Paused")


async def test_a_key_that_can_do_nothing_says_why_and_what_would() -> None:
    fleet = FakeFleet.of(1)
    async with at_sandboxes(fleet) as seat:
        await seat.press("r", sees="It is running already. p pauses it.")
        await seat.press("o", sees="no conversation lives in it")
        await seat.press("p", sees="‖ Paused")
        await seat.press("p", sees="It is paused already. r resumes it.")
        await seat.press("f2", sees=("It is paused already", "do it"))
        fleet.sandboxes["box00"]["status"] = "RUNNING"
        seat.session.refresh()
        await seat.sees("It is running already", "do it")
        await seat.press("p", sees="‖ Paused", until=lambda: not seat.deck.screen.is_modal)


async def test_a_menu_whose_row_is_gone_does_nothing_to_the_next_one() -> None:
    fleet = FakeFleet.of(2)
    async with at_sandboxes(fleet) as seat:
        await seat.go_to("box00", "f2", sees="Pause")
        del fleet.sandboxes["box00"]
        seat.session.refresh()
        await seat.sees("The cursor stands on another row by now")
        await seat.press("p")
        await seat.press("escape", until=lambda: not seat.deck.screen.is_modal)
        assert fleet.orders == []


async def test_the_detail_shows_the_record_but_no_key_and_cursor_and_marks_stay_with_it() -> None:
    fleet = FakeFleet.of(1)
    async with at_sandboxes(fleet) as seat:
        await seat.press("enter")
        await seat.sees("box00", "sandbox status", "agent_server", "http://box/box00", "known, not shown")
        assert "sentinel-sandbox-key" not in seat.text
        await seat.press("escape", "space")
        fleet.add("added")
        await seat.press("ctrl+r", sees="2 Running")
        assert seat.list_screen.table.cursor_id == "box00"
        assert seat.list_screen.table.marks == {"box00"}


async def test_what_is_said_beside_the_list_ages_while_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_screen, "AGED_AFTER", 0.5)
    fleet = FakeFleet()
    fleet.add("box", created=datetime.now(UTC).isoformat())
    async with at_sandboxes(fleet, size=WIDE) as seat:
        await seat.sees("sandbox status", SandboxStatus.RUNNING)
        began = seat.deck.clock
        seat.deck.clock = lambda: began() + timedelta(minutes=7)
        await seat.sees("quiet for       7m")


async def test_a_start_that_takes_too_long_rises_although_nothing_new_is_read() -> None:
    fleet = FakeFleet.of(2)
    async with at_sandboxes(fleet, size=WIDE) as seat:
        fleet.add("slow", "STARTING")
        await seat.press("ctrl+r", sees="1 Starting", until=lambda: seat.list_screen.table.ids[-1] == "slow")
        began = seat.deck.clock
        seat.deck.clock = lambda: began() + timedelta(minutes=3)
        await seat.sees("Starting slow 3:0")
        await seat.until(lambda: seat.list_screen.table.ids[0] == "slow")


async def test_what_made_room_is_told_and_the_next_start_warns(tmp_path: Path) -> None:
    fleet, state = FakeFleet(cap=3), KeptState(tmp_path / "state")
    for day, name in enumerate(("old", "mid", "new"), 10):
        fleet.add(name, created=f"2026-03-{day}T06:00:00Z")
    fleet.add("off", "PAUSED")
    fleet.talk("c1", "old", "Fix login")
    async with at_sandboxes(fleet, state=state, size=WIDE) as seat:
        await seat.sees("Fix login")
        await seat.press("n", sees=("default-spec  (default)", "/workspace", "TOKEN"))
        assert "hush" not in seat.text
        await seat.press("enter")
        await seat.sees("Paused, probably to make room for new4: old (Fix login).", "running 3 of about 3")
        await seat.go_to("old", "enter", sees=("Timeline", "displaced", "make room for new4"))
        await seat.press("escape", "n", sees=("3 of about 3 run already", "likely pause the oldest one"))
        await seat.press("escape")
    async with at_sandboxes(fleet, state=state, size=WIDE) as seat:
        await seat.sees("running 3 of about 3")
        await seat.go_to("off", "r", sees=("Resume off?", "likely pause the oldest one"))
        await seat.press("enter")
        assert ("resume", "off") not in fleet.orders
        await seat.go_to("old", "enter", sees="make room for new4")
