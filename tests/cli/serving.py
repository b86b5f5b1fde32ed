"""Servers in a process of their own, and servers that answer as a test says."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qsl, urlsplit

import httpx

from tests.client.fakes import Answer, Asked

KEY = "sentinel-key"


@contextmanager
def at_an_address(script: Callable[[Asked], Answer]) -> Iterator[str]:
    """Serve what a function answers; gives the address."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            url, headers = urlsplit(self.path), httpx.Headers(dict(self.headers))
            found = script(Asked(self.command, url.path, tuple(parse_qsl(url.query)), headers, content))
            self.send_response(found.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(found.content)))
            self.end_headers()
            self.wfile.write(found.content)

        do_GET = do_POST = answer  # noqa: N815 - the names that http.server calls

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@contextmanager
def serving(*arguments: str, **environ: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address of a local service, and its process."""
    program = [sys.executable, "-m", "quarterdeck", "serve", "--port", "0", *arguments]
    process = subprocess.Popen(program, stdout=subprocess.PIPE, text=True, env={**os.environ, **environ})
    try:
        assert process.stdout is not None
        first = process.stdout.readline()
        assert first.startswith("serving http://127.0.0.1:"), first
        yield first.split()[1], process
    finally:
        process.kill()
        process.communicate()
