"""Sandboxes: started, paused, told about, and found where they cost money for nothing."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.tui.kept_state import KeptState
from quarterdeck.tui.lists import screen as list_screen
from tests.client.fakes import Answer
from tests.local.conftest import processes
from tests.tui.conftest import Sit
from tests.tui.fake_fleet import CONVERSATIONS, FakeFleet, at_sandboxes
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
        await seat.reread(sees=("It is running already", "do it"))
        await seat.press("p", sees="‖ Paused", until=lambda: not seat.deck.screen.is_modal)


async def test_a_menu_whose_row_is_gone_does_nothing_to_the_next_one() -> None:
    fleet = FakeFleet.of(2)
    async with at_sandboxes(fleet) as seat:
        await seat.go_to("box00", "f2", sees="Pause")
        del fleet.sandboxes["box00"]
        await seat.reread(sees="The cursor stands on another row by now")
        await seat.press("p", "escape", until=lambda: not seat.deck.screen.is_modal)
        assert fleet.orders == []


async def test_the_detail_shows_the_record_but_no_key_and_cursor_and_marks_stay_with_it() -> None:
    fleet = FakeFleet.of(1)
    async with at_sandboxes(fleet) as seat:
        await seat.press("enter", sees=("sandbox status", "agent_server", "http://box/box00", "known, not shown"))
        assert "sentinel-sandbox-key" not in seat.text
        await seat.press("escape", "space")
        fleet.add("added")
        await seat.press("ctrl+r", sees="2 Running")
        assert seat.table.cursor_id == "box00"
        assert seat.table.marks == {"box00"}


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
        await seat.press("ctrl+r", sees="1 Starting", until=lambda: seat.table.ids[-1] == "slow")
        began = seat.deck.clock
        seat.deck.clock = lambda: began() + timedelta(minutes=3)
        await seat.sees("Starting slow 3:0")
        await seat.until(lambda: seat.table.ids[0] == "slow")


async def test_what_made_room_is_told_and_the_next_start_warns(state: KeptState) -> None:
    fleet = FakeFleet(cap=3)
    for day, name in enumerate(("old", "mid", "new"), 10):
        fleet.add(name, created=f"2026-03-{day}T06:00:00Z")
    fleet.add("off", "PAUSED")
    fleet.talk("c1", "old", "Fix login")
    async with at_sandboxes(fleet, state=state, size=WIDE) as seat:
        await seat.sees("Fix login")
        await seat.press("n", sees=("default-spec  (default)", "/workspace", "TOKEN"), lacks="hush")
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


def ago(**time: float) -> str:
    return (datetime.now(UTC) - timedelta(**time)).isoformat()


def idle_fleet() -> FakeFleet:
    fleet = FakeFleet()
    for name in ("old1", "old2", "fresh", "busy", "untold", "alone"):
        fleet.add(name)
    fleet.talk("c1", "old1", "Yesterday's work", updated_at=ago(hours=20))
    fleet.talk("c2", "old2", "Lunch", updated_at=ago(hours=2))
    fleet.talk("c3", "fresh", "Just now", updated_at=ago(minutes=1))
    fleet.talk("c4", "busy", "Working", updated_at=ago(hours=9), execution_status="running")
    fleet.talk("c5", "untold", "No times", updated_at=None, created_at=None)
    fleet.talk("c6", "vanished", "Its box is gone", updated_at=ago(days=3))
    return fleet


@pytest.mark.parametrize("told", [True, False], ids=["cost", "no cost"])
async def test_the_quiet_dialog_takes_a_time_lists_before_it_pauses_and_says_what_it_stopped(told: bool) -> None:
    fleet = idle_fleet()
    for each in fleet.conversations.values() if not told else ():
        each["metrics"] = None
    cost = "; they have cost ${}.00 so far." if told else "."
    async with at_sandboxes(fleet, size=WIDE) as seat:
        await seat.sees("Yesterday's", "alone")
        await seat.press("I", sees=(f"2 would be paused{cost.format(4)}", "20h00m", "2h00m", "1 left out", "untold"))
        await seat.retype("soon", "enter", sees="Write a time like 30m")
        await seat.retype("3h", sees=f"1 would be paused{cost.format(2)}")
        assert fleet.orders == []
        await seat.press("enter", sees=("Pause 1 sandbox?", "old1"))
        await seat.press("y", sees=("1 done", "It stopped 1" + (", which had cost $2.00 so far." if told else ".")))
        assert fleet.orders == [("pause", "old1")]


async def test_a_list_and_a_timeline_of_a_later_run_say_alike_how_long_a_state_has_lasted(state: KeptState) -> None:
    fleet = FakeFleet()
    fleet.add("box")
    for minutes, lasted in ((0, "?"), (7, "≥7m")):
        async with at_sandboxes(fleet, state=state) as seat:
            moment = datetime.now(UTC) + timedelta(minutes=minutes, seconds=30)
            seat.deck.clock = lambda moment=moment: moment  # type: ignore[misc]
            await seat.press("enter", sees=f"for             {lasted}")
            await seat.press("G", sees=f"● Running   {lasted}")
            assert ("first seen so; seen again 7m ago" in seat.text) is (minutes == 7)
    for kept, ended in ((None, "≥?"), (state, "-")):
        async with at_sandboxes(fleet, state=kept) as seat:
            await seat.press("p", sees="1 Paused")
            await seat.press("enter", "G", sees="‖ Paused")
            assert seat.line_of("● Running").partition("Running")[2].split()[0][0] in ended
        fleet.sandboxes["box"]["status"] = "RUNNING"


async def test_unlinked_rows_of_both_kinds_are_counted_and_gone_to_but_not_where_one_just_starts() -> None:
    fleet = idle_fleet()
    fleet.talk("c7", "vanished", "So is that of this one", updated_at=ago(days=2))
    fleet.add("asleep", "PAUSED")
    fleet.add("begun")
    task = {"id": "f" * 32, "status": "WAITING_FOR_SANDBOX", "sandbox_id": "begun", "request": {}, "created_at": ago()}
    fleet.tasks = [task]
    async with at_sandboxes(fleet) as seat:
        await seat.sees("Yesterday's", "alone", "asleep")
        await seat.press("X")
        await seat.sees("2  Sandboxes that no conversation lives in", "2  Conversations whose sandbox is gone")
        assert "changed 3d" in seat.line_of("Its box is gone"), "since when the box is gone is not known"
        assert seat.text.index("So is that of this one") < seat.text.index("Its box is gone"), "the newest first"
        lines = [line for line in seat.text.splitlines() if "‖ Paused" in line or "● Running" in line][-2:]
        assert len({line.index(" ? ") for line in lines}) == 1
        await seat.press("enter", until=lambda: not seat.deck.screen.is_modal)
        assert seat.table.cursor_id == "alone"
        await seat.press("X", "down", "down", "down", "enter", sees="[1 Conversations]")
        await seat.until(lambda: seat.table.cursor_id == "c6")
        await seat.sees("vanish gone")
        task |= {"status": "ERROR", "detail": "no room"}
        await seat.press("ctrl+r", sees="✗ 1 failed")
        await seat.press("X", sees="3  Sandboxes that no conversation lives in")


@pytest.mark.parametrize("answer", [Answer({"detail": "It broke"}, 500), Answer({"items": [{"no": "id"}]})])
async def test_unlinked_rows_are_called_what_is_known_so_far_while_something_is_unread(answer: Answer) -> None:
    fleet = idle_fleet()
    fleet.says[f"GET {CONVERSATIONS}/search"] = answer
    async with at_sandboxes(fleet) as seat:
        await seat.press("X", sees=("so far, not everything is read", "none so far"))
