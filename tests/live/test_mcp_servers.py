"""MCP servers on a real server: each transport added, edited and removed while the others stay as they are."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.models.mcp import McpConfig, McpServer, ShttpServer, SseServer, StdioServer
from quarterdeck.client.models.settings import Settings
from quarterdeck.client.nested_mcp import secrets_lost
from tests.live.conftest import Notes
from tests.live.kit import changed, settings_of, told, unlike

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]

HELD = McpConfig(
    sse_servers=(SseServer(url="https://one.example/sse", api_key=SecretStr("live-check-1")),),
    shttp_servers=(ShttpServer(url="https://two.example/mcp", api_key=SecretStr("live-check-2"), timeout=30),),
    stdio_servers=(
        StdioServer(name="three", command="npx", args=("-y", "tool"), env={"TOKEN": SecretStr("live-check-3")}),
    ),
)
ADDED: Mapping[str, McpServer] = {
    "sse_servers": SseServer(url="https://four.example/events/sse", api_key=SecretStr("live-check-4")),
    "shttp_servers": ShttpServer(url="https://five.example/mcp", timeout=3600),
    "stdio_servers": StdioServer(name="six", command="uvx", args=("tool", "--port", "1"), env={}),
}
EDITS: Mapping[str, Mapping[str, Any]] = {
    "sse_servers": {"api_key": SecretStr("live-check-7")},
    "shttp_servers": {"timeout": 1},
    "stdio_servers": {"args": ("--quiet",)},
}


@pytest.mark.parametrize("kind", ADDED)
async def test_one_is_added_edited_and_removed_and_the_others_stay(editable: Client, kind: str) -> None:
    record = await changed(editable, await settings_of(editable), {"mcp_config": HELD})
    others = servers_of(record)
    typed = HELD if editable.server.nested else config_of(record)
    new = ADDED[kind]
    steps = {"added": (new,), "edited": (new.model_copy(update=EDITS[kind]),), "removed": ()}
    for step, of_kind in steps.items():
        sent = typed.model_copy(update={kind: (*getattr(typed, kind), *of_kind)})
        before, record = record, await changed(editable, record, {"mcp_config": sent})
        assert unlike(before, record) <= {"mcp_config"}, step
        now = servers_of(record)
        assert {at: now.get(at) for at in others} == others, step
        assert now.keys() - others.keys() == set(map(place, of_kind)), step
        assert all(holds(now[place(server)], server) for server in after_store(editable, kind, of_kind)), step


async def test_what_the_client_says_would_be_lost_is_lost_and_nothing_else(editable: Client, notes: Notes) -> None:
    if not editable.server.nested:
        pytest.skip("this server tells the secrets of MCP servers, so an edit loses none")
    record = await changed(editable, await settings_of(editable), {"mcp_config": HELD})
    loaded = config_of(record)
    typed_again = loaded.shttp_servers[0].model_copy(update={"api_key": SecretStr("live-check-8"), "timeout": 31})
    changes = {"mcp_config": loaded.model_copy(update={"shttp_servers": (typed_again,)})}
    lost = set(secrets_lost(record, changes))
    now = await changed(editable, record, changes)
    assert signing_in(record) - signing_in(now) == lost & signing_in(record)
    assert "three" in lost
    assert servers_of(now)["https://two.example/mcp"] == servers_of(record)["https://two.example/mcp"].model_copy(
        update={"timeout": 31}
    )
    notes.add(f"mcp_config: {len(lost)} of 3 servers were said to lose their secrets; those that tell of one lost it")


async def test_all_of_them_can_be_taken_away(editable: Client) -> None:
    record = await changed(editable, await settings_of(editable), {"mcp_config": HELD})
    now = await changed(editable, record, {"mcp_config": None})
    assert servers_of(now) == {}
    assert unlike(record, now) == {"mcp_config"}


def config_of(record: Settings) -> McpConfig:
    return record.mcp_config or McpConfig()


def servers_of(record: Settings) -> dict[str, McpServer]:
    return {place(server): server for server in every(config_of(record))}


def every(config: McpConfig) -> Iterable[McpServer]:
    return (*config.sse_servers, *config.shttp_servers, *config.stdio_servers)


def place(server: McpServer) -> str:
    return server.name if isinstance(server, StdioServer) else server.url


def after_store(client: Client, kind: str, servers: Iterable[McpServer]) -> Iterable[McpServer]:
    """What a load of this server says of MCP servers that were sent."""
    found: McpConfig = told(client, "mcp_config", McpConfig.model_validate({kind: tuple(servers)}))
    return every(found)


def holds(found: McpServer, sent: McpServer) -> bool:
    """Whether all that was sent of a server is there; what else is, the real server filled in."""
    members = found.model_dump()
    return all(members.get(name) == value for name, value in sent.model_dump(exclude_unset=True).items())


def signing_in(record: Settings) -> set[str]:
    """Names of the servers that are told to sign in with something."""
    members = ((server.model_extra or {}) for server in every(config_of(record)))
    return {str(extra["name"]) for extra in members if extra.get("auth")}
