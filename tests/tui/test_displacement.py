"""What a start or resume costs is foreseen, told, and remembered."""

import asyncio
from pathlib import Path

from quarterdeck.fleet.displacement import KeptCap
from quarterdeck.tui.kept_state import KeptState, M
from tests.tui.fake_fleet import FakeFleet, at_conversations, at_sandboxes
from tests.tui.seat import WIDE


def full_fleet() -> FakeFleet:
    fleet = FakeFleet(cap=3)
    fleet.add("old", created="2026-03-10T06:00:00Z")
    fleet.add("mid", created="2026-03-11T06:00:00Z")
    fleet.add("new", created="2026-03-12T06:00:00Z")
    fleet.add("off", "PAUSED")
    fleet.talk("c1", "old", "Fix login")
    return fleet


async def test_what_made_room_is_told_and_the_next_start_warns(tmp_path: Path) -> None:
    fleet, state = full_fleet(), KeptState(tmp_path / "state")
    async with at_sandboxes(fleet, state=state, size=WIDE) as seat:
        await seat.sees("Fix login")
        await seat.press("n", sees=("default-spec  (default)", "/workspace", "TOKEN"))
        assert "hush" not in seat.text
        await seat.press("enter")
        await seat.sees("The server paused old (Fix login) to make room for new4.", "running 3 of about 3")
        await seat.go_to("old", "enter", sees=("Timeline", "displaced", "make room for new4"))
        await seat.press("escape", "n", sees=("3 of about 3 run already", "likely pause the oldest one"))
        await seat.press("escape")
    async with at_sandboxes(fleet, state=state, size=WIDE) as seat:
        await seat.sees("running 3 of about 3")
        await seat.go_to("off", "r", sees=("Resume off?", "likely pause the oldest one"))
        await seat.press("enter")
        assert ("resume", "off") not in fleet.orders
        await seat.go_to("old", "enter", sees="make room for new4")


class LateState(KeptState):
    """State files on a disk that does not answer."""

    async def read(self, model: type[M], about: str) -> M | None:
        await asyncio.Event().wait()
        return await super().read(model, about)


async def test_a_cap_noted_in_an_earlier_run_is_shown_and_a_disk_that_hangs_holds_nothing_up(tmp_path: Path) -> None:
    state, late = KeptState(tmp_path / "state"), LateState(tmp_path / "state")
    await state.change(KeptCap, "http://server.test", lambda kept: KeptCap(cap=7))
    async with at_sandboxes(full_fleet(), state=state, size=WIDE) as seat:
        await seat.sees("Fix login", "running 3 of about 7")
    async with at_conversations(full_fleet(), state=late, size=WIDE) as seat:
        await seat.sees("Fix login", "Not everything is noted down for the next run: the disk does not answer.")
