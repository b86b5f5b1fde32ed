"""Programs of their own and servers on a port: the local service, and what answers as a test says."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
from hypercorn.asyncio import serve
from hypercorn.config import Config
from pydantic import SecretStr

from quarterdeck.local.runtime.simulated import Simulation
from quarterdeck.local.service import LocalService
from tests.client.fakes import Asked, Script

KEY = "sentinel-key"


@contextmanager
def at_an_address(script: Script) -> Iterator[str]:
    """Serve what a function answers, nothing at all for an exception; gives the address."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            url, headers = urlsplit(self.path), httpx.Headers(dict(self.headers))
            found = script(Asked(self.command, url.path, tuple(parse_qsl(url.query)), headers, content))
            if isinstance(found, Exception):
                self.close_connection = True
                return
            self.send_response(found.status)
            lines = {"Content-Type": "application/json", "Content-Length": str(len(found.content)), **found.headers}
            for name, value in lines.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(found.content)

        do_GET = do_POST = do_PATCH = answer  # noqa: N815 - the names that http.server calls

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@contextmanager
def answering(opening: Callable[[], Coroutine[Any, Any, LocalService]]) -> Iterator[str]:
    """Serve a service from a thread of this process; gives the address."""
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    opened, ended = Event(), Event()

    async def answer() -> None:
        service = await opening()
        config = Config.from_mapping(errorlog=None, graceful_timeout=0.1, bind=[f"fd://{listening.detach()}"])
        opened.set()
        await serve(service.app, config, shutdown_trigger=lambda: asyncio.to_thread(ended.wait))
        await service.aclose()

    thread = Thread(target=lambda: asyncio.run(answer()))
    thread.start()
    try:
        assert opened.wait(30)
        yield f"http://127.0.0.1:{port}"
    finally:
        ended.set()
        thread.join()


def keeping(folder: Path, key: str = KEY) -> Callable[[], Coroutine[Any, Any, LocalService]]:
    return lambda: LocalService.open(folder, key=SecretStr(key))


def simulating(sandboxes: int) -> Callable[[], Coroutine[Any, Any, LocalService]]:
    """A simulation in which nothing changes by itself, to be served."""
    return lambda: LocalService.simulated(Simulation(sandboxes, churn=0), key=SecretStr(KEY))


class Program:
    def __init__(self, *arguments: str, **environ: str) -> None:
        command, pipe = [sys.executable, "-m", "quarterdeck", *arguments], subprocess.PIPE
        self.process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env={**os.environ, **environ})
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.out, self.err = self.process.stdout, self.process.stderr

    def ended(self) -> tuple[int, str]:
        """How it ended, and what it still had to say on standard error."""
        rest = self.err.read()
        return self.process.wait(20), rest


@contextmanager
def serving(*arguments: str) -> Iterator[tuple[str, Program]]:
    program = Program("serve", "--port", "0", *arguments)
    try:
        first = program.out.readline()
        assert first.startswith("serving http://127.0.0.1:"), first
        yield first.split()[1], program
    finally:
        program.process.kill()
        program.process.communicate()
