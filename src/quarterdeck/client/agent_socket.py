"""The socket of an agent server: it tells what happens, and is never used to say anything."""

import time
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime
from urllib.parse import urlsplit, urlunsplit

from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus, WebSocketException

from quarterdeck.client.agent_server import AgentServer, read_frame
from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.models.event import Delta, Event
from quarterdeck.client.network import shown_host
from quarterdeck.client.request import LoggedRequest

GONE = 4004
"""How a server closes the socket of a conversation it does not have."""


class _Connect(connect):
    """Opens a socket where it was told to and nowhere else: a key would go along with a redirect."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        """Follow nothing."""
        return exc


async def _frames(agent: AgentServer) -> AsyncIterator[Event | Delta]:
    transport, path = agent.transport, agent.socket_path
    limits, options = transport.limits, await transport.socket_options()
    started, when = time.perf_counter(), datetime.now(UTC)
    status: int | None = None
    kind: ErrorKind | None = None
    try:
        async with _Connect(
            _socket_address(transport.url + path),
            open_timeout=limits.agent,
            ping_interval=limits.ping,
            ping_timeout=limits.ping,
            close_timeout=1.0,
            max_size=limits.body,
            user_agent_header="quarterdeck",
            **options,
        ) as socket:
            status = 101
            transport.note(LoggedRequest("GET", path, status, None, (time.perf_counter() - started) * 1000, when))
            async for frame in socket:
                if (read := read_frame(frame)) is not None:
                    yield read
    except InvalidStatus as error:
        status, kind = error.response.status_code, ErrorKind.DENIED
        raise _lost(kind, f"{shown_host(transport.url)} refused a socket (status {status}).") from None
    except (OSError, TimeoutError, WebSocketException) as error:
        kind = ErrorKind.BROKEN
        words = f"The socket to {shown_host(transport.url)} broke."
        raise _lost(kind, words) from error
    finally:
        if kind is not None and status != 101:
            transport.note(LoggedRequest("GET", path, status, kind, (time.perf_counter() - started) * 1000, when))


@asynccontextmanager
async def open_socket(agent: AgentServer) -> AsyncIterator[AsyncIterator[Event | Delta]]:
    """What happens from now on, as it happens; the first frame may come only after the tool that runs has ended.

    It ends when the server closes it, and raises ServiceError when it breaks or cannot be opened. A frame of more than
    `Limits.body` breaks it, and so does a ping that stays unanswered.
    """
    async with aclosing(_frames(agent)) as frames:  # type: ignore[type-var]
        yield frames


def _socket_address(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(("wss" if parts.scheme == "https" else "ws", parts.netloc, parts.path, "", ""))


def _lost(kind: ErrorKind, words: str) -> ServiceError:
    return ServiceError(kind, words, "It is opened again by itself; events are read meanwhile.")
