from typing import Any

import httpx
import pytest

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind
from quarterdeck.client.models.conversation import Conversation, NewConversation, StartTask
from tests.client.fakes import FAST, NO_ROUTE, Answer, client_of, error_of

COLLECTION = "/api/v1/app-conversations"
SEARCH, LIST, CREATE = f"GET {COLLECTION}/search", f"GET {COLLECTION}", f"POST {COLLECTION}"
ONE = {"id": "a39561f77b934d1488db52af0cf031f8", "title": "One"}
TASK = {"id": "3c518040b021421da873b0f44ed7e0ce", "status": "WORKING"}
RENAME, TRAJECTORY = f"PATCH {COLLECTION}/{ONE['id']}", f"GET {COLLECTION}/{ONE['id']}/download"
NO_METHOD = Answer({"detail": "Method Not Allowed"}, 405)
PAGE_INSTEAD = Answer(b"<!doctype html>", 200, {"Content-Type": "text/html"})


async def titles(client: Client) -> list[str | None]:
    return [item.title async for page in client.conversations.pages() for item in page.items]


@pytest.mark.parametrize("absent", [NO_ROUTE, NO_METHOD, PAGE_INSTEAD])
@pytest.mark.parametrize("listed", [[ONE], {"items": [ONE], "next_page_id": None}])
async def test_a_server_with_the_documented_paths_alone_is_listed_there(absent: Answer, listed: Any) -> None:
    client, server = client_of({SEARCH: [absent], LIST: [Answer(listed)]})
    assert await titles(client) == await titles(client) == ["One"]
    assert [asked.path.rsplit("/", 1)[1] for asked in server.asked] == ["search", *["app-conversations"] * 2]


async def test_any_other_failure_of_the_search_is_no_reason_to_list_elsewhere() -> None:
    failures: list[list[Answer | Exception]] = [[Answer(status=each)] for each in (401, 422, 500)]
    failures += [[httpx.ReadError("")], [Answer({"items": [ONE], "next_page_id": "1"}), NO_ROUTE]]
    for answers in failures:
        client, server = client_of({SEARCH: answers, LIST: [Answer([ONE])]})
        await error_of(titles(client))
        assert {asked.path for asked in server.asked} == {f"{COLLECTION}/search"}
    client, _ = client_of({SEARCH: [NO_ROUTE, Answer({"items": [ONE]})]})
    await error_of(titles(client))
    assert await titles(client) == ["One"], "a search that was away for a moment is asked again"


async def test_sub_conversations_are_listed_found_and_counted_and_read_by_ids_with_and_without_dashes() -> None:
    counts = [Answer(7), Answer(True), Answer(-1), NO_ROUTE]
    client, server = client_of({SEARCH: [Answer({"items": [ONE]})], f"GET {COLLECTION}/count": counts})
    assert await titles(client) == [each.title for each in (await client.conversations.titled("One")).items] == ["One"]
    assert [await client.conversations.count() for _ in counts] == [7, None, None, None]
    assert all(("include_sub_conversations", "true") in asked.query for asked in server.asked)
    client, server = client_of({LIST: [Answer([ONE])]})
    found = await client.conversations.read(["A39561F7-7b93-4d14-88db-52af0cf031f8"]) or ()
    assert ([each and each.title for each in found], server.asked[0].query[0][0]) == (["One"], "ids")


@pytest.mark.parametrize(
    ("answer", "made"),
    [
        (Answer(TASK), StartTask),
        (Answer(TASK, 201), StartTask),
        (Answer(ONE), Conversation),
        *((each, type(None)) for each in (Answer({}), Answer(b"null"), Answer(b"", 204), Answer({"success": True}))),
    ],
)
async def test_a_create_may_be_answered_in_any_way(answer: Answer, made: type[object]) -> None:
    client, _ = client_of({CREATE: [answer]})
    assert type(await client.conversations.create(NewConversation())) is made


async def test_a_server_without_start_tasks_is_asked_once() -> None:
    client, server = client_of({})
    for _ in range(2):
        assert [page.items async for page in client.start_tasks.pages()] == [()]
    assert await client.start_tasks.read(["a"]) is None
    assert len(server.asked) == 2


@pytest.mark.parametrize("answer", [NO_ROUTE, NO_METHOD, PAGE_INSTEAD, Answer(ONE), Answer({})])
async def test_a_server_that_cannot_rename_or_takes_it_and_keeps_the_title_offers_no_renaming(answer: Answer) -> None:
    client, _ = client_of({RENAME: [answer], LIST: [Answer([ONE])]})
    assert (await error_of(client.conversations.rename(ONE["id"], "Two"))).kind is ErrorKind.NOT_OFFERED


async def test_a_renaming_without_the_record_in_its_answer_is_read_also_where_none_is_read_by_its_id() -> None:
    listed = [{"id": "other"}, ONE | {"title": " Two"}]
    client, server = client_of({RENAME: [Answer({})], SEARCH: [Answer({"items": listed})]})
    await client.conversations.rename(ONE["id"], "Two")
    assert [asked.method for asked in server.asked] == ["PATCH", "GET", "GET"]


@pytest.mark.parametrize(
    ("answer", "listed", "kind", "words"),
    [
        (NO_ROUTE, [ONE], ErrorKind.NOT_OFFERED, "This server gives no trajectories."),
        (Answer({"detail": "Conversation not found"}, 404), [None], ErrorKind.MISSING, "is not there"),
        (Answer({"detail": "Failed to download trajectory: x"}, 500), [ONE], ErrorKind.SERVER, "Releases before 1.6"),
        (Answer(b'{"events": []}'), [ONE], ErrorKind.SHAPE, "no zip file"),
        (Answer(b"PK" + bytes(5000)), [ONE], ErrorKind.TOO_LARGE, "Nothing was wr"),
    ],
)
async def test_what_is_no_trajectory_is_said(answer: Answer, listed: list[Any], kind: ErrorKind, words: str) -> None:
    script = {TRAJECTORY: [answer], LIST: [Answer(listed)]}
    client, _ = client_of(script, limits=FAST._replace(trajectory_body=4096))
    error = await error_of(client.conversations.trajectory(ONE["id"]))
    assert error.kind is kind
    assert words in f"{error.words} {error.advice}"
