import uuid
from pathlib import Path

import pytest

from tests.local.conftest import CONVERSATIONS as PATH
from tests.local.conftest import Caller, Json, Opener, sql


async def test_only_steps_that_do_something_are_entered(caller: Caller, folder: Path) -> None:
    def steps() -> list[str]:
        """Those entered since this was asked last, written down by the database itself."""
        return [row[0] for row in sql(folder, "DELETE FROM steps RETURNING status")]

    sql(folder, "CREATE TABLE steps (status TEXT)")
    noted = "BEGIN INSERT INTO steps VALUES (new.status); END"
    sql(folder, f"CREATE TRIGGER note AFTER UPDATE OF status ON start_tasks {noted}")
    task = await caller.created({})
    assert steps() == ["WAITING_FOR_SANDBOX", "STARTING_CONVERSATION", "READY"]
    await caller.created({"sandbox_id": task["sandbox_id"]})
    assert steps() == ["STARTING_CONVERSATION", "READY"]
    await caller.post(f"/api/v1/sandboxes/{task['sandbox_id']}/pause")
    await caller.created({"sandbox_id": task["sandbox_id"]})
    assert steps() == ["WAITING_FOR_SANDBOX", "STARTING_CONVERSATION", "READY"]
    assert await caller.status(task["sandbox_id"]) == "RUNNING", "it was resumed for that"
    refused = await caller.created({"sandbox_id": "nope"})
    assert steps() == ["ERROR"]
    assert ("nope" in refused["detail"], refused["app_conversation_id"]) == (True, None)


async def test_a_task_whose_service_closed_is_taken_up_by_the_next(open_service: Opener) -> None:
    first = await open_service()
    await first.post("/api/settings", {"llm_model": "openai/from-settings"})
    begun = await first.post(PATH, {"title": "hello", "selected_repository": "a/b"})
    await first.service.aclose()
    second = await open_service()
    task = await second.ended(begun["id"])
    (created,) = await second.all(PATH)
    assert (task["status"], task["app_conversation_id"]) == ("READY", created["id"])
    told = (created["title"], created["selected_repository"], created["llm_model"])
    assert told == ("hello", "a/b", "openai/from-settings")
    assert len(await second.all()) == 1


@pytest.fixture
async def three(caller: Caller) -> list[str]:
    """Ids of three conversations in one sandbox, oldest first."""
    home = (await caller.start("shell"))["id"]
    tasks = [await caller.created({"sandbox_id": home, "title": title}) for title in ("Red", "Green", "Blue")]
    return [task["app_conversation_id"] for task in tasks]


async def test_lists_and_start_tasks_are_pages_newest_first(caller: Caller, three: list[str]) -> None:
    tasks = f"{PATH}/start-tasks"
    for path, member in ((PATH, "id"), (f"{PATH}/search", "id"), (f"{tasks}/search", "app_conversation_id")):
        page = await caller.get(path, limit=2)
        rest = await caller.get(path, limit=2, page_id=page["next_page_id"])
        assert [[one[member] for one in part["items"]] for part in (page, rest)] == [three[:0:-1], three[:1]]
        assert rest["next_page_id"] is None
    (oldest,) = rest["items"]
    assert await caller.get(tasks, ids=[uuid.uuid4().hex, oldest["id"]]) == [None, oldest]
    assert (await caller.http.get(tasks)).status_code == 422


async def test_a_batch_takes_ids_with_and_without_dashes(caller: Caller, three: list[str]) -> None:
    unknown = uuid.uuid4().hex
    found = await caller.get(PATH, ids=[unknown, str(uuid.UUID(three[0])), three[2]])
    assert [one and one["id"] for one in found] == [None, three[0], three[2]]
    bad = await caller.http.get(PATH, params={"ids": "nope"})
    assert (bad.status_code, bad.json()) == (400, {"detail": "Invalid UUID format for ids: ['nope']"})
    assert (await caller.http.get(PATH, params={"ids": [unknown] * 100})).status_code == 400


async def test_the_list_is_filtered_and_counted(caller: Caller, three: list[str]) -> None:
    (parent,) = await caller.get(PATH, ids=three[0])
    sub = {"sandbox_id": parent["sandbox_id"], "title": "Grey", "parent_conversation_id": parent["id"]}
    child = (await caller.created(sub))["app_conversation_id"]
    red: Json = {"title__contains": "RE"}
    whole = red | {"include_sub_conversations": True}
    for query, expected in ((red, three[1::-1]), (whole, [child, *three[1::-1]]), ({"unheard_of": "1"}, three[::-1])):
        page = await caller.get(f"{PATH}/search", **query)
        assert [item["id"] for item in page["items"]] == expected, query
        assert await caller.get(f"{PATH}/count", **query) == len(expected)
    assert (await caller.get(PATH, ids=three[0]))[0]["sub_conversation_ids"] == [child]


async def test_title_and_publicity_can_be_changed(caller: Caller, three: list[str]) -> None:
    path = f"{PATH}/{three[0]}"
    before = (await caller.get(PATH, ids=three[0]))[0]
    assert (await caller.http.patch(path, json={})).json() == before
    after = (await caller.http.patch(path, json={"title": " New ", "public": True})).json()
    assert (after["title"], after["public"], after["created_at"]) == ("New", True, before["created_at"])
    assert after["updated_at"] == before["updated_at"], "the agent did nothing"
    assert (await caller.http.patch(path, json={"title": " "})).status_code == 422
    unknown = await caller.http.patch(f"{PATH}/{uuid.uuid4().hex}", json={"title": "x"})
    assert (unknown.status_code, unknown.json()) == (404, {"detail": "unknown_app_conversation"})
    assert (await caller.http.patch(f"{PATH}/nope", json={})).status_code == 422


async def test_a_deleted_conversation_takes_its_start_along_but_no_sandbox(caller: Caller, three: list[str]) -> None:
    sandbox_id = (await caller.get(PATH, ids=three[0]))[0]["sandbox_id"]
    assert (await caller.http.delete(f"{PATH}/{three[0]}")).json() == {"success": True}
    again = await caller.http.delete(f"{PATH}/{three[0]}")
    assert (again.status_code, again.json()) == (404, {"detail": "Conversation not found"})
    assert await caller.get(f"{PATH}/count") == 2
    starts = (await caller.get(f"{PATH}/start-tasks/search"))["items"]
    assert three[0] not in {start["app_conversation_id"] for start in starts}
    assert await caller.status(sandbox_id) == "RUNNING"
    await caller.delete(sandbox_id)
    (record,) = await caller.get(PATH, ids=three[2])
    assert (record["sandbox_status"], record["sandbox_id"], record["title"]) == ("MISSING", sandbox_id, "Blue")
