"""What a start or resume costs is foreseen, told, and remembered."""

from pathlib import Path

from quarterdeck.tui.kept_state import KeptState
from tests.tui.fake_fleet import FakeFleet, at_sandboxes
from tests.tui.seat import WIDE


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
