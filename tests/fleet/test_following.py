import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from websockets.asyncio.server import Server, ServerConnection, broadcast, serve
from websockets.http11 import Request, Response

from quarterdeck.client.errors import ServiceError
from quarterdeck.fleet import following as rules
from quarterdeck.fleet.following import Following, Origin
from tests.client.fakes import FAST, Answer, Asked, client_at, client_of
from tests.fleet.agent import AGENT, COPY, ID, FakeAgent
from tests.local.conftest import until


def following(agent: FakeAgent) -> Following:
    client, _ = client_of(agent)
    return Following(client, ID, lambda: None, lambda: datetime.now(UTC))


async def test_a_sandbox_that_is_paused_gone_or_of_another_machine_is_said_and_its_copy_shown() -> None:
    agent = FakeAgent()
    agent.says("kept")
    agent.copy, agent.log = agent.log, []
    for sandbox, host, origin, note in (
        ("PAUSED", AGENT, Origin.ASLEEP, "paused"),
        ("MISSING", AGENT, Origin.COPY, "gone"),
        ("RUNNING", "http://localhost:8000", Origin.COPY, "another machine"),
        ("STARTING", AGENT, Origin.COPY, "where its agent is"),
    ):
        agent.sandbox, agent.host = sandbox, host
        followed = following(agent)
        await followed.poll()
        assert (followed.origin, note in followed.note) == (origin, True)
        assert [entry.text for entry in followed.transcript.entries] == ["kept"]


async def test_what_was_read_stays_while_paused_silent_and_deleted_each_look_different() -> None:
    agent = FakeAgent()
    agent.says("before")
    followed = following(agent)
    await followed.poll()
    agent.sandbox, agent.unreached = "PAUSED", True
    await followed.poll()
    assert str(followed.origin) == "sandbox paused"
    agent.says("while nobody looked")
    agent.sandbox, agent.unreached = "STARTING", False  # as idle process sandboxes read nearly always
    await followed.poll()
    assert followed.origin is Origin.POLLING
    assert [entry.text for entry in followed.transcript.entries] == ["before", "while nobody looked"]
    agent.unreached = True
    await followed.poll()
    assert (str(followed.origin), followed.note) == ("no answer", "Its agent server does not answer.")
    agent.sandbox = None
    await followed.poll()
    assert str(followed.origin) == "deleted"
    with pytest.raises(ServiceError):
        await followed.catch_up()
    assert f"GET {COPY}" not in agent.asked
    assert [entry.text for entry in followed.transcript.entries] == ["before", "while nobody looked"]


async def test_what_was_said_last_in_a_sandbox_that_is_gone_is_read_from_the_copy() -> None:
    agent = FakeAgent()
    agent.says("before")
    agent.set("running")
    followed = following(agent)
    await followed.poll()
    agent.says("the last words")
    agent.set("finished")
    agent.copy, agent.sandbox, agent.unreached = [*agent.log], "MISSING", True
    await followed.poll()
    assert (followed.origin, followed.transcript.status) == (Origin.COPY, "finished")
    assert [entry.text for entry in followed.transcript.entries if entry.text] == ["before", "the last words"]


class Telling:
    """Serves an agent on a free port, and tells all its sockets what it is given."""

    server: Server

    def __init__(self, agent: FakeAgent) -> None:
        self.agent, self.opened = agent, 0
        self.answers = asyncio.Event()  # cleared while the agent server answers nothing
        self.answers.set()

    def tell(self, **frame: Any) -> None:
        broadcast(self.server.connections, json.dumps(frame))

    async def answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """Answer a request; None where it opens a socket."""
        address = urlsplit(request.path)
        if address.path.startswith("/sockets/"):
            self.opened += 1
            return None
        if not address.path.startswith("/api/v1/"):
            await self.answers.wait()
        answer = self.agent(Asked("GET", address.path, tuple(parse_qsl(address.query)), httpx.Headers(), b""))
        assert isinstance(answer, Answer)
        response = connection.respond(HTTPStatus(answer.status), answer.content.decode())
        response.headers["Content-Type"] = "application/json"
        return response


@asynccontextmanager
async def followed(agent: FakeAgent) -> AsyncIterator[tuple[Telling, Following]]:
    """Follow it as the deck does, with little patience."""
    teller = Telling(agent)
    async with serve(ServerConnection.wait_closed, "127.0.0.1", 0, process_request=teller.answer) as teller.server:
        agent.host = f"http://127.0.0.1:{teller.server.sockets[0].getsockname()[1]}"
        async with client_at(agent.host, limits=FAST._replace(quick=0.2)) as client:
            following = Following(client, ID, lambda: None, lambda: datetime.now(UTC))
            task = asyncio.create_task(following.run())
            try:
                yield teller, following
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        teller.answers.set()  # the server ends once everybody has been answered


async def test_a_socket_counts_after_its_first_frame_and_what_it_tells_is_asked_for() -> None:
    agent = FakeAgent("1.34.0")
    async with followed(agent) as (teller, following):
        await until(lambda: teller.server.connections and following.origin is Origin.POLLING)
        teller.tell(kind="StreamingDeltaEvent", id="d", source="agent", content="word ")
        await until(lambda: following.origin is Origin.LIVE)
        agent.says("word for word")
        teller.tell(**agent.log[-1])
        await until(lambda: [each.text for each in following.transcript.entries] == ["word for word"])
        teller.answers.clear()
        agent.sandbox = "ERROR"
        following.refresh()
        await until(lambda: following.origin is Origin.COPY)
        assert following.note == "Its sandbox is in error."


@pytest.mark.parametrize("version", ["1.8.2", "1.15.0", ""])
async def test_an_old_agent_server_is_never_listened_to(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    """A socket that is opened while the agent is at a step would stop it from answering anybody."""
    monkeypatch.setattr(rules, "POLL", 0.01)
    monkeypatch.setattr(rules, "TOGETHER", 0.0)
    agent = FakeAgent(version)
    agent.set("running")
    async with followed(agent) as (teller, following):
        for number in range(5):
            agent.says(f"word {number}")
            await until(lambda: len(following.transcript.entries) == len(agent.log) - 1)
        assert (following.origin, teller.opened) == (Origin.POLLING, 0)
