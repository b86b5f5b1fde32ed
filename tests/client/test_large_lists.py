"""Lists that are one answer of everything: read in slices, so that the first rows come soon and no key waits."""

import asyncio
import itertools
import json
from typing import Any

import pytest

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind
from quarterdeck.client.paging import Page
from tests.client.fakes import NO_ROUTE, Answer, client_of, error_of

COLLECTION = "/api/v1/app-conversations"
FILLER = "x" * 800


def records(count: int) -> list[dict[str, Any]]:
    return [{"id": f"c{number}", "title": FILLER} for number in range(count)]


def documented(body: bytes) -> Client:
    """A client of a server that lists everything at the collection itself."""
    return client_of(lambda asked: Answer(body) if asked.path == COLLECTION else NO_ROUTE)[0]


async def all_pages(client: Client) -> list[Page[Any]]:
    return [page async for page in client.conversations.pages()]


@pytest.mark.parametrize(
    "shape", ["%s", ' \n{"items" : %s , "next_page_id": null}', '{"items":%s}'], ids=["array", "page", "bare page"]
)
async def test_a_large_answer_comes_as_pages_of_some_records_each(shape: str) -> None:
    listed: list[Any] = [*records(2500), None, {"id": 5}]
    client = documented((shape % json.dumps(listed)).encode())
    pages = await all_pages(client)
    assert [item.id for page in pages for item in page.items] == [f"c{number}" for number in range(2500)]
    assert (sum(page.unreadable for page in pages), max(len(page.items) for page in pages)) == (1, 200)
    assert [page.more for page in pages] == [True] * (len(pages) - 1) + [False]
    again = await all_pages(client)
    assert all(one is other for one, other in zip(pages, again, strict=True))


@pytest.mark.parametrize("end", ["", "]x", ", 7", "] , "])
async def test_a_large_answer_that_breaks_off_keeps_what_came_before(end: str) -> None:
    client = documented((json.dumps(records(1500))[:-1] + end).encode())
    read: list[str] = []

    async def all_of_it() -> None:
        async for page in client.conversations.pages():
            read.extend(item.id for item in page.items)

    assert (await error_of(all_of_it())).kind in (ErrorKind.BROKEN, ErrorKind.WRONG_API)
    assert read == [f"c{number}" for number in range(1400)]


@pytest.mark.parametrize(("count", "partial"), [(99, False), (100, True), (101, False)])
@pytest.mark.parametrize("size", [800, 12_000])
async def test_an_array_of_just_a_page_may_be_a_part(count: int, partial: bool, size: int) -> None:
    client = documented(json.dumps([one | {"title": "x" * size} for one in records(count)]).encode())
    [page] = await all_pages(client)
    assert page.perhaps_partial is partial


async def test_between_any_two_slices_of_a_large_answer_everything_else_has_a_turn() -> None:
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        counting = group.create_task(count_turns())
        client = documented(json.dumps(records(20_000)).encode())
        seen = [(turns, len(page.items)) async for page in client.conversations.pages()]
        counting.cancel()
    assert [count for _, count in seen] == [200] * 100
    assert all(later > earlier for (earlier, _), (later, _) in itertools.pairwise(seen))
