import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Iterable
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.models.base import json_data, moment
from quarterdeck.client.models.conversation import Conversation, NewConversation, StartTask
from quarterdeck.client.paging import Page
from tests.client.fakes import FAST, NO_ROUTE, WEB_PAGE, Answer, client_of, error_of, under_way

SEARCH, BATCH = "GET /api/v1/sandboxes/search", "GET /api/v1/sandboxes"
ABSENT = [NO_ROUTE, Answer({"detail": "Method Not Allowed"}, 405), WEB_PAGE]
MISSING = Answer({"detail": [{"type": "missing", "loc": ["query", "sandbox_ids"], "msg": "Field required"}]}, 422)
NULLS = dict.fromkeys(("created_at", "sandbox_spec_id", "exposed_urls", "session_api_key", "created_by_user_id"))


def sandbox(number: int | str, **members: Any) -> dict[str, Any]:
    return {"id": f"s{number}", "status": "RUNNING", "created_at": "2026-11-20T15:00:00Z", **members}


def page(*numbers: int, next_page_id: Any = None) -> Answer:
    return Answer({"items": [sandbox(number) for number in numbers], "next_page_id": next_page_id})


async def gathered(pages: AsyncIterator[Page[Any]]) -> tuple[list[Page[Any]], ServiceError | None]:
    """What a list gave before it ended or failed."""
    read: list[Page[Any]] = []
    try:
        async for one in pages:
            read.append(one)
    except ServiceError as error:
        return read, error
    return read, None


def ids_of(pages: list[Page[Any]]) -> list[str]:
    return [item.id for one in pages for item in one.items]


async def test_pages_large_ones_too_are_followed_by_the_id_each_names_and_kept_where_a_later_one_fails() -> None:
    answers = [page(1, next_page_id="a/b &c=%41"), page(2, next_page_id=7), page(3, next_page_id="3")]
    client, server = client_of({SEARCH: [*answers, Answer({"detail": "no"}, 501)]})
    read, error = await gathered(client.sandboxes.pages())
    assert (ids_of(read), error and error.kind) == (["s1", "s2", "s3"], ErrorKind.SERVER)
    assert [asked.page_id for asked in server.asked] == [None, "a/b &c=%41", "7", "3"]
    assert all(("limit", "100") in asked.query for asked in server.asked)
    large = [sandbox(number, sandbox_spec_id=FILLER) for number in range(1500)]
    script = {SEARCH: [Answer({"items": large, "next_page_id": "2"}), page(1500)]}
    client, _ = client_of(script, limits=FAST._replace(body=100))
    assert len(ids_of((await gathered(client.sandboxes.pages()))[0])) == 1501


EMPTY = [page(next_page_id=str(number)) for number in range(4)]
ENDLESS = [page(number, next_page_id=str(number)) for number in range(30)]


@pytest.mark.parametrize(
    ("answers", "ids", "asked", "kind", "words"),
    [
        ([page(0, next_page_id="a"), page(1, next_page_id="a")], "01", 2, ErrorKind.SHAPE, "circle"),
        ([page(at, next_page_id=to) for at, to in enumerate("aba")], "012", 3, ErrorKind.SHAPE, "circle"),
        ([*EMPTY[:3], page(1)], "1", 4, None, ""),
        ([*EMPTY, page(1)], "", 4, ErrorKind.SHAPE, "without anything new"),
        (ENDLESS, range(20), 20, ErrorKind.TOO_LARGE, "within 20 pages"),
    ],
)
async def test_a_list_without_end_is_left_with_words(
    answers: list[Answer], ids: Iterable[object], asked: int, kind: ErrorKind | None, words: str
) -> None:
    client, server = client_of({SEARCH: answers}, limits=FAST._replace(pages=20))
    read, error = await gathered(client.sandboxes.pages())
    assert (ids_of(read), len(server.asked)) == ([f"s{each}" for each in ids], asked)
    assert (error and error.kind) == kind
    assert words in (error.words if error else "")


PAGES = st.tuples(st.lists(st.integers(0, 8), max_size=4), st.none() | st.sampled_from(["", "a", "b", "c"]))


@given(st.lists(PAGES, min_size=1, max_size=8))
async def test_whatever_pages_say_each_record_is_read_once(script: list[tuple[list[int], str | None]]) -> None:
    client, server = client_of({SEARCH: [page(*numbers, next_page_id=page_id) for numbers, page_id in script]})
    read, _ = await gathered(client.sandboxes.pages())
    assert len(ids_of(read)) == len(set(ids_of(read)))
    assert len(server.asked) <= 4 + 1


@pytest.mark.parametrize(
    ("body", "ids", "unreadable"),
    [
        ([sandbox(1), sandbox(2)], ["s1", "s2"], 0),
        ({"items": [sandbox(1), None, sandbox(2)]}, ["s1", "s2"], 0),
        ({"items": [], "next_page_id": ""}, [], 0),
        ({"items": [sandbox(1), {"id": 5}, 7, sandbox(2, status=None)]}, ["s1"], 3),
        ([sandbox(1), "x", sandbox(2, exposed_urls=[{"name": "A", "url": "http://[x"}])], ["s1"], 2),
        ({"items": [sandbox(1, status="SLEEPING", other={"a": [1]})]}, ["s1"], 0),
        ([{"id": "s1", "status": "PAUSED"}, sandbox(2, **NULLS), {"id": "s3"}, {}], ["s1", "s2"], 2),
        (json.dumps([sandbox("\ud800"), sandbox(2)]).encode(), ["s\ud800", "s2"], 0),
        (b"\xef\xbb\xbf" + json.dumps([sandbox(1)]).encode(), ["s1"], 0),
        (json.dumps([sandbox(1)]).encode("utf-16"), ["s1"], 0),
        (b'  [{"id":"s1","status":"RUNNING","x":NaN,"y":1e999}]', ["s1"], 0),
        (b'[{"id":"s1","id":"s2","status":"RUNNING"}]', ["s2"], 0),
    ],
)
async def test_what_can_be_read_is_read_and_the_rest_is_counted(body: Any, ids: list[str], unreadable: int) -> None:
    client, _ = client_of({SEARCH: [Answer(body)]})
    read, error = await gathered(client.sandboxes.pages())
    assert (ids_of(read), read[0].unreadable, error) == (ids, unreadable, None)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        *((body, ErrorKind.WRONG_API) for body in (b"", b"null", b'"ok"', b"42", b"{}", b"hello", b"<!doctype html>")),
        *((body, ErrorKind.SHAPE) for body in (b'{"items": null}', b'{"items": 5}')),
        (b'{"items": "\xff\xfe"}', ErrorKind.WRONG_API),
        pytest.param(b"[" * 100_000 + b"]" * 100_000, ErrorKind.WRONG_API, id="deep"),
        pytest.param(b'{"items": [' + b"9" * 5_000 + b"]}", ErrorKind.WRONG_API, id="endless number"),
        (b'{"items": [{"id": "s1", "sta', ErrorKind.BROKEN),
        (b'\xef\xbb\xbf{"items": [{"id": "s1", "sta', ErrorKind.BROKEN),
        ('{"items": [{"id": "s1", "sta'.encode("utf-16")[:-1], ErrorKind.BROKEN),
    ],
)
async def test_what_is_no_list_is_an_error_in_words(body: bytes, kind: ErrorKind) -> None:
    client, _ = client_of({SEARCH: [Answer(body)]})
    _, error = await gathered(client.sandboxes.pages())
    assert error is not None
    assert (error.kind, error.words[-1], bool(error.advice)) == (kind, ".", True)


async def test_a_batch_comes_in_the_order_asked_with_none_for_what_is_not_there_and_a_large_one_in_parts() -> None:
    client, server = client_of({BATCH: [Answer([sandbox(2), None, sandbox(1)])]})
    batch = await client.sandboxes.read(["s1", "s9", "s2"]) or ()
    assert [item and item.id for item in batch] == ["s1", None, "s2"]
    assert server.asked[0].query == (("id", "s1"), ("id", "s9"), ("id", "s2"))
    again = await client.sandboxes.read(["s1", "s9", "s2"]) or ()
    assert all(new is old for new, old in zip(again, batch, strict=True)), "equal bytes are read once"
    client, _ = client_of({BATCH: [page(1, 2, 3)]})
    picked = await client.sandboxes.read(["s3", "s1"]) or ()
    assert [item and item.id for item in picked] == ["s3", "s1"], "it ignores the ids"
    client, _ = client_of({BATCH: [Answer([sandbox(1), {"id": "s2"}])]})
    assert (await error_of(client.sandboxes.read(["s1", "s2"]))).kind is ErrorKind.SHAPE, "unreadable is not gone"
    client, server = client_of(lambda asked: Answer([sandbox(name[1:]) for _, name in asked.query]))
    ids = [f"s{number}" for number in range(250)]
    assert [item and item.id for item in await client.sandboxes.read(ids) or ()] == ids
    assert [len(asked.query) for asked in server.asked] == [99, 99, 52]
    assert await client.sandboxes.read([]) == ()


@pytest.mark.parametrize("answer", [*ABSENT, MISSING, page(7, 8, 9)])
async def test_a_server_without_batch_reads_is_asked_only_once(answer: Answer) -> None:
    client, server = client_of({BATCH: [answer]})
    assert await client.sandboxes.read(["s1"]) is None
    assert await client.sandboxes.read(["s1", "s2"]) is None
    assert len(server.asked) == 1


async def test_what_has_answered_is_not_lacking_because_a_page_stands_in_front_of_the_server_for_a_while() -> None:
    client, _ = client_of({BATCH: [Answer([sandbox(1)]), WEB_PAGE, Answer([sandbox(1)])]})
    assert await client.sandboxes.read(["s1"])
    assert (await error_of(client.sandboxes.read(["s1"]))).kind is ErrorKind.WRONG_API
    assert await client.sandboxes.read(["s1"])


@pytest.mark.parametrize("text", ["15:00:00", "15:00:00Z", "15:00:00+00:00", "16:00:00+01:00"])
def test_a_time_without_a_zone_means_utc(text: str) -> None:
    assert moment(f"2026-11-20T{text}") == datetime(2026, 11, 20, 15, tzinfo=UTC)


async def test_numbers_and_flags_are_taken_in_any_spelling() -> None:
    names = ("cache_read_tokens", "cache_write_tokens", "reasoning_tokens", "context_window", "per_turn_token")
    counts = {name: 2**40 + place for place, name in enumerate(names)}
    usage = {"prompt_tokens": "12", "completion_tokens": 3.0, **counts}
    metrics = {"accumulated_cost": "0.5", "max_budget_per_task": 2, "accumulated_token_usage": usage}
    told = {"id": "c", "public": 1, "pr_number": ["7", 8], "metrics": metrics}
    client, _ = client_of({"GET /api/v1/app-conversations/search": [Answer([told])]})
    read = json_data((await anext(aiter(client.conversations.pages()))).items[0])
    assert (read["public"], read["pr_number"]) == (True, [7, 8])
    assert read["metrics"].pop("accumulated_token_usage") == {"prompt_tokens": 12, "completion_tokens": 3, **counts}
    assert read["metrics"] == {"model_name": None, "accumulated_cost": 0.5, "max_budget_per_task": 2.0}


COLLECTION, FILLER = "/api/v1/app-conversations", "x" * 800


def records(count: int) -> list[dict[str, Any]]:
    return [{"id": f"c{number}", "title": FILLER} for number in range(count)]


def documented(body: bytes) -> Client:
    """A client of a server that lists everything at the collection itself."""
    return client_of(lambda asked: Answer(body) if asked.path == COLLECTION else NO_ROUTE)[0]


@pytest.mark.parametrize(
    ("shape", "encoding"),
    [
        *((shape, "utf-8") for shape in ("%s", ' \n{"items" : %s , "next_page_id": null}', '{"items":%s}')),
        *(("%s", encoding) for encoding in ("utf-8-sig", "utf-16", "utf-16-be", "utf-32")),
    ],
)
async def test_a_large_answer_comes_as_pages_of_some_records_each(shape: str, encoding: str) -> None:
    listed: list[Any] = [*records(2500), None, {"id": 5}]
    client = documented((shape % json.dumps(listed)).encode(encoding))
    pages, _ = await gathered(client.conversations.pages())
    assert ids_of(pages) == [f"c{number}" for number in range(2500)]
    assert (sum(page.unreadable for page in pages), max(len(page.items) for page in pages)) == (1, 200)
    assert [page.more for page in pages] == [True] * (len(pages) - 1) + [False]
    again, _ = await gathered(client.conversations.pages())
    assert all(one is other for one, other in zip(pages, again, strict=True))


@pytest.mark.parametrize("end", ["", "]x", ", 7", "] , "])
async def test_a_large_answer_that_breaks_off_keeps_what_came_before(end: str) -> None:
    read, error = await gathered(documented((json.dumps(records(1500))[:-1] + end).encode()).conversations.pages())
    assert error is not None
    assert error.kind in (ErrorKind.BROKEN, ErrorKind.WRONG_API)
    assert ids_of(read) == [f"c{number}" for number in range(1400)]


@pytest.mark.parametrize(("count", "partial"), [(99, False), (100, True), (101, False)])
@pytest.mark.parametrize("size", [800, 12_000])
async def test_an_array_of_just_a_page_may_be_a_part(count: int, partial: bool, size: int) -> None:
    client = documented(json.dumps([one | {"title": "x" * size} for one in records(count)]).encode())
    ([page], _) = await gathered(client.conversations.pages())
    assert page.perhaps_partial is partial


async def test_between_any_two_slices_of_a_large_answer_everything_else_has_a_turn() -> None:
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with under_way(count_turns()):
        client = documented(json.dumps(records(20_000)).encode())
        seen = [(turns, len(page.items)) async for page in client.conversations.pages()]
    assert [count for _, count in seen] == [200] * 100
    assert all(later > earlier for (earlier, _), (later, _) in itertools.pairwise(seen))


FOUND, LISTED, CREATE = f"GET {COLLECTION}/search", f"GET {COLLECTION}", f"POST {COLLECTION}"
ONE = {"id": "a39561f77b934d1488db52af0cf031f8", "title": "One"}
TASK = {"id": "3c518040b021421da873b0f44ed7e0ce", "status": "WORKING"}
RENAME, TRAJECTORY = f"PATCH {COLLECTION}/{ONE['id']}", f"GET {COLLECTION}/{ONE['id']}/download"


async def titles(client: Client) -> list[str | None]:
    return [item.title async for page in client.conversations.pages() for item in page.items]


@pytest.mark.parametrize("absent", ABSENT)
@pytest.mark.parametrize("listed", [[ONE], {"items": [ONE], "next_page_id": None}])
async def test_a_server_with_the_documented_paths_alone_is_listed_there(absent: Answer, listed: Any) -> None:
    client, server = client_of({FOUND: [absent], LISTED: [Answer(listed)]})
    assert await titles(client) == await titles(client) == ["One"]
    assert [asked.path.rsplit("/", 1)[1] for asked in server.asked] == ["search", *["app-conversations"] * 2]


async def test_any_other_failure_of_the_search_is_no_reason_to_list_elsewhere() -> None:
    failures: list[list[Answer | Exception]] = [[Answer(status=each)] for each in (401, 422, 500)]
    failures += [[httpx.ReadError("")], [Answer({"items": [ONE], "next_page_id": "1"}), NO_ROUTE]]
    for answers in failures:
        client, server = client_of({FOUND: answers, LISTED: [Answer([ONE])]})
        await error_of(titles(client))
        assert {asked.path for asked in server.asked} == {f"{COLLECTION}/search"}
    client, _ = client_of({FOUND: [NO_ROUTE, Answer({"items": [ONE]})]})
    await error_of(titles(client))
    assert await titles(client) == ["One"], "a search that was away for a moment is asked again"


async def test_sub_conversations_are_listed_found_and_counted_and_read_by_ids_with_and_without_dashes() -> None:
    counts = [Answer(7), Answer(True), Answer(-1), NO_ROUTE]
    client, server = client_of({FOUND: [Answer({"items": [ONE]})], f"GET {COLLECTION}/count": counts})
    assert await titles(client) == [each.title for each in (await client.conversations.titled("One")).items] == ["One"]
    assert [await client.conversations.count() for _ in counts] == [7, None, None, None]
    assert all(("include_sub_conversations", "true") in asked.query for asked in server.asked)
    client, server = client_of({LISTED: [Answer([ONE])]})
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


@pytest.mark.parametrize("answer", [*ABSENT, Answer(ONE), Answer({})])
async def test_a_server_that_cannot_rename_or_takes_it_and_keeps_the_title_offers_no_renaming(answer: Answer) -> None:
    client, _ = client_of({RENAME: [answer], LISTED: [Answer([ONE])]})
    assert (await error_of(client.conversations.rename(ONE["id"], "Two"))).kind is ErrorKind.NOT_OFFERED


async def test_a_renaming_without_the_record_in_its_answer_is_read_also_where_none_is_read_by_its_id() -> None:
    listed = [{"id": "other"}, ONE | {"title": " Two"}]
    client, server = client_of({RENAME: [Answer({})], FOUND: [Answer({"items": listed})]})
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
    client, _ = client_of({TRAJECTORY: [answer], LISTED: [Answer(listed)]}, limits=FAST._replace(trajectory_body=4096))
    error = await error_of(client.conversations.trajectory(ONE["id"]))
    assert error.kind is kind
    assert words in f"{error.words} {error.advice}"
