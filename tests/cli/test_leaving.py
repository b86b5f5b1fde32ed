"""Leaving while the server has not answered what was asked of it, in a terminal, with a server on a port."""

import json
import signal
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest

from tests.client.fakes import Answer, Asked
from tests.conftest import Home
from tests.tui.fake_fleet import FakeFleet

from .pty_kit import Terminal, quarterdeck

WAITS = "waiting for the answer to: start of default-spec; ctrl+q again leaves now"


class Silent(BaseHTTPRequestHandler):
    """A server with a fleet that never answers a POST."""

    fleet = FakeFleet()
    over = threading.Event()

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        query = tuple(parse_qsl(url.query))
        answer = self.fleet.answer(Asked("GET", url.path, query, httpx.Headers(dict(self.headers)), b""))
        assert isinstance(answer, Answer)
        body = json.dumps(answer.body).encode()
        self.send_response(answer.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.over.wait(30)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def address() -> Iterator[str]:
    Silent.over.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Silent) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        Silent.over.set()
        server.shutdown()


def starting(terminal: Terminal) -> None:
    terminal.shows("No conversations.")
    terminal.press("2")
    terminal.shows("No sandboxes.")
    terminal.press("n")
    terminal.shows("default-spec  (default)")
    terminal.press("enter")
    terminal.shows("Starting a sandbox from default-spec")


@pytest.mark.parametrize("again", [True, False])
def test_it_leaves_with_one_line_and_status_one(home: Home, address: str, again: bool) -> None:
    with Terminal(*quarterdeck("--url", address), columns=120) as terminal:
        starting(terminal)
        terminal.press("ctrl+q")
        terminal.shows(WAITS)
        began = time.monotonic()
        if again:
            terminal.press("ctrl+q")
        assert terminal.ends() == 1
        assert again or time.monotonic() - began > 2
        said = terminal.output.decode().rpartition("\x1b")[2]
        assert said.count("left without the answer to: start of default-spec; look whether it happened.") == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_waits_for_nothing(home: Home, address: str, number: signal.Signals) -> None:
    with Terminal(*quarterdeck("--url", address), columns=120) as terminal:
        starting(terminal)
        began = time.monotonic()
        terminal.process.send_signal(number)
        assert terminal.ends() == 128 + number
        assert time.monotonic() - began < 2.5
