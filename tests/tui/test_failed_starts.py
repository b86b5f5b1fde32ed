from datetime import UTC, datetime
from typing import Any

import pytest

from quarterdeck.tui.kept_state import KeptState
from tests.client.fakes import Gated, to
from tests.conftest import Home
from tests.tui.fake_fleet import CONVERSATIONS, PROD, FakeFleet, at_conversations, start_task
from tests.tui.user import answering, at_deck

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
    async with at_conversations(fleet, sees=("✗ 1 failed", "Bug")) as user:
        await user.sees("D Dismiss")
        await user.press("R", sees=("Try it again", "fix the bug", "quickly", "Bug", "acme/web", "main"))
        await user.sees("box, Running, Older work")
        await user.press("ctrl+s", sees="Created.")
        (asked,) = fleet.created
        assert asked == REQUEST
        assert user.table.cursor_id == "f" * 32, "on no other row until the new start is listed"
        fleet.tasks.append(failed(0) | {"id": "task1", "status": "WORKING", "detail": None})
        await user.press("ctrl+r", until=lambda: "failed" not in user.text)
        await user.until(lambda: user.table.cursor_id == "task1")
        assert user.text.index("Bug") < user.text.index("Older work"), "it stands where it belongs, not at the end"


async def test_a_sandbox_that_cannot_take_it_is_said_and_a_new_one_is_chosen(fleet: FakeFleet) -> None:
    fleet.tasks = [failed(sandbox_id="lost", initial_message="no list of parts") | {"detail": ""}]
    async with at_conversations(fleet, sees=("✗ 1 failed", "Bug")) as user:
        await user.press("enter", sees="The server does not say why.")
        said = ("It was to live in lost, which cannot take it now.", "a new one, unless grouped", "sandbox grouping")
        await user.press("escape", "R", sees=said)
        await user.press("ctrl+s", until=lambda: fleet.created)
        assert "sandbox_id" not in fleet.created[0]
        assert fleet.created[0]["initial_message"]["content"][0]["text"] == "no list of parts"


async def test_the_sandbox_it_left_behind_is_paused_and_gone_to(fleet: FakeFleet) -> None:
    fleet.tasks[0]["sandbox_id"] = "box"
    async with at_conversations(fleet, sees=("✗ 1 failed", "Bug")) as user:
        await user.press("p", sees="Pause of box: done.")
        await user.press("o", sees="[2 Sandboxes]", until=lambda: user.table.cursor_id == "box")


async def test_its_reason_is_shown_and_copied_until_put_away(fleet: FakeFleet, home: Home, state: KeptState) -> None:
    async with at_conversations(fleet, state=state, sees=("✗ 1 failed", "Bug")) as user:
        assert "starting" not in user.line(1)
        assert "enter Open  R Retry  / Filter" in user.line(-1)
        assert "D Dismiss" in user.line(-1)
        assert "Pause" not in user.line(-1)
        menu = "Open   ", "Dismiss the failed start, or all marked", "Mark the row, or unmark it"
        await user.press("f2", sees=menu)
        await user.press("escape", "enter", sees=(DETAIL, "fix the bug quickly"))
        await user.press("escape", "y", sees="what failed")
        await user.press("down", "f", until=lambda: (home.state / "copied.txt").exists())
        assert (home.state / "copied.txt").read_text() == f"{DETAIL}\n"
        for key in ("w", "O"):
            await user.press(key, sees="Its start failed, so there is no conversation.")
            await user.press("slash", lacks="Its start failed")
            await user.press("escape")
        await user.press("D", sees="nothing was changed on the server", until=lambda: not user.table.ids)
    async with at_conversations(fleet, state=state, sees="No conversations.") as user:
        await user.until(lambda: fleet.tasks[0]["id"] in user.session.unread.dismissed)
        assert not user.table.ids


async def test_several_are_put_away_after_a_plan(fleet: FakeFleet) -> None:
    fleet.tasks = [failed() | {"id": letter * 32} for letter in "fe"]
    async with at_conversations(fleet, sees="✗ 2 failed") as user:
        await user.press("asterisk", "D", sees=("Dismiss 2 failed starts?", "shown nowhere", "2 will be dismissed"))
        await user.press("enter", until=lambda: not user.deck.screen.is_modal)
        assert len(user.table.ids) == 2
        await user.press("D", "y", sees="2 dismissed", until=lambda: not user.table.ids)


@pytest.mark.parametrize("count", [5, 30])
async def test_the_cursor_that_nobody_moved_is_on_the_first_row(fleet: FakeFleet, state: KeptState, count: int) -> None:
    for number in range(count):
        fleet.talk(f"talk{number:02}", "box", "Long done", created_at=f"2026-03-14T09:{number:02}:00Z")
    async with at_conversations(fleet, state=state) as user:
        await user.press("s", sees="STATE ▲", until=lambda: user.table.ids[0] == fleet.tasks[0]["id"])
        while "CREATED ▲" not in user.text:
            await user.press("s")
        await user.press("S", sees="CREATED ▼", until=lambda: user.table.ids[0] == "talk00")
    server = Gated(fleet.answer, to(f"{CONVERSATIONS}/search"))
    async with at_deck(answering(server), PROD, state=state, sees=("✗ 1 failed", "CREATED ▼")) as user:
        server.gate.set()
        await user.sees(f"{count} Finished")
        assert user.table.cursor_id == user.table.ids[0] == user.table.visible_ids[0] == "talk00"


@pytest.fixture
def starting() -> FakeFleet:
    fleet = FakeFleet(nested=True)
    fleet.talk("asks", fleet.add("box"), "Which port?", execution_status="waiting_for_confirmation")
    fleet.talk("old", "box", "Long done")
    fleet.tasks = [start_task(status="PREPARING_REPOSITORY", sandbox_id="box", request={"title": "Port it"})]
    return fleet


async def test_cursor_and_detail_go_with_a_start_to_the_conversation_it_becomes(starting: FakeFleet) -> None:
    starting.tasks[0] |= {"status": "WAITING_FOR_SANDBOX", "request": {}, "sandbox_id": None}
    async with at_conversations(starting, sees="2/7 sandbox") as user:
        await user.press("o", sees="It has no sandbox yet.")
        starting.tasks[0]["sandbox_id"] = "later"
        await user.reread(sees="later")
        await user.press("o", sees="Its sandbox has not been read yet")
        starting.tasks[0] |= {"sandbox_id": "box", "status": "PREPARING_REPOSITORY"}
        await user.reread(sees=("3/7 repository", "Which port?"))
        assert user.table.cursor_id == "f" * 32
        await user.press("enter", sees=(f"▌  {'f' * 32}", "PREPARING_REPOSITORY"))
        starting.tasks[0] |= {"status": "READY", "app_conversation_id": "new"}
        starting.talk("new", "box", "Port it", execution_status="running")
        await user.reread(sees=("▌  Port it", "Working", "provider"), until=lambda: "is gone." not in user.text)
        await user.press("escape", until=lambda: user.table.ids[0] == "asks")  # it needs somebody
        assert user.table.cursor_id == "new"
        await user.press("R", sees="Only a start that failed can be tried again.")


@pytest.mark.parametrize("listed", ["with the end of its start", "before it"])
async def test_a_start_that_is_soon_over_does_not_lead_to_the_end_of_a_list(starting: FakeFleet, listed: str) -> None:
    for number in range(300):
        starting.talk(f"{number:032}", "box", "Long done")
    server = Gated(starting.answer, to(f"{CONVERSATIONS}/start-tasks/search"))
    async with at_conversations(starting, server=server, sees="301 Finished") as user:
        server.gate.set()
        await user.sees("3/7 repository", "live now")
        await user.press("j", "g")  # on the start, also where the conversations were read before it
        starting.talk("new", "box", "Port it", execution_status="running", updated_at=datetime.now(UTC).isoformat())
        if listed == "before it":
            await user.reread(until=lambda: "new" in user.table.ids)
        starting.tasks[0] |= {"status": "READY", "app_conversation_id": "new"}
        await user.reread(until=lambda: user.table.cursor_id == "new")
        assert user.table.ids[:3] == ["asks", "new", "0" * 32]


async def test_a_start_that_came_to_a_conversation_opens_it_before_the_list_has_it(starting: FakeFleet) -> None:
    async with at_conversations(starting) as user:
        starting.tasks[0] |= {"status": "READY", "app_conversation_id": "new"}
        await user.press("ctrl+r", sees=("ready", "Which port?"))
        starting.talk("new", "box", "Port it", execution_status="running")
        await user.press("enter", sees=("m writes a message", "Port it"))
