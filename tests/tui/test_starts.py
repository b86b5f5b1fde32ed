"""Starts that go on: the person at one stays with it when it becomes a conversation."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.tui.fake_fleet import FakeFleet, at_conversations


@pytest.fixture
def fleet() -> FakeFleet:
    now = datetime.now(UTC).isoformat()
    fleet = FakeFleet(nested=True)
    fleet.add("box")
    fleet.talk("asks", "box", "Which port?", execution_status="waiting_for_confirmation")
    fleet.talk("old", "box", "Long done")
    fleet.tasks = [
        {
            "id": "f" * 32, "status": "PREPARING_REPOSITORY", "detail": None, "app_conversation_id": None,
            "sandbox_id": "box", "request": {"title": "Port it"}, "created_at": now, "updated_at": now,
        }
    ]  # fmt: skip
    return fleet


def comes_up(fleet: FakeFleet) -> None:
    """The conversation is there, below one that needs somebody."""
    fleet.tasks[0] |= {"status": "READY", "app_conversation_id": "new"}
    fleet.talk("new", "box", "Port it", execution_status="running")


async def test_the_cursor_goes_with_a_start_to_the_conversation_it_becomes(fleet: FakeFleet, tmp_path: Path) -> None:
    async with at_conversations(fleet, tmp_path) as seat:
        await seat.sees("3/7 preparing", "Which port?")
        assert seat.list_screen.table.cursor_id == "f" * 32
        comes_up(fleet)
        await seat.press("ctrl+r")
        await seat.until(lambda: "new" in seat.list_screen.rows)
        assert seat.list_screen.table.rows[0].id == "asks"
        assert seat.list_screen.table.cursor_id == "new"


async def test_the_detail_of_a_start_goes_on_with_its_conversation(fleet: FakeFleet, tmp_path: Path) -> None:
    async with at_conversations(fleet, tmp_path) as seat:
        await seat.sees("3/7 preparing", "Which port?")
        await seat.press("enter")
        await seat.sees("PREPARING_REPOSITORY")
        comes_up(fleet)
        seat.session.refresh()
        await seat.sees("Working", "provider")
        assert "It is gone." not in seat.text


async def test_a_start_that_came_to_a_conversation_opens_it_before_the_list_has_it(
    fleet: FakeFleet, tmp_path: Path
) -> None:
    async with at_conversations(fleet, tmp_path) as seat:
        fleet.tasks[0] |= {"status": "READY", "app_conversation_id": "new"}
        await seat.press("ctrl+r")
        await seat.sees("ready", "Which port?")
        fleet.talk("new", "box", "Port it", execution_status="running")
        await seat.press("enter")
        await seat.sees("m writes a message", "Port it")
