"""Programs of their own and servers on a port: the local service, and what answers as a test says."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qsl, urlsplit

import httpx

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

        do_GET = do_POST = do_PATCH = do_DELETE = answer  # noqa: N815 - the names that http.server calls

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Program:
    def __init__(self, *arguments: str, **environ: str) -> None:
        command, pipe = [sys.executable, "-m", "quarterdeck", *arguments], subprocess.PIPE
        heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # also where a shell has the tests run behind
        env = {**os.environ, **environ}
        self.process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=env, preexec_fn=heed)
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.out, self.err = self.process.stdout, self.process.stderr

    def ended(self) -> tuple[int, str]:
        """How it ended, and what it still had to say on standard error."""
        rest = self.err.read()
        return self.process.wait(20), rest


@contextmanager
def nohup() -> Iterator[None]:
    """Have programs that are started meanwhile ignore the end of their terminal."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGHUP, before)


@contextmanager
def serving(*arguments: str, **environ: str) -> Iterator[tuple[str, Program]]:
    program = Program("serve", "--port", "0", *arguments, **environ)
    try:
        first = program.out.readline()
        assert first.startswith("serving http://127.0.0.1:"), first
        yield first.split()[1], program
    finally:
        program.process.kill()
        program.process.communicate()


@contextmanager
def keyed(*arguments: str, key: str = KEY, **environ: str) -> Iterator[str]:
    """Serve the local service with a key; gives the address."""
    with serving(*arguments, QUARTERDECK_API_KEY=key, **environ) as (url, _):
        yield url


def simulating(sandboxes: int) -> AbstractContextManager[str]:
    """Serve a simulation in which nothing changes by itself."""
    return keyed("--simulate", str(sandboxes), "--churn", "0")
