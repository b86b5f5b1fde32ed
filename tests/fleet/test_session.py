from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest

from quarterdeck.client.models.conversation import Conversation, NewConversation, StartTask
from quarterdeck.fleet.health import HealthState
from quarterdeck.fleet.news import About, News
from quarterdeck.fleet.session import Session
from tests.client.fakes import FAST, NO_ROUTE, Answer, Script, client_of, under_way
from tests.local.conftest import until
from tests.tui.fake_fleet import CONVERSATIONS, FakeFleet

from .fakes import NOON, at


@asynccontextmanager
async def running(script: Script) -> AsyncIterator[Session]:
    client, _ = client_of(script)
    session = Session(client, lambda news: None, lambda: NOON)
    async with under_way(session.run()):
        yield session


@pytest.mark.parametrize("first", ["conversations", "sandboxes"])
async def test_the_sandbox_of_a_conversation_that_appears_is_read_with_it_and_the_other_way_round(first: str) -> None:
    """Whoever started it, and whichever list told of it first: it can be paused from its row."""
    fleet = FakeFleet()
    async with running(fleet.answer) as session:
        await until(lambda: not (session.conversations.health.incomplete or session.sandboxes.health.incomplete))
        fleet.talk("c", fleet.add("box"), "Fix login")
        fleet.tasks = [{"id": "task", "status": "READY", "app_conversation_id": "c"}]
        (session.conversations if first == "conversations" else session.sandboxes).refresh()
        await until(lambda: (row := session.sandbox_row("box")) and row.conversations)


async def test_a_list_that_was_refused_is_read_again_once_the_key_is_known_to_be_accepted() -> None:
    fleet = FakeFleet(says={f"GET {CONVERSATIONS}/search": Answer({"detail": "Unauthorized"}, 401)}, nested=True)
    async with running(fleet.answer) as session:
        await until(lambda: session.conversations.health.state is HealthState.REFUSED)
        fleet.says.clear()
        session.server.doubt()
        await until(lambda: session.conversations.health.state is HealthState.ONLINE)


async def test_when_one_list_is_read_again_so_are_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quarterdeck.fleet.watch.backoff", lambda *_: 600.0)
    fleet, up = FakeFleet(), False
    async with running(lambda asked: fleet.answer(asked) if up else httpx.ConnectError("refused")) as session:
        lists = session.conversations, session.sandboxes, session.start_tasks
        await until(lambda: all(each.health.failures for each in lists))
        up = True
        session.sandboxes.refresh()
        await until(lambda: not any(each.health.error for each in lists))


async def test_a_conversation_shows_the_newer_word_of_its_sandbox_until_it_was_read_after_that() -> None:
    fleet = FakeFleet.of(1)
    fleet.talk("c", "box00", "Fix login")
    told: list[News] = []
    session = Session(client_of(fleet.answer)[0], told.append, lambda: NOON)

    async def says(*words: str) -> None:
        """Whether the row says so after each of as many readings of the conversations, and each change is told."""
        for word in words:
            told.clear()
            await session.conversations.read_all()
            row = session.conversation_row("c")
            assert (row and row.state.word) == word
        assert "c" in {each for news in told if news.about is About.CONVERSATIONS for each in news.ids}

    await session.conversations.read_all()
    await session.sandboxes.read_all()
    fleet.add("box00", "PAUSED")
    await session.sandboxes.read_all()
    assert "c" in {each for news in told if news.about is About.CONVERSATIONS for each in news.ids}
    await says("Sandbox paused", "Finished")  # the first reading may have begun before
    fleet.conversations["c"]["sandbox_status"] = "PAUSED"
    await says("Sandbox paused")
    fleet.add("box00")
    for _ in range(2):  # a return to the state before is believed when it was read twice
        await session.sandboxes.read_all()
    await says("Sandbox resuming", "Sandbox paused")


async def test_a_start_is_shown_until_its_conversation_is_listed_or_it_is_put_away() -> None:
    now = NOON
    listed, created = Answer({"items": []}), Answer({"id": "followed", "status": "WORKING"})
    client, _ = client_of({f"GET {CONVERSATIONS}/search": [listed], f"POST {CONVERSATIONS}": [created]})
    session = Session(client, lambda news: None, lambda: now)

    def shows(status: str, second: float = 5, name: str = "t", becomes: str | None = None) -> bool:
        nonlocal now
        now = at(second)
        session.start_tasks.take([StartTask(name, status=status, app_conversation_id=becomes, created_at=NOON)])
        return session.conversation_row(name) is not None

    assert not shows("READY", becomes="c"), "it may be among those that are not read yet"
    await session.conversations.read_all()
    assert shows("READY", becomes="c")
    session.conversations.take([Conversation("c")])
    assert not shows("READY", becomes="c")
    await session.conversations.read_all()
    await session.conversations.read_all()
    assert not session.conversations.records
    assert not shows("READY", becomes="c"), "its conversation was deleted"
    assert shows("ERROR", 4000), "it stays until it is put away"
    assert not shows("ERROR", 90_000)
    assert not shows("WORKING", 4000)
    session.unread.dismiss(["t"])
    assert not shows("ERROR")
    await session.create(NewConversation())
    assert shows("WORKING", 4000, name="followed")


@pytest.mark.parametrize("others", [[None], [f"{number:08}" for number in range(1, FAST.page)]])
async def test_what_was_perhaps_only_not_read_stays_watched(others: list[str | None]) -> None:
    fleet = FakeFleet(says={f"GET {CONVERSATIONS}/search": NO_ROUTE})
    session = Session(client_of(fleet.answer)[0], lambda news: None, lambda: NOON)

    async def read(*ids: str | None) -> set[str]:
        """Read such a list, on which no single record can be asked for; gives what is watched then."""
        fleet.says[f"GET {CONVERSATIONS}"] = Answer([{"id": each} for each in ids])
        await session.conversations.read_all()
        return {*session.unread.watched}

    await read("c", "d")
    session.unread.watch(session.conversations.records)
    assert (await read("d", *others), await read("d")) == ({"c", "d"}, {"d"})


@pytest.mark.parametrize("partial", [About.SANDBOXES, About.CONVERSATIONS])
async def test_a_record_that_cannot_be_read_counts_as_one_not_read_yet_until_it_can(partial: About) -> None:
    fleet, told = FakeFleet(), list[News]()
    fleet.talk("talk", fleet.add("box"), "Reader")
    path = f"GET /api/v1/{'app-' * (partial is About.CONVERSATIONS)}{partial}/search"
    fleet.says[path] = Answer({"items": [{"id": None}], "next_page_id": None})
    session = Session(client_of(fleet.answer)[0], told.append, lambda: NOON)

    async def read() -> tuple[object, ...]:
        """Read every list; gives which rows are all told anew, and what no unread record could change."""
        told.clear()
        for watch in (session.sandboxes, session.start_tasks, session.conversations):
            await watch.read_all()
        talk, box = session.conversation_row("talk"), session.sandbox_row("box")
        others = {news.about for news in told if news.all_rows}
        return partial not in others and bool(others), talk and talk.unlinked, box and box.complete

    await read()
    assert await read() == ((False, None, False) if partial is About.CONVERSATIONS else (False, False, None))
    del fleet.says[path]
    assert (await read(), await read()) == ((True, False, True), (False, False, True))
