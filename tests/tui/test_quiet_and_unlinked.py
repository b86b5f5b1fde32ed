"""Finding what costs money for nothing: idle sandboxes, and what lost its counterpart."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from quarterdeck.tui.kept_state import KeptState
from tests.client.fakes import Answer
from tests.tui.fake_fleet import CONVERSATIONS, FakeFleet, at_sandboxes
from tests.tui.seat import WIDE


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
    async with at_sandboxes(fleet, size=WIDE) as seat:
        await seat.sees("Yesterday's", "alone")
        await seat.press("I")
        await seat.sees(
            "2 would be paused" + ("; they have cost $4.00 so far." if told else "."),
            "20h00m",
            "2h00m",
            "1 left out",
            "untold",
        )
        await seat.retype("soon", "enter", sees="Write a time like 30m")
        await seat.retype("3h", sees="1 would be paused" + ("; they have cost $2.00 so far." if told else "."))
        assert fleet.orders == []
        await seat.press("enter", sees=("Pause 1 sandbox?", "old1"))
        await seat.press("y", sees=("1 done", "It stopped 1" + (", which had cost $2.00 so far." if told else ".")))
        assert fleet.orders == [("pause", "old1")]


async def test_a_list_and_a_timeline_of_a_later_run_say_alike_how_long_a_state_has_lasted_at_least(
    tmp_path: Path,
) -> None:
    fleet, state = FakeFleet(), KeptState(tmp_path / "state")
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
        assert seat.list_screen.table.cursor_id == "alone"
        await seat.press("X", "down", "down", "down", "enter", sees="[1 Conversations]")
        await seat.until(lambda: seat.list_screen.table.cursor_id == "c6")
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
