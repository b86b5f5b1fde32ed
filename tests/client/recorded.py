"""Recorded exchanges with real servers: each as data, and a client of a server that answers just as recorded."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from quarterdeck.client.client import Client
from quarterdeck.client.models.settings import LOAD_ONLY
from tests.client import fakes
from tests.client.fakes import Answer, Asked, FakeServer, client_of

FOLDER = Path(__file__).parents[1] / "recordings"
FLAT, NESTED = "1.2.1", "1.11.0"
SERVERS, LEFT_TO_SERVER = {FLAT: fakes.FLAT, NESTED: fakes.NESTED}, frozenset({"limit", "include_sub_conversations"})
"""The page size, and whether parts of conversations are listed."""


class Exchange(NamedTuple):
    release: str
    method: str
    path: str
    query: Mapping[str, Any]
    body: Any
    answer: Answer

    def values(self, name: str) -> list[str]:
        """A parameter of the query that may come several times."""
        found = self.query[name]
        return found if isinstance(found, list) else [found]

    def part(self, place: int) -> str:
        return self.path.split("/")[-place]

    @property
    def question(self) -> dict[str, Any]:
        return _form(self.method, self.path, {name: self.values(name) for name in self.query}, self.body)


@cache
def exchange(release: str, name: str) -> Exchange:
    """Read one recorded exchange; its file has a number before the name."""
    (file,) = (file for file in (FOLDER / release).glob("*.json") if file.stem.partition("-")[2] == name)
    recorded = json.loads(file.read_text())
    request, response = recorded["request"], recorded["response"]
    headers = {key: value for key, value in response["headers"].items() if value is not None}
    body = response["body"].encode() if headers.get("content-type", "").startswith("text/plain") else response["body"]
    answer = Answer(body, response["status"], headers)
    return Exchange(release, request["method"], request["path"], request["query"], request["body"], answer)


def question_of(asked: Asked) -> dict[str, Any]:
    """What was asked, in a form in which what makes no difference to a server is not there."""
    query: dict[str, list[str]] = {}
    for name, value in asked.query:
        query.setdefault(name, []).append(value)
    return _form(asked.method, asked.path, query, asked.body if asked.content else None)


def _form(method: str, path: str, query: Mapping[str, list[str]], body: Any) -> dict[str, Any]:
    """A flat record without what servers ignore and with the lists that we always send; a map out of its wrapper."""
    if path == "/api/settings" and isinstance(body, dict):
        ignored = LOAD_ONLY | {"secrets_store"}
        lists: dict[str, Any] = {"sse_servers": [], "stdio_servers": [], "shttp_servers": []}
        body = {name: value for name, value in body.items() if value is not None and name not in ignored}
        body |= {"mcp_config": lists | body["mcp_config"]} if "mcp_config" in body else {}
    agent = body.get("agent_settings_diff") if isinstance(body, dict) else None
    if isinstance(agent, dict) and isinstance(agent.get("mcp_config"), dict):
        servers = agent["mcp_config"]
        body = body | {"agent_settings_diff": agent | {"mcp_config": servers.get("mcpServers", servers)}}
    texts = {name: [str(value) for value in values] for name, values in query.items() if name not in LEFT_TO_SERVER}
    return {"method": method, "path": path, "query": texts, "body": body}


def replaying(*exchanges: Exchange) -> tuple[Client, FakeServer]:
    """A client of a server that gives the recorded answers, which it takes for one of their release."""
    answers = {f"{each.method} {each.path}": [each.answer] for each in exchanges}
    return client_of(answers, server=SERVERS[exchanges[0].release])
