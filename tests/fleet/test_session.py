"""One open connection, against a server within the process."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from quarterdeck.fleet.news import About, News
from quarterdeck.fleet.session import Session
from tests.client.fakes import NO_ROUTE, Answer, Asked, Script, client_of
from tests.local.conftest import until

from .fakes import NOON

CONVERSATIONS = "/api/v1/app-conversations"
SANDBOXES = "/api/v1/sandboxes"
MANY = 3_000


def conversations(count: int, boxes: int) -> list[dict[str, Any]]:
    moment = {"created_at": "2026-03-14T09:00:00Z", "updated_at": "2026-03-14T10:00:00Z"}
    state = {"sandbox_status": "RUNNING", "execution_status": "finished"}
    return [
        {"id": f"{n:08}", "title": f"Talk {n}", "sandbox_id": f"box{n % boxes}", **moment, **state}
        for n in range(count)
    ]


@asynccontextmanager
async def running(script: Script, told: Callable[[News], None]) -> AsyncIterator[Session]:
    """A session with what answers so, which runs until the block ends and tells its news."""
    client, _ = client_of(script)
    session = Session(client, told, lambda: NOON)
    task = asyncio.create_task(session.run())
    try:
        yield session
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def read_whole(records: list[dict[str, Any]]) -> tuple[float, list[News]]:
    """Read a list that comes as one array; gives the seconds of work and the news that there was."""
    answer = Answer(Answer(records).content)

    def script(asked: Asked) -> Answer:
        if asked.path == CONVERSATIONS:
            return answer
        return Answer({"items": [], "next_page_id": None}) if asked.path == f"{SANDBOXES}/search" else NO_ROUTE

    def rows_are_asked_for(news: News) -> None:
        told.append(news)
        for sandbox_id in news.ids:
            session.by_sandbox.of(sandbox_id)

    told: list[News] = []
    began = time.process_time()
    async with running(script, rows_are_asked_for) as session:
        while session.conversations.health.incomplete:
            await asyncio.sleep(0)
        took = time.process_time() - began
        assert len(session.conversations.records) == len(records)
    return took, told


async def test_thousands_in_one_sandbox_cost_about_what_those_of_many_do_and_are_told_in_slices() -> None:
    of_many, told = await read_whole(conversations(MANY, boxes=MANY))
    of_one, _ = await read_whole(conversations(MANY, boxes=1))
    assert of_one < 5 * of_many + 1
    assert max(len(news.ids) for news in told) <= 500
    assert {each for news in told for each in news.ids if each.isdigit()} == {f"{n:08}" for n in range(MANY)}


@pytest.mark.parametrize("first", ["conversations", "sandboxes"])
async def test_the_sandbox_of_a_conversation_that_appears_is_read_with_it_and_the_other_way_round(first: str) -> None:
    """Whoever started it, and whichever list told of it first: it can be paused from its row."""
    there: list[dict[str, Any]] = []

    def script(asked: Asked) -> Answer:
        items = {
            f"{CONVERSATIONS}/search": there,
            f"{SANDBOXES}/search": [{"id": each["sandbox_id"], "status": "RUNNING"} for each in there],
            f"{CONVERSATIONS}/start-tasks/search": [
                {"id": "task", "status": "READY", "app_conversation_id": each["id"]} for each in there
            ],
        }
        return Answer({"items": items[asked.path], "next_page_id": None}) if asked.path in items else NO_ROUTE

    async with running(script, lambda news: None) as session:
        await until(lambda: not (session.conversations.health.incomplete or session.sandboxes.health.incomplete))
        there += conversations(1, boxes=1)
        (session.conversations if first == "conversations" else session.sandboxes).refresh()
        await until(lambda: (row := session.sandbox_row("box0")) and row.conversations)


async def test_a_sandbox_is_called_free_only_once_the_starts_were_read_and_all_of_them() -> None:
    starts = [{"id": "unreadable"}]
    told: list[News] = []
    client, _ = client_of(
        {
            f"GET {CONVERSATIONS}/search": [Answer({"items": []})],
            f"GET {SANDBOXES}/search": [Answer({"items": [{"id": "box", "status": "RUNNING"}]})],
            f"GET {CONVERSATIONS}/start-tasks/search": [Answer({"items": starts})],
        }
    )
    session = Session(client, told.append, lambda: NOON)

    def is_free() -> object:
        return (row := session.sandbox_row("box")) and row.unlinked

    await session.sandboxes.read_all()
    await session.conversations.read_all()
    assert not is_free()
    told.clear()
    await session.start_tasks.read_all()
    assert not is_free()
    assert (About.SANDBOXES, True) in {(news.about, news.all_rows) for news in told}
    starts.clear()
    await session.start_tasks.read_all()
    assert is_free()
