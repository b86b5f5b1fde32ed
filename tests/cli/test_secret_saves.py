"""A secret given to `settings set` is accepted where the server said yes to it, and else not known: never verified."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from quarterdeck.client.flat import KNOWN_BY
from tests.cli.conftest import Run


class Service(ThreadingHTTPServer):
    """A flat server that has a model key and says `status` to every store, without keeping anything."""

    status = 200

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.stored: list[Any] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Service

    def do_GET(self) -> None:
        record = {"llm_model": "a/b", "llm_api_key_set": True, **dict.fromkeys(KNOWN_BY)}
        self._answer(*((200, record) if self.path == "/api/settings" else (404, {"detail": "Not Found"})))

    def do_POST(self) -> None:
        self.server.stored.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self._answer(self.server.status, {"message": "Settings stored"})

    def _answer(self, status: int, content: object) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing."""


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


def test_a_key_the_server_said_yes_to_is_accepted(run: Run, service: Service) -> None:
    ended = run("--url", service.url, "settings", "set", "llm_api_key=-", typed="sentinel-key")
    assert (ended.status, ended.out) == (0, "1 accepted\n")
    assert [body["llm_api_key"] for body in service.stored] == ["sentinel-key"]


def test_a_key_the_server_never_said_yes_to_is_not_known(run: Run, service: Service) -> None:
    service.status = 500
    ended = run("--url", service.url, "settings", "set", "llm_api_key=-", "--json", typed="sentinel-key")
    assert ended.status == 1
    assert (ended.json["verified"], ended.json["accepted"], ended.json["not_known"]) == (0, 0, ["llm_api_key"])
    assert "Not known whether it is stored: API key." in ended.err
    assert "sentinel" not in ended.out + ended.err
