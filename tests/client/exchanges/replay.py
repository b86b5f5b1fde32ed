"""One recorded exchange as data, and a client of a server that answers just as recorded."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind
from quarterdeck.client.models.server import Generation, KeyState, Server
from quarterdeck.client.settings import UNASKED, rules_of
from tests.client.fakes import Answer, Asked, FakeServer, client_of

FOLDER = Path(__file__).parents[2] / "recordings"
NOT_SENT_BACK = ("secrets_store", "llm_api_key_set", "search_api_key_set", "provider_tokens_set")
SERVERS: Mapping[str, Server] = {
    "1.2.1": UNASKED,
    "1.11.0": Server(
        Generation.NESTED,
        KeyState.ACCEPTED,
        merges=True,
        fields=rules_of(Generation.NESTED, merges=True),
    ),
}


@dataclass(frozen=True)
class Exchange:
    """A request and its answer as they went over the wire."""

    release: str
    method: str
    path: str
    query: Mapping[str, Any]
    body: Any
    answer: Answer

    def value(self, name: str) -> str:
        """A parameter of the query."""
        return str(self.query[name])

    def values(self, name: str) -> list[str]:
        """A parameter that comes several times."""
        found = self.query[name]
        return found if isinstance(found, list) else [found]

    def part(self, place: int) -> str:
        """A part of the path, counted from the end."""
        return self.path.split("/")[-place]

    @property
    def question(self) -> dict[str, Any]:
        """What was asked, in the form of `question_of`."""
        query = {name: self.values(name) for name in self.query if name not in LEFT_TO_SERVER}
        return _form(self.method, self.path, query, self.body)


@cache
def exchange(release: str, name: str) -> Exchange:
    """Read one recorded exchange."""
    (file,) = (file for file in (FOLDER / release).glob("*.json") if _name_of(file) == name)
    recorded = json.loads(file.read_text())
    request, response = recorded["request"], recorded["response"]
    headers = {key: value for key, value in response["headers"].items() if value is not None}
    plain_text = headers.get("content-type", "").startswith("text/plain")
    body = response["body"].encode() if plain_text else response["body"]
    return Exchange(
        release,
        request["method"],
        request["path"],
        request["query"],
        request["body"],
        Answer(body, response["status"], headers),
    )


def _name_of(file: Path) -> str:
    """A file's name without the number in front and the ending."""
    return file.stem.partition("-")[2]


def question_of(asked: Asked) -> dict[str, Any]:
    """What was asked, without what a person at a command line leaves to the server."""
    query: dict[str, list[str]] = {}
    for name, value in asked.query:
        if name not in LEFT_TO_SERVER:
            query.setdefault(name, []).append(value)
    return _form(asked.method, asked.path, query, asked.body if asked.content else None)


def _form(method: str, path: str, query: Mapping[str, list[str]], body: Any) -> dict[str, Any]:
    """A request in a form in which what makes no difference to a server is not there."""
    if isinstance(body, dict):
        body = _settings_form(path, body)
    texts = {name: [str(value) for value in values] for name, values in query.items()}
    return {"method": method, "path": path, "query": texts, "body": body}


def _settings_form(path: str, body: dict[str, Any]) -> dict[str, Any]:
    """A flat record without what servers ignore and with the empty lists we always send; a map out of its wrapper."""
    if path == "/api/settings":
        servers = body.get("mcp_config")
        body = {name: value for name, value in body.items() if value is not None and name not in NOT_SENT_BACK}
        if isinstance(servers, dict):
            body["mcp_config"] = {"sse_servers": [], "stdio_servers": [], "shttp_servers": [], **servers}
    agent = body.get("agent_settings_diff")
    if isinstance(agent, dict) and isinstance(agent.get("mcp_config"), dict):
        servers = agent["mcp_config"]
        body = body | {"agent_settings_diff": agent | {"mcp_config": servers.get("mcpServers", servers)}}
    return body


LEFT_TO_SERVER = frozenset({"limit", "include_sub_conversations"})
"""The page size, and whether parts of conversations are listed."""
Use = Callable[[Client, Exchange], Awaitable[Any]]
Reads = Callable[[Any, Any], bool]


@dataclass(frozen=True)
class Case:
    """What is done with an exchange: `use` makes its request.

    `reads` compares what came of it with the answer's body, `kind` is the error it ends in, `at` the field complained
    of, `sent` whether our client sends it at all; `beside` are answers to what else an operation asks.
    """

    use: Use
    reads: Reads | None = None
    kind: ErrorKind | None = None
    at: tuple[str | int, ...] | None = None
    sent: bool = True
    beside: Mapping[str, Answer] = field(default_factory=dict)
    server: Server | None = None


def does(use: Use, reads: Reads | None = None, beside: Mapping[str, Answer] | None = None) -> Case:
    """An operation that succeeds."""
    return Case(use, reads, beside=beside or {})


def refused(
    use: Use,
    kind: ErrorKind,
    at: tuple[str | int, ...] | None = None,
    *,
    beside: Mapping[str, Answer] | None = None,
    server: Server | None = None,
) -> Case:
    """An operation that the server refuses."""
    return Case(use, kind=kind, at=at, beside=beside or {}, server=server)


def kept_back(use: Use, kind: ErrorKind = ErrorKind.INVALID, beside: Mapping[str, Answer] | None = None) -> Case:
    """An operation that our client refuses before it is sent, since the server would take it."""
    return Case(use, kind=kind, sent=False, beside=beside or {})


def replaying(
    one: Exchange, beside: Mapping[str, Answer] | None = None, server: Server | None = None
) -> tuple[Client, FakeServer]:
    """A client of a server that gives the recorded answer to the recorded question, whatever is asked beside it."""
    client, wire = client_of(
        {f"{one.method} {one.path}": [one.answer]} | {at: [each] for at, each in (beside or {}).items()}
    )
    client.server = server or SERVERS[one.release]
    return client, wire
