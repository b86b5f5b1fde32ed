"""The local service on a port of loopback."""

import asyncio
import os
import signal
import socket
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from hypercorn.asyncio import serve as serve_asgi
from hypercorn.config import Config
from pydantic import SecretStr
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from quarterdeck.local.errors import LocalServiceError
from quarterdeck.local.records import new_key
from quarterdeck.local.runtime.simulated import Simulation
from quarterdeck.local.service import App, LocalService


async def serve(folder: Path, port: int, simulation: Simulation | None = None) -> None:
    """Serve a data folder on 127.0.0.1 until SIGTERM, SIGINT or SIGHUP; sandboxes go on running.

    With a `simulation` the folder is left alone, and what it describes is served instead. Port 0 takes a free one. The
    key is that of QUARTERDECK_API_KEY, else a made one. Says `serving http://127.0.0.1:N` on standard output, and a
    made key on the line after it. Raises `LocalServiceError` when the port or the folder cannot be used, or the key
    cannot be sent in a header.
    """
    given = _given_key()
    key = given or new_key()
    if simulation is None:
        service = await LocalService.open(folder, key=key)
    else:
        service = await LocalService.simulated(simulation, key=key)
    try:
        listening = _listen(port)
        ending = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, ending.set)
        print(f"serving http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
        if given is None:
            print(f"key {key.get_secret_value()}", flush=True)
        config = Config()
        config.bind = [f"fd://{listening.detach()}"]
        config.loglevel = "WARNING"
        config.graceful_timeout = 1.0
        config.include_server_header = False
        app: App = LoopbackOnly(service.app)
        await serve_asgi(app, config, shutdown_trigger=ending.wait)
    finally:
        await service.close()


class LoopbackOnly:
    """Answers 421 (RFC 9110) to what is asked of another host than this machine.

    A web page can have its own name resolve to 127.0.0.1 and ask under that name; the Host header gives it away.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what names loopback."""
        if scope["type"] not in ("http", "websocket") or _is_loopback(Headers(scope=scope).get("host", "")):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await WebSocketClose(1008)(scope, receive, send)
        else:
            words = "This service answers to localhost and 127.0.0.1 only"
            await PlainTextResponse(words, 421)(scope, receive, send)


def _is_loopback(host: str) -> bool:
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False


def _listen(port: int) -> socket.socket:
    try:
        return socket.create_server(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        raise LocalServiceError(
            f"Port {port} cannot be used: {error}. Name another one, or 0 for a free one."
        ) from error


def _given_key() -> SecretStr | None:
    """The key of the environment without blanks around it; None when nothing is left."""
    text = os.environ.get("QUARTERDECK_API_KEY", "").strip()
    if any(not "!" <= letter <= "~" for letter in text):
        raise LocalServiceError("The key has characters that cannot be sent. Use letters, digits and punctuation.")
    return SecretStr(text) if text else None
