from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.models.conversation import Conversation, NewConversation, StartTask
from tests.client.fakes import FAST, NO_ROUTE, Answer, client_of

COLLECTION = "/api/v1/app-conversations"
SEARCH, LIST, CREATE = f"GET {COLLECTION}/search", f"GET {COLLECTION}", f"POST {COLLECTION}"
ONE = {"id": "a39561f77b934d1488db52af0cf031f8", "title": "One"}
TASK = {"id": "3c518040b021421da873b0f44ed7e0ce", "status": "WORKING"}
NO_METHOD = Answer({"detail": "Method Not Allowed"}, 405)
PAGE_INSTEAD = Answer(b"<!doctype html>", 200, {"Content-Type": "text/html"})


async def titles(client: Client) -> list[str | None]:
    return [item.title async for page in client.conversations.pages() for item in page.items]


@pytest.mark.parametrize("absent", [NO_ROUTE, NO_METHOD, PAGE_INSTEAD])
@pytest.mark.parametrize("listed", [[ONE], {"items": [ONE], "next_page_id": None}])
async def test_a_server_with_the_documented_paths_alone_is_listed_at_the_collection(
    absent: Answer, listed: Any
) -> None:
    client, server = client_of({SEARCH: [absent], LIST: [Answer(listed)]})
    assert await titles(client) == await titles(client) == ["One"]
    assert [asked.path.rsplit("/", 1)[1] for asked in server.asked] == [
        "search",
        "app-conversations",
        "app-conversations",
    ]


@pytest.mark.parametrize("answer", [Answer(status=500), Answer(status=401), Answer(status=422), httpx.ReadError("")])
async def test_any_other_failure_of_the_search_is_no_reason_to_list_elsewhere(answer: Answer | Exception) -> None:
    client, server = client_of({SEARCH: [answer], LIST: [Answer([ONE])]})
    with pytest.raises(ServiceError):
        await titles(client)
    assert {asked.path for asked in server.asked} == {f"{COLLECTION}/search"}


async def test_a_search_that_is_away_for_a_moment_is_asked_again_later() -> None:
    script: Mapping[str, list[Answer | Exception]] = {SEARCH: [NO_ROUTE, Answer({"items": [ONE]})], LIST: [NO_ROUTE]}
    client, _ = client_of(script)
    with pytest.raises(ServiceError):
        await titles(client)
    assert await titles(client) == ["One"]


async def test_a_list_that_breaks_off_is_not_begun_again_elsewhere() -> None:
    first = Answer({"items": [ONE], "next_page_id": "1"})
    client, server = client_of({SEARCH: [first, NO_ROUTE], LIST: [Answer([ONE])]})
    with pytest.raises(ServiceError) as caught:
        await titles(client)
    assert caught.value.kind is ErrorKind.WRONG_API
    assert len(server.asked) == 2


async def test_ids_are_one_with_and_without_dashes() -> None:
    client, server = client_of({LIST: [Answer([ONE])]})
    batch = await client.conversations.read(["A39561F7-7b93-4d14-88db-52af0cf031f8"])
    assert batch is not None
    assert batch[0] is not None
    assert batch[0].title == "One"
    assert server.asked[0].query[0][0] == "ids"


async def test_a_message_is_sent_as_a_list_of_parts_and_nothing_else_is_made_up() -> None:
    client, server = client_of({CREATE: [Answer(TASK)]})
    await client.conversations.create(NewConversation(message="hello", selected_repository="a/b"))
    assert server.asked[0].body == {
        "selected_repository": "a/b",
        "initial_message": {"role": "user", "content": [{"type": "text", "text": "hello"}], "run": True},
    }
    await client.conversations.create(NewConversation())
    assert server.asked[1].body == {}


@pytest.mark.parametrize(
    ("answer", "made"),
    [
        (Answer(TASK), StartTask),
        (Answer(TASK, 201), StartTask),
        (Answer(ONE), Conversation),
        (Answer({}), type(None)),
        (Answer(b"null"), type(None)),
        (Answer(b"", 204), type(None)),
        (Answer({"success": True}), type(None)),
    ],
)
async def test_a_create_may_be_answered_in_any_way(answer: Answer, made: type[object]) -> None:
    client, _ = client_of({CREATE: [answer]})
    assert type(await client.conversations.create(NewConversation())) is made


@pytest.mark.parametrize("lost", [httpx.ReadTimeout(""), httpx.ReadError(""), Answer(status=504), Answer(status=500)])
async def test_a_create_whose_answer_is_lost_is_never_sent_again(lost: Answer | Exception) -> None:
    client, server = client_of({CREATE: [lost]})
    with pytest.raises(ServiceError) as caught:
        await client.conversations.create(NewConversation(message="hello"))
    assert (caught.value.outcome, len(server.asked)) == (Outcome.UNKNOWN, 1)


async def test_a_server_without_start_tasks_is_asked_once() -> None:
    client, server = client_of({})
    assert await client.conversations.recent_start_tasks() == ()
    assert await client.conversations.recent_start_tasks() == ()
    assert await client.conversations.start_tasks(["a"]) is None
    assert len(server.asked) == 2


COUNT = f"GET {COLLECTION}/count"


RENAME, TRAJECTORY = f"PATCH {COLLECTION}/{ONE['id']}", f"GET {COLLECTION}/{ONE['id']}/download"


@pytest.mark.parametrize("answer", [NO_ROUTE, NO_METHOD, PAGE_INSTEAD, Answer(ONE)])
async def test_a_server_that_cannot_rename_or_takes_it_and_keeps_the_title_offers_no_renaming(answer: Answer) -> None:
    client, _ = client_of({RENAME: [answer]})
    with pytest.raises(ServiceError) as caught:
        await client.conversations.rename(ONE["id"], "Two")
    assert caught.value.kind is ErrorKind.NOT_OFFERED


@pytest.mark.parametrize(("title", "kind"), [("Two", None), ("One", ErrorKind.NOT_OFFERED)])
async def test_an_answer_without_the_record_is_followed_by_a_reading(title: str, kind: ErrorKind | None) -> None:
    client, _ = client_of({RENAME: [Answer({})], LIST: [Answer([ONE | {"title": title}])]})
    found = None
    try:
        await client.conversations.rename(ONE["id"], "Two")
    except ServiceError as error:
        found = error.kind
    assert found is kind


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (NO_ROUTE, ErrorKind.NOT_OFFERED, "This server gives no trajectories."),
        (Answer({"detail": "Failed to download trajectory: x"}, 500), ErrorKind.SERVER, "Releases before 1.6"),
        (Answer(b'{"events": []}'), ErrorKind.SHAPE, "no zip file"),
        (Answer(b"PK" + bytes(5000), 200, {"Content-Type": "application/zip"}), ErrorKind.TOO_LARGE, "Nothing was wr"),
    ],
)
async def test_what_is_no_trajectory_is_said(answer: Answer, kind: ErrorKind, words: str) -> None:
    script: dict[str, list[Answer | Exception]] = {TRAJECTORY: [answer], LIST: [Answer([ONE])]}
    client, _ = client_of(script, limits=FAST._replace(trajectory_body=4096))
    with pytest.raises(ServiceError) as caught:
        await client.conversations.trajectory(ONE["id"])
    assert caught.value.kind is kind
    assert words in f"{caught.value.words} {caught.value.advice}"


async def test_the_trajectory_of_a_conversation_that_is_gone_is_told_from_one_that_no_server_gives() -> None:
    client, _ = client_of({TRAJECTORY: [Answer({"detail": "Conversation not found"}, 404)], LIST: [Answer([None])]})
    with pytest.raises(ServiceError) as caught:
        await client.conversations.trajectory(ONE["id"])
    assert caught.value.kind is ErrorKind.MISSING
