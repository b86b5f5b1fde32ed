"""MCP servers disabled, enabled, converted, told apart and freed of duplicates."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from quarterdeck.client.models.mcp import McpConfig, McpServer, ShttpServer, SseServer, StdioServer
from quarterdeck.client.models.server import Generation, KeyState, Server
from quarterdeck.client.models.settings import Settings
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.mcp import Servers, converted
from quarterdeck.settings.merge import merge
from quarterdeck.settings.review import HERE_ONLY, WITH_SECRETS, review
from quarterdeck.settings.words import differences, server_details
from tests.settings.strategies import MARKED_SERVER, counted, marked_drafts

FLAT = Server(Generation.FLAT, KeyState.ACCEPTED, merges=True)
NESTED = Server(Generation.NESTED, KeyState.ACCEPTED, merges=True)
FILES = StdioServer(name="files", command="npx", args=("--token", "secret-a"), env={"K": SecretStr("held")})
TOOLS = SseServer(url="https://a.example/sse")


def test_the_review_says_that_an_edit_of_a_disabled_server_keeps_its_secrets_here() -> None:
    kept = Draft(Settings(), disabled=(StdioServer(name="files", command="npx"),))
    (line,) = review(kept.change_servers(Servers.edit, 0, FILES), FLAT).lines
    assert line.note == f"{HERE_ONLY} {WITH_SECRETS}"


def test_where_secrets_are_not_read_back_disabling_loses_those_that_are_not_typed() -> None:
    stored = Draft(Settings(mcp_config=McpConfig(sse_servers=(TOOLS,))))
    typed = stored.change_servers(Servers.edit, 0, TOOLS.model_copy(update={"api_key": SecretStr("typed")}))
    told = [review(draft.change_servers(Servers.disable, 0), NESTED).losses for draft in (stored, typed)]
    assert all("https://a.example/sse" in loss.words and "only those typed are kept" in loss.words for (loss,) in told)


@given(marked_drafts(), st.lists(MARKED_SERVER, max_size=2))
def test_no_server_is_lost_whatever_is_kept_here(draft: Draft, others: list[McpServer]) -> None:
    known = merge(draft, draft.base, draft.servers.to_keep_here).draft
    assert all(
        known.servers.to_keep_here.count(server) >= draft.servers.to_keep_here.count(server)
        for server in draft.servers.to_keep_here
    )
    assert counted(entry.server for entry in known.servers.remaining) == counted(
        entry.server for entry in draft.servers.remaining
    )
    beside = merge(draft, draft.base, (*draft.disabled, *others)).draft
    held = [entry.kept for entry in beside.servers.entries]
    assert all(held.count(server) >= others.count(server) for server in others)


def remote(**more: Any) -> McpServer:
    return ShttpServer.model_validate({"url": "https://a.example/mcp", "name": "tools", **more})


@pytest.mark.parametrize(
    ("now", "words"),
    [
        (remote(headers={"X-Key": "secret-c"}), ["header X-Key new value"]),
        (remote(headers={"X-Key": SecretStr("secret-a")}), []),
        (remote(headers={"X-Key": "secret-a", "X-Team": "t"}), ["header X-Team added"]),
        (remote(), ["header X-Key removed"]),
        (remote(headers={"X-Key": "secret-a"}, cwd="/srv"), ["cwd /srv"]),
        (remote(headers={"X-Key": "secret-a"}, auth={"value": "secret-c"}), ["auth added"]),
        (remote(headers={"X-Key": "secret-a"}, api_key="secret-d"), ["key added"]),
    ],
)
def test_the_parts_of_a_server_that_differ_are_named_without_a_secret(now: McpServer, words: list[str]) -> None:
    assert differences(remote(headers={"X-Key": "secret-a"}), now)[1] == words


def test_a_type_and_hidden_values_that_differ_are_named() -> None:
    http = converted(TOOLS)
    assert http is not None
    assert differences(TOOLS, http) == (["type SSE"], ["type HTTP", "time-out default"])
    now = FILES.model_copy(update={"args": ("--token", "secret-c"), "env": {"L": SecretStr("secret-d")}})
    assert differences(FILES, now) == ([], ["a hidden part of the command changed", "K removed", "L added"])


@pytest.mark.parametrize(
    ("server", "words"),
    [
        (StdioServer(name="files", command="npx", args=("-y", "--root", "/a b", "")), "npx -y --root '/a b' ''"),
        # losses name a server by the name it is stored under
        (SseServer.model_validate({"url": "https://a.example", "name": "tools"}), "tools"),
        (ShttpServer.model_validate({"url": "https://b", "name": "b", "timeout": 9}), "b · time-out 9 s"),
    ],
)
def test_an_argument_with_blanks_reads_as_one_and_an_address_with_a_name_as_that(server: McpServer, words: str) -> None:
    assert server_details(server) == words
