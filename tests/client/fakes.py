"""Stand-in servers: one that answers within the process, and one on a loopback port that speaks raw bytes."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import Any
from urllib.parse import parse_qsl

import httpx
import pytest
from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ServiceError
from quarterdeck.client.flat import UNASKED
from quarterdeck.client.limits import Limits
from quarterdeck.client.models.sandbox import Sandbox
from quarterdeck.client.models.server import Generation, KeyState, Server
from quarterdeck.client.nested import NESTED_RULES
from quarterdeck.client.request import KeyHeader
from quarterdeck.client.transport import Access

KEY, FAST = "sentinel-key-5f2a", Limits(repeat_after=0, per_second=10_000)
FLAT, NESTED = UNASKED, Server(Generation.NESTED, KeyState.ACCEPTED, merges=True, fields=NESTED_RULES)


@dataclass(frozen=True)
class Answer:
    """An answer; a body that is not bytes is sent as JSON."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def content(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


NO_ROUTE = Answer({"detail": "Not Found"}, 404)
WEB_PAGE = Answer(b"<!doctype html>", 200, {"Content-Type": "text/html"})
UNSTORED = Answer({"error": "Settings not found"}, 404)


@dataclass(frozen=True)
class Asked:
    """A request as a server sees it."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    headers: httpx.Headers
    content: bytes
    seconds: float = 0  # until it is given up

    @property
    def body(self) -> Any:
        return json.loads(self.content)

    @property
    def page_id(self) -> str | None:
        return dict(self.query).get("page_id")


Script = Callable[[Asked], Answer | Exception]
Answers = Mapping[str, Sequence[Answer | Exception]]  # the answers for each "METHOD path", the last one for ever
Holds = Callable[[httpx.Request], bool]


class FakeServer(httpx.AsyncBaseTransport):
    """Answers by a function, or in turn; everything else is not found."""

    def __init__(self, script: Script | Answers) -> None:
        self.asked: list[Asked] = []
        self._script = script if callable(script) else in_turn(script)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        content = await request.aread()
        path = request.url.raw_path.partition(b"?")[0].decode()
        query = tuple(parse_qsl(request.url.query.decode(), keep_blank_values=True))
        seconds = request.extensions["timeout"]["read"]
        self.asked.append(Asked(request.method, path, query, request.headers, content, seconds))
        answer = self._script(self.asked[-1])
        if isinstance(answer, Exception):
            raise answer
        headers = {"Content-Type": "application/json", **answer.headers}
        return httpx.Response(answer.status, headers=headers, stream=httpx.ByteStream(answer.content))

    def sent(self, method: str) -> list[Asked]:
        return [asked for asked in self.asked if asked.method == method]


class Gated(FakeServer):
    """Holds what `holds` picks until the gate is open; with `acts_first` it is done before, its answer is held."""

    def __init__(self, script: Script | Answers, holds: Holds, *, acts_first: bool = False) -> None:
        super().__init__(script)
        self.holds, self.acts_first = holds, acts_first
        self.gate, self.waited = asyncio.Event(), False
        self.lost: Exception | None = None  # what comes in place of a held answer

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        answer = await super().handle_async_request(request) if self.acts_first else None
        if self.holds(request):
            self.waited = True
            await self.gate.wait()
            if self.lost is not None:
                raise self.lost
        return answer or await super().handle_async_request(request)


def to(path: str) -> Holds:
    return lambda request: request.url.path == path


def in_turn(answers: Answers) -> Script:
    endless = {name: chain(found[:-1], repeat(found[-1])) for name, found in answers.items()}
    return lambda asked: next(endless.get(f"{asked.method} {asked.path}", repeat(NO_ROUTE)))


def client_of(
    script: Script | Answers, *, limits: Limits = FAST, read_only: bool = False, server: Server = FLAT
) -> tuple[Client, FakeServer]:
    """A client, which has found out that it speaks to such a server, and what answers it."""
    wire = FakeServer(script)
    access = Access(read_only=read_only, transport=wire, limits=limits)
    client, client.transport.server = Client("http://server.test", SecretStr(KEY), access=access), server
    return client, wire


def client_at(url: str, *, limits: Limits = FAST, header: KeyHeader = KeyHeader.SESSION) -> Client:
    return Client(url, SecretStr(KEY), Access(header=header, limits=limits))


async def first_page(client: Client) -> tuple[Sandbox, ...]:
    return tuple((await anext(aiter(client.sandboxes.pages()))).items)


async def error_of(call: Awaitable[object]) -> ServiceError:
    """The error that a call ends in; nothing of it repeats the key."""
    with pytest.raises(ServiceError) as caught:
        await call
    assert KEY not in f"{caught.value!r} {caught.value.words} {caught.value.advice}"
    return caught.value


@asynccontextmanager
async def under_way(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Let something go on beside the block, and end it then; what went wrong in it is raised."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


Conversation = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class RawServer:
    """A server on a loopback port; `heads` are the requests it got, `connections` how often it was connected to."""

    url: str = ""
    heads: list[bytes] = field(default_factory=list)
    connections: int = 0


@asynccontextmanager
async def raw_server(
    answer: Conversation, *, requests_per_connection: int = 1, tls: ssl.SSLContext | None = None
) -> AsyncIterator[RawServer]:
    """Serve on a free port; `answer` is given the head of a request and writes whatever it likes."""
    seen = RawServer()
    serving: list[asyncio.Task[None] | None] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.connections += 1
        serving.append(asyncio.current_task())
        try:
            for _ in range(requests_per_connection):
                seen.heads.append(await reader.readuntil(b"\r\n\r\n"))
                await answer(seen.heads[-1], writer)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            return
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    seen.url = f"http{'s' if tls else ''}://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield seen
    finally:
        server.close()
        for task in filter(None, serving):
            task.cancel()


def answering(*answers: bytes) -> Conversation:
    """Give these answers one after another, the last one for ever."""
    left = list(answers)

    async def answer(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(left.pop(0) if len(left) > 1 else left[0])

    return answer


def plain(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    lines = (f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Content-Type: application/json", *headers)
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
