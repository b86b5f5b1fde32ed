"""The local service on a port of loopback."""

import asyncio
import os
import signal
import socket
from pathlib import Path

from hypercorn.asyncio import serve as serve_asgi
from hypercorn.config import Config
from pydantic import SecretStr

from quarterdeck.local.errors import LocalServiceError
from quarterdeck.local.guard import LoopbackOnly
from quarterdeck.local.runtime.launching import new_key
from quarterdeck.local.runtime.simulated import Simulation
from quarterdeck.local.service import App, LocalService

_ENDINGS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


async def serve(folder: Path, port: int, key: SecretStr | None = None, *, simulation: Simulation | None = None) -> None:
    """Serve a data folder on 127.0.0.1 until SIGTERM, SIGINT or SIGHUP; sandboxes go on running.

    With a `simulation` the folder is left alone, and what it describes is served instead. Port 0 takes a free one. The
    key is the one given, else that of QUARTERDECK_API_KEY, else a made one. Says `serving http://127.0.0.1:N` on
    standard output, and a made key on the line after it. Raises `LocalServiceError` when the port or the folder cannot
    be used, or the key cannot be sent in a header.
    """
    given = key or SecretStr(os.environ.get("QUARTERDECK_API_KEY", ""))
    made = new_key()
    checked = _checked(given) or made
    if simulation is None:
        service = await LocalService.open(folder, key=checked)
    else:
        service = await LocalService.simulated(simulation, key=checked)
    try:
        listening = _listen(port)
        ending = _ending()
        print(f"serving http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
        if service.key is made:
            print(f"key {made.get_secret_value()}", flush=True)
        await _answer(LoopbackOnly(service.app), listening.detach(), ending)
    finally:
        await service.close()


def _ending() -> asyncio.Event:
    """Set by a signal to end; from now on signals do nothing else."""
    ending = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in _ENDINGS:
        loop.add_signal_handler(number, ending.set)
    return ending


async def _answer(app: App, listening: int, ending: asyncio.Event) -> None:
    """Answer what comes to a listening socket, given by its number, until told to end; closes it."""
    config = Config()
    config.bind = [f"fd://{listening}"]
    config.loglevel = "WARNING"
    config.graceful_timeout = 1.0
    config.include_server_header = False
    await serve_asgi(app, config, shutdown_trigger=ending.wait)


def _listen(port: int) -> socket.socket:
    try:
        return socket.create_server(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        raise LocalServiceError(
            f"Port {port} cannot be used: {error}. Name another one, or 0 for a free one."
        ) from error


def _checked(key: SecretStr) -> SecretStr | None:
    """The key without blanks around it; None when nothing is left."""
    text = key.get_secret_value().strip()
    if any(not "!" <= letter <= "~" for letter in text):
        raise LocalServiceError("The key has characters that cannot be sent. Use letters, digits and punctuation.")
    return SecretStr(text) if text else None
