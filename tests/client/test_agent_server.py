import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import SecretStr
from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request

from quarterdeck.client.agent_server import NEVER, RISKY, AgentServer
from quarterdeck.client.agent_socket import listen_to
from quarterdeck.client.errors import ErrorKind, Outcome
from quarterdeck.client.limits import Limits
from quarterdeck.client.models.event import Event
from quarterdeck.client.request import KeyHeader, LoggedRequest
from tests.client.fakes import FAST, KEY, Answer, answering, client_at, client_of, error_of, plain, raw_server

ID, AGENT_KEY = "0c0f4ad56c4f49ed9347b7fa8dfeac92", "sentinel-agent-key-77"
FRAME = '{"id": "f1", "kind": "MessageEvent", "source": "agent", "llm_message": {"content": [{"text": "hello"}]}}'


async def test_its_key_goes_to_its_own_origin_and_the_servers_key_never() -> None:
    client, server = client_of(lambda _: Answer({"success": True}))
    url, asked = SecretStr(f"https://sandbox.test:8123/prefix/api/conversations/{ID}?x=1"), server.asked
    agent = AgentServer.at(client.transport, url, SecretStr(AGENT_KEY))
    await agent.send("hello")
    assert (await error_of(agent.send("half \ud800"))).outcome is Outcome.NOT_SENT
    await agent.answer(accept=False)
    assert await agent.alive()
    events = f"/prefix/api/conversations/{ID}/events"
    paths = [("POST", events), ("POST", f"{events}/respond_to_confirmation"), ("GET", "/prefix/alive")]
    assert [(each.method, each.path) for each in asked] == paths
    assert [each.headers.get("X-Session-API-Key") for each in asked] == [AGENT_KEY, AGENT_KEY, None]
    assert {each.headers["host"] for each in asked} == {"sandbox.test:8123"}
    assert not any(KEY in str(each.headers) for each in asked)
    assert asked[0].body == {"role": "user", "content": [{"type": "text", "text": "hello"}], "run": False}
    await agent.answer(accept=True)
    await agent.set_policy(NEVER)
    await agent.set_policy(RISKY)
    risky = {"kind": "ConfirmRisky", "threshold": "MEDIUM", "confirm_unknown": True}
    policies = [{"policy": {"kind": "NeverConfirm"}}, {"policy": risky}]
    assert [each.body for each in (asked[1], *asked[3:])] == [{"accept": False}, {"accept": True}, *policies]


@asynccontextmanager
async def sockets(*frames: str | bytes) -> AsyncIterator[tuple[str, list[Request]]]:
    """An agent server that has a socket only: its address, and the requests that opened it."""
    opened: list[Request] = []

    async def talk(connection: ServerConnection) -> None:
        for frame in frames:
            await connection.send(frame)

    async with serve(talk, "127.0.0.1", 0, process_request=lambda _, request: opened.append(request)) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", opened


async def listened(url: str, limits: Limits = FAST) -> tuple[list[Event], list[LoggedRequest]]:
    """What was heard by a client that signs in as a bearer at its own server, and what that wrote down."""
    async with client_at("http://127.0.0.1:3000", limits=limits, header=KeyHeader.BEARER) as client:
        agent = AgentServer.at(client.transport, SecretStr(f"{url}/api/conversations/{ID}"), SecretStr(AGENT_KEY))
        async with asyncio.timeout(5):
            return [event async for event in listen_to(agent)], list(client.log)


async def test_the_socket_has_the_key_of_its_sandbox_and_is_read_with_care() -> None:
    delta, deep = '{"id": "d", "kind": "StreamingDeltaEvent", "content": "w"}', f"{'[' * 600}{']' * 600}"
    odd = ("", "no json", "7", b"\xff", "[" * 100_000, "[]", f'{{"id": "x", "kind": "X", "x": {deep}}}')
    async with sockets(*odd, FRAME, delta) as (url, opened):
        read, (logged,) = await listened(url)
    assert [event.model_dump(mode="json")["kind"] for event in read] == ["X", "MessageEvent", "StreamingDeltaEvent"]
    assert [request.headers["X-Session-API-Key"] for request in opened] == [AGENT_KEY]
    assert opened[0].path == logged.path == f"/sockets/events/{ID}"
    async with sockets(FRAME * 9) as (url, _):
        assert (await error_of(listened(url, FAST._replace(body=500)))).kind is ErrorKind.BROKEN, "beyond the limit"


async def test_a_socket_that_is_sent_elsewhere_is_refused_and_its_key_goes_nowhere() -> None:
    async with sockets(FRAME) as (other, opened):
        moved = plain(b"", "302 Found", f"Location: {other.replace('http', 'ws')}")
        async with raw_server(answering(moved)) as server:
            error = await error_of(listened(server.url))
    assert (error.kind, opened) == (ErrorKind.DENIED, [])
