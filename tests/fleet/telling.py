"""An agent on a loopback port, with a socket: app server and agent server in one, which are read and not written to."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from tests.client.fakes import Answer, Asked
from tests.fleet.agent import FakeAgent


class TellingAgent:
    """Answers as `agent` does, and tells all its sockets what it is given."""

    def __init__(self, agent: FakeAgent) -> None:
        self.agent = agent
        self.answers = asyncio.Event()
        """Cleared while the agent server answers nothing."""
        self.answers.set()
        self.freezes = False
        """A socket that is opened stops it from answering, as on old servers while the agent is at a step."""
        self.sockets: set[ServerConnection] = set()

    async def tell(self, **frame: Any) -> None:
        """Tell all sockets that are open."""
        for socket in self.sockets:
            with suppress(ConnectionClosed):
                await socket.send(json.dumps(frame))

    async def answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """Answer a request; None where it opens a socket."""
        address = urlsplit(request.path)
        if address.path.startswith("/sockets/"):
            if self.freezes:
                self.answers.clear()
            return None
        if not address.path.startswith("/api/v1/"):
            await self.answers.wait()
        answer = self.agent(
            Asked(
                "GET", address.path, tuple(parse_qsl(address.query)), httpx.Headers([*request.headers.raw_items()]), b""
            )
        )
        assert isinstance(answer, Answer)
        response = connection.respond(HTTPStatus(answer.status), answer.content.decode())
        response.headers["Content-Type"] = "application/json"
        return response

    async def hold(self, socket: ServerConnection) -> None:
        """Keep a socket until it is closed."""
        self.sockets.add(socket)
        try:
            await socket.wait_closed()
        finally:
            self.sockets.discard(socket)


@asynccontextmanager
async def telling(agent: FakeAgent) -> AsyncIterator[TellingAgent]:
    """Serve an agent on a free port."""
    teller = TellingAgent(agent)
    async with serve(teller.hold, "127.0.0.1", 0, process_request=teller.answer) as server:
        agent.host = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield teller
