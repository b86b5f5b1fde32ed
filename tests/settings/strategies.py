"""Settings records, MCP lists and drafts for property tests: few values, so that the three sides often meet."""

import json
import shlex
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from itertools import chain
from typing import Any

from hypothesis import strategies as st
from pydantic import SecretStr

from quarterdeck.client.models.mcp import McpConfig, McpServer, ShttpServer, SseServer, StdioServer
from quarterdeck.client.models.settings import Settings
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.fields import Problem
from quarterdeck.settings.mcp import Servers
from quarterdeck.settings.mcp_server import as_data

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
FILES = StdioServer(name="files", command="npx", env={"K": SecretStr("held")})
WORDS = st.sampled_from(["a", "b", "c"])
PLAIN_FIELDS = {
    "language": st.none() | st.sampled_from(["en", "de", "fr"]),
    "agent": st.none() | WORDS,
    "max_iterations": st.none() | st.integers(1, 3),
    "max_budget_per_task": st.none() | st.sampled_from([1.0, 2.5]),
    "confirmation_mode": st.none() | st.booleans(),
    "enable_sound_notifications": st.booleans(),
    "git_user_name": st.none() | WORDS,
}
FLAGS = {"llm_api_key_set": st.booleans(), "search_api_key_set": st.booleans()}
RECORDS = st.builds(Settings, **PLAIN_FIELDS, **FLAGS)
Edits = list[tuple[str, object]]
EDITS = st.lists(st.one_of(*(st.tuples(st.just(key), values) for key, values in PLAIN_FIELDS.items())), max_size=6)
MARK = "zqx"  # what every secret of the marked servers begins with, and nothing else holds
MARKED = st.integers(0, 9).map(lambda number: f"{MARK}{number}")
MARKED_KEYS = st.none() | MARKED.map(SecretStr)
MARKED_ADDRESSES = st.builds(
    "https://{}{}.example/mcp{}".format,
    st.just("") | MARKED.map("u:{}@".format),
    st.sampled_from(["a", "b"]),
    st.just("") | MARKED.map("?site=x&token={}".format) | MARKED.map("#{}".format),
)
ARGUMENTS = ["-y", "pkg", "--port 80", "--token {}", "--api-key={}", "-e A_SECRET={}", "-H 'Authorization: Bearer {}'"]
ARGUMENTS += ["'--header=X-Key: {}'", "https://u:{}@a.example/", "--url=https://a.example/?key={}"]
SPLIT = st.builds(lambda words, secret: shlex.split(words.format(secret)), st.sampled_from(ARGUMENTS), MARKED)
UNKNOWN = st.fixed_dictionaries(
    {},
    optional={
        "cwd": st.just("/work"),
        "headers": MARKED.map(lambda secret: {"X-Key": secret}),
        "auth": MARKED.map(lambda secret: {"strategy": "api_key", "header_name": "X", "value": secret}),
        "options": MARKED.map(lambda secret: {"deep": [{"x": secret, "port": 1}, secret, "*", None]}),
    },
)


def _servers(kind: Callable[..., McpServer], **members: st.SearchStrategy[Any]) -> st.SearchStrategy[McpServer]:
    return st.builds(lambda more, **own: kind(**own, **more), UNKNOWN, **members)


MARKED_REMOTE: dict[str, st.SearchStrategy[Any]] = {"url": MARKED_ADDRESSES, "api_key": MARKED_KEYS}
MARKED_SERVER = st.one_of(
    _servers(SseServer, **MARKED_REMOTE),
    _servers(ShttpServer, **MARKED_REMOTE, timeout=st.none() | st.integers(1, 3)),
    _servers(
        StdioServer,
        name=st.sampled_from(["a", "b", "a-2"]),
        command=st.sampled_from(["npx", "uvx"]),
        args=st.lists(SPLIT, max_size=3).map(lambda parts: tuple(chain.from_iterable(parts))),
        env=st.dictionaries(st.sampled_from(["K", "L"]), MARKED.map(SecretStr), max_size=2),
    ),
)
MARKED_RECORDS = st.builds(
    Settings,
    mcp_config=st.lists(MARKED_SERVER, max_size=4).map(McpConfig.of),
    llm_base_url=st.none() | MARKED_ADDRESSES,
    **PLAIN_FIELDS,
    **FLAGS,
)
SECRET_EDITS = st.tuples(st.sampled_from(["llm_api_key", "search_api_key", "sandbox_api_key"]), MARKED_KEYS)
ADDRESS_EDITS = st.tuples(st.just("llm_base_url"), st.none() | MARKED_ADDRESSES)


@st.composite
def marked_drafts(draw: st.DrawFn, *, secrets: bool = True) -> Draft:
    """A draft with disabled servers and edits of all kinds; without `secrets` no field of that kind is edited."""
    disabled = tuple(draw(st.lists(MARKED_SERVER, max_size=2)))
    draft = edited(Draft(draw(MARKED_RECORDS), disabled=disabled), draw(EDITS))
    if secrets:
        draft = edited(draft, draw(st.lists(SECRET_EDITS | ADDRESS_EDITS, max_size=2)))
    for entry in draft.servers.entries:
        match draw(st.sampled_from(["keep", "remove", "edit", "disable"])):
            case "remove":
                draft = draft.change_servers(Servers.remove, entry.row)
            case "edit":
                draft = draft.change_servers(Servers.edit, entry.row, draw(MARKED_SERVER))
            case "disable" if entry.disabled:
                draft = draft.change_servers(Servers.enable, entry.row)
            case "disable":
                draft = draft.change_servers(Servers.disable, entry.row, with_secrets=draw(st.booleans()))
    for server in draw(st.lists(MARKED_SERVER, max_size=2)):
        draft = draft.change_servers(Servers.add, server, after=draw(st.none() | st.integers(0, 3)))
    return draft


def counted(servers: Iterable[McpServer]) -> Counter[str]:
    """How often each server is there, with the secrets in it."""
    return Counter(json.dumps(as_data(server), sort_keys=True) for server in servers)


def saved(draft: Draft) -> Draft:
    """What is there once a draft has been saved on a server that does just what it is asked."""
    told = {f"{key}_set": value is not None for key, value in draft.changes.items() if f"{key}_set" in FLAGS}
    plain = {key: value for key, value in draft.changes.items() if not draft.field_at(key).secret}
    return Draft((draft.base or Settings()).model_copy(update=plain | told), disabled=draft.servers.to_keep_here)


def errors(draft: Draft) -> list[Problem]:
    return [problem for problem in draft.problems if problem.stops]


def edited(draft: Draft, edits: Edits) -> Draft:
    for key, value in edits:
        draft = draft.set(key, value)
    return draft
