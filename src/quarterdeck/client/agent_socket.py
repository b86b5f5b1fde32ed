"""The socket of an agent server, used only to receive events."""

import json
import time
from collections.abc import AsyncGenerator

from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus, WebSocketException

from quarterdeck.client.agent_server import AgentServer
from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.models.event import Event, read_event
from quarterdeck.client.network import shown_host
from quarterdeck.client.request import Request, segment

ADVICE = "It is opened again by itself; events are read meanwhile."


class _Connect(connect):
    """Opens a socket without following redirects: the key would be sent along."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        """Return the error, so that no redirect is followed."""
        return exc


async def listen_to(agent: AgentServer) -> AsyncGenerator[Event]:
    """Yield events as they happen; the first one may be delayed until the running tool has ended.

    It ends when the server closes the socket, and raises ServiceError if the socket cannot be opened or breaks: also by
    a frame larger than `Limits.body` or an unanswered ping. A frame that is not an event is skipped.
    """
    transport, request = agent.transport, Request("GET", f"/sockets/events/{segment(agent.conversation_id)}")
    limits, host, started = transport.limits, shown_host(transport.url), time.perf_counter()
    opening = _Connect(
        f"ws{transport.url.removeprefix('http')}{request.path}",
        open_timeout=limits.quick,
        ping_interval=limits.ping,
        ping_timeout=limits.ping,
        close_timeout=1.0,
        max_size=limits.body,
        user_agent_header="quarterdeck",
        **await transport.socket_options(),
    )
    try:
        async with opening as socket:
            transport.note(request, started, 101, None)
            async for frame in socket:
                try:
                    event = read_event(json.loads(frame))
                except (ValueError, RecursionError):
                    continue
                if event is not None:
                    yield event
    except InvalidStatus as error:
        status = error.response.status_code
        transport.note(request, started, status, ErrorKind.DENIED)
        raise ServiceError(ErrorKind.DENIED, f"{host} refused a socket (status {status}).", ADVICE) from None
    except (OSError, TimeoutError, WebSocketException) as error:
        transport.note(request, started, None, ErrorKind.BROKEN)
        raise ServiceError(ErrorKind.BROKEN, f"The socket to {host} broke.", ADVICE) from error
