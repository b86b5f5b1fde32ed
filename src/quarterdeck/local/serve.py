"""The local service on a port of loopback."""

import asyncio
import os
import signal
import socket
from contextlib import aclosing
from pathlib import Path

from hypercorn.asyncio import serve as serve_asgi
from hypercorn.config import Config
from pydantic import SecretStr
from starlette.middleware.trustedhost import TrustedHostMiddleware

from quarterdeck.local.errors import LocalServiceError
from quarterdeck.local.runtime.simulated import Simulation
from quarterdeck.local.service import App, LocalService

HOSTS = ("localhost", "127.0.0.1", "[::1]")
"""Accepted host names: a web page may resolve its own name to 127.0.0.1, but its Host header shows that."""


async def serve(folder: Path, port: int, given: SecretStr | None, simulation: Simulation | None = None) -> None:
    """Serve a data folder on 127.0.0.1 until SIGTERM, SIGINT or SIGHUP; sandboxes keep running.

    With a `simulation`, that is served instead and the folder is not used. Port 0 means any free port. Prints `serving
    http://127.0.0.1:N` on standard output, and on the next line the key, if it was not `given`. Raises
    `LocalServiceError` if the port or the folder cannot be used.
    """
    if simulation is None:
        service = await LocalService.open(folder, key=given)
    else:
        service = await LocalService.simulated(simulation, key=given)
    async with aclosing(service):
        listening = _listen(port)
        ending = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup has it
                asyncio.get_running_loop().add_signal_handler(number, ending.set)
        print(f"serving http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
        if given is None:
            print(f"key {service.key.get_secret_value()}", flush=True)
        bind = [f"fd://{listening.detach()}"]
        config = Config.from_mapping(bind=bind, loglevel="WARNING", graceful_timeout=1.0, include_server_header=False)
        app: App = TrustedHostMiddleware(service.app, HOSTS, www_redirect=False)
        await serve_asgi(app, config, shutdown_trigger=ending.wait)


def _listen(port: int) -> socket.socket:
    try:
        return socket.create_server(("127.0.0.1", port))
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else error  # the text of the error repeats the address
        raise LocalServiceError(f"Port {port} cannot be used: {why}. Name another one, or 0 for a free one.") from error
