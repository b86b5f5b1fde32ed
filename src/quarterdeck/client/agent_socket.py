"""The socket of an agent server: it tells what happens, and is never used to say anything."""

import json
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from urllib.parse import urlsplit, urlunsplit

from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus, WebSocketException

from quarterdeck.client.agent_server import AgentServer
from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.models.event import Delta, Event, read_event
from quarterdeck.client.network import shown_host
from quarterdeck.client.request import Request, segment


class _Connect(connect):
    """Opens a socket where it was told to and nowhere else: a key would go along with a redirect."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        """Follow nothing."""
        return exc


async def _frames(agent: AgentServer) -> AsyncIterator[Event | Delta]:
    transport, request = agent.transport, Request("GET", f"/sockets/events/{segment(agent.conversation_id)}")
    limits, host, started = transport.limits, shown_host(transport.url), time.perf_counter()
    opening = _Connect(
        _socket_address(transport.url + request.path),
        open_timeout=limits.quick,
        ping_interval=limits.ping,
        ping_timeout=limits.ping,
        close_timeout=1.0,
        max_size=limits.body,
        user_agent_header="quarterdeck",
        **await transport.socket_options(),
    )
    opened = False
    try:
        async with opening as socket:
            opened = True
            transport.note(request, started, 101, None)
            async for frame in socket:
                if (read := read_frame(frame)) is not None:
                    yield read
    except InvalidStatus as error:
        status = error.response.status_code
        transport.note(request, started, status, ErrorKind.DENIED)
        raise _lost(ErrorKind.DENIED, f"{host} refused a socket (status {status}).") from None
    except (OSError, TimeoutError, WebSocketException) as error:
        if not opened:
            transport.note(request, started, None, ErrorKind.BROKEN)
        raise _lost(ErrorKind.BROKEN, f"The socket to {host} broke.") from error


@asynccontextmanager
async def open_socket(agent: AgentServer) -> AsyncIterator[AsyncIterator[Event | Delta]]:
    """What happens from now on, as it happens; the first frame may come only after the tool that runs has ended.

    It ends when the server closes it, and raises ServiceError when it breaks or cannot be opened. A frame of more than
    `Limits.body` breaks it, and so does a ping that stays unanswered.
    """
    async with aclosing(_frames(agent)) as frames:  # type: ignore[type-var]
        yield frames


def read_frame(frame: str | bytes) -> Event | Delta | None:
    """Read what came over a socket; None for what is no event."""
    try:
        return read_event(json.loads(frame))
    except (ValueError, RecursionError):
        return None


def _socket_address(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(("wss" if parts.scheme == "https" else "ws", parts.netloc, parts.path, "", ""))


def _lost(kind: ErrorKind, words: str) -> ServiceError:
    return ServiceError(kind, words, "It is opened again by itself; events are read meanwhile.")
