from datetime import UTC, datetime
from typing import Any

import pytest

from quarterdeck.tui.kept_state import KeptState
from tests.client.fakes import Gated, to
from tests.conftest import Home
from tests.tui.fake_fleet import CONVERSATIONS, PROD, FakeFleet, at_conversations, start_task
from tests.tui.seat import answering, seated

DETAIL = "500: Failed to start agent process: no such file"
REQUEST: dict[str, Any] = {
    "initial_message": {"role": "user", "content": [{"type": "text", "text": "fix the bug\nquickly"}], "run": True},
    "title": "Bug", "selected_repository": "acme/web", "selected_branch": "main", "git_provider": "github",
    "llm_model": "openai/stub", "sandbox_id": "box",
}  # fmt: skip


def failed(hours: float = 2, **request: Any) -> dict[str, Any]:
    return start_task(status="ERROR", hours=hours, detail=DETAIL, request=REQUEST | request)


@pytest.fixture
def fleet() -> FakeFleet:
    fleet = FakeFleet(tasks=[failed()])
    fleet.add("box")
    return fleet


async def test_it_is_asked_for_again_with_what_it_was_asked_for(fleet: FakeFleet) -> None:
    fleet.talk("mate", "box", "Older work")
    async with at_conversations(fleet, sees=("✗ 1 failed", "Bug")) as seat:
        assert "D Dismiss" in seat.text
        await seat.press("R", sees=("Try it again", "fix the bug", "quickly", "Bug", "acme/web", "main"))
        await seat.sees("box, Running, Older work")
        await seat.press("ctrl+s", sees="Created.")
        (asked,) = fleet.created
        assert asked == REQUEST
        assert seat.table.cursor_id == "f" * 32, "on no other row until the new start is listed"
        fleet.tasks.append(failed(0) | {"id": "task1", "status": "WORKING", "detail": None})
        await seat.press("ctrl+r", until=lambda: "failed" not in seat.text)
        await seat.until(lambda: seat.table.cursor_id == "task1")
        assert seat.text.index("Bug") < seat.text.index("Older work"), "it stands where it belongs, not at the end"


async def test_a_sandbox_that_cannot_take_it_is_said_and_a_new_one_is_chosen(fleet: FakeFleet) -> None:
    fleet.tasks = [failed(sandbox_id="lost", initial_message="no list of parts") | {"detail": ""}]
    async with at_conversations(fleet, sees=("✗ 1 failed", "Bug")) as seat:
        await seat.press("enter", sees="The server does not say why.")
        said = ("It was to live in lost, which cannot take it now.", "a new one, unless grouped", "sandbox grouping")
        await seat.press("escape", "R", sees=said)
        await seat.press("ctrl+s", until=lambda: fleet.created)
        assert "sandbox_id" not in fleet.created[0]
        assert fleet.created[0]["initial_message"]["content"][0]["text"] == "no list of parts"


async def test_the_sandbox_it_left_behind_is_paused_and_gone_to(fleet: FakeFleet) -> None:
    fleet.tasks[0]["sandbox_id"] = "box"
    async with at_conversations(fleet, sees=("✗ 1 failed", "Bug")) as seat:
        await seat.press("p", sees="Pause of box asked for")
        await seat.press("o", sees="[2 Sandboxes]")
        assert seat.table.cursor_id == "box"


async def test_its_reason_is_shown_and_copied_until_put_away(fleet: FakeFleet, home: Home, state: KeptState) -> None:
    async with at_conversations(fleet, state=state, sees=("✗ 1 failed", "Bug")) as seat:
        assert "starting" not in seat.line(1)
        assert "enter Open  R Retry  / Filter" in seat.line(-1)
        assert "D Dismiss" in seat.line(-1)
        assert "Pause" not in seat.line(-1)
        menu = "Open   ", "Dismiss the failed start, or all marked", "Mark the row, or unmark it"
        await seat.press("f2", sees=menu)
        await seat.press("escape", "enter", sees=(DETAIL, "fix the bug quickly"))
        await seat.press("escape", "y", sees="what failed")
        await seat.press("down", "f", until=lambda: (home.state / "copied.txt").exists())
        assert (home.state / "copied.txt").read_text() == f"{DETAIL}\n"
        for key in ("w", "O"):
            await seat.press(key, sees="Its start failed, so there is no conversation.")
            await seat.press("slash", lacks="Its start failed")
            await seat.press("escape")
        await seat.press("D", sees="nothing was changed on the server", until=lambda: not seat.table.ids)
    async with at_conversations(fleet, state=state, sees="No conversations.") as seat:
        await seat.until(lambda: fleet.tasks[0]["id"] in seat.session.unread.dismissed)
        assert not seat.table.ids


async def test_several_are_put_away_after_a_plan(fleet: FakeFleet) -> None:
    fleet.tasks = [failed() | {"id": letter * 32} for letter in "fe"]
    async with at_conversations(fleet, sees="✗ 2 failed") as seat:
        await seat.press("asterisk", "D", sees=("Dismiss 2 failed starts?", "shown nowhere", "2 will be dismissed"))
        await seat.press("enter", until=lambda: not seat.deck.screen.is_modal)
        assert len(seat.table.ids) == 2
        await seat.press("D", "y", sees="2 dismissed", until=lambda: not seat.table.ids)


@pytest.mark.parametrize("count", [5, 30])
async def test_the_cursor_that_nobody_moved_is_on_the_first_row(fleet: FakeFleet, state: KeptState, count: int) -> None:
    for number in range(count):
        fleet.talk(f"talk{number:02}", "box", "Long done", created_at=f"2026-03-14T09:{number:02}:00Z")
    async with at_conversations(fleet, state=state) as seat:
        await seat.press("s", sees="STATE ▲", until=lambda: seat.table.ids[0] == fleet.tasks[0]["id"])
        while "CREATED ▲" not in seat.text:
            await seat.press("s")
        await seat.press("S", sees="CREATED ▼", until=lambda: seat.table.ids[0] == "talk00")
    server = Gated(fleet.answer, to(f"{CONVERSATIONS}/search"))
    async with seated(answering(server), PROD, state=state, sees=("✗ 1 failed", "CREATED ▼")) as seat:
        server.gate.set()
        await seat.sees(f"{count} Finished")
        assert seat.table.cursor_id == seat.table.ids[0] == seat.table.visible_ids[0] == "talk00"


@pytest.fixture
def starting() -> FakeFleet:
    fleet = FakeFleet(nested=True)
    fleet.talk("asks", fleet.add("box"), "Which port?", execution_status="waiting_for_confirmation")
    fleet.talk("old", "box", "Long done")
    fleet.tasks = [start_task(status="PREPARING_REPOSITORY", sandbox_id="box", request={"title": "Port it"})]
    return fleet


async def test_cursor_and_detail_go_with_a_start_to_the_conversation_it_becomes(starting: FakeFleet) -> None:
    starting.tasks[0] |= {"status": "WAITING_FOR_SANDBOX", "request": {}}
    starting.tasks[0].pop("sandbox_id")
    async with at_conversations(starting, sees="2/7 sandbox") as seat:
        await seat.press("o", sees="It has no sandbox yet.")
        starting.tasks[0]["sandbox_id"] = "box"
        starting.tasks[0]["status"] = "PREPARING_REPOSITORY"
        await seat.reread(sees=("3/7 repository", "Which port?"))
        assert seat.table.cursor_id == "f" * 32
        await seat.press("enter", sees=(f"▌  {'f' * 32}", "PREPARING_REPOSITORY"))
        starting.tasks[0] |= {"status": "READY", "app_conversation_id": "new"}
        starting.talk("new", "box", "Port it", execution_status="running")
        await seat.reread(sees=("▌  Port it", "Working", "provider"))
        assert "It is gone." not in seat.text
        await seat.press("escape")
        assert seat.table.ids[0] == "asks", "it needs somebody"
        assert seat.table.cursor_id == "new"
        await seat.press("R", sees="Only a start that failed can be tried again.")


@pytest.mark.parametrize("listed", ["with the end of its start", "before it"])
async def test_a_start_that_is_soon_over_does_not_lead_to_the_end_of_a_list(starting: FakeFleet, listed: str) -> None:
    for number in range(300):
        starting.talk(f"{number:032}", "box", "Long done")
    server = Gated(starting.answer, to(f"{CONVERSATIONS}/start-tasks/search"))
    async with at_conversations(starting, server=server, sees="301 Finished") as seat:
        server.gate.set()
        await seat.sees("3/7 repository", "live now")
        await seat.press("j", "g")  # on the start, also where the conversations were read before it
        starting.talk("new", "box", "Port it", execution_status="running", updated_at=datetime.now(UTC).isoformat())
        if listed == "before it":
            await seat.reread(until=lambda: "new" in seat.table.ids)
        starting.tasks[0] |= {"status": "READY", "app_conversation_id": "new"}
        await seat.reread(until=lambda: seat.table.cursor_id == "new")
        assert seat.table.ids[:3] == ["asks", "new", "0" * 32]


async def test_a_start_that_came_to_a_conversation_opens_it_before_the_list_has_it(starting: FakeFleet) -> None:
    async with at_conversations(starting) as seat:
        starting.tasks[0] |= {"status": "READY", "app_conversation_id": "new"}
        await seat.press("ctrl+r", sees=("ready", "Which port?"))
        starting.talk("new", "box", "Port it", execution_status="running")
        await seat.press("enter", sees=("m writes a message", "Port it"))
