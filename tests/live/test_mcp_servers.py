from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.models.mcp import McpConfig, McpServer, ShttpServer, SseServer, StdioServer, listed, name_of
from quarterdeck.client.models.settings import Settings
from quarterdeck.client.nested_mcp import secrets_lost
from tests.live.kit import changed, settings_of, told, unlike

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]

HELD = McpConfig.of(
    (
        SseServer(url="https://one.example/sse", api_key=SecretStr("live-check-1")),
        ShttpServer(url="https://two.example/mcp", api_key=SecretStr("live-check-2"), timeout=30),
        StdioServer(name="three", command="npx", args=("-y", "tool"), env={"TOKEN": SecretStr("live-check-3")}),
    )
)
EVENTS = SseServer(url="https://four.example/events/sse", api_key=SecretStr("live-check-4"))
TOOLS = ShttpServer(url="https://five.example/mcp", timeout=3600)
COMMAND = StdioServer(name="six", command="uvx", args=("tool", "--port", "1"), env={})


@pytest.mark.parametrize(
    ("added", "edit"),
    [(EVENTS, {"api_key": SecretStr("live-check-7")}), (TOOLS, {"timeout": 1}), (COMMAND, {"args": ("--quiet",)})],
    ids=["SSE", "HTTP", "stdio"],
)
async def test_one_comes_changes_and_goes_alone(editable: Client, added: McpServer, edit: Mapping[str, Any]) -> None:
    record = await changed(editable, await settings_of(editable), {"mcp_config": HELD})
    others = servers_of(record)
    typed = HELD if editable.server.nested else record.mcp_config
    for new in ((added,), (added.model_copy(update=edit),), ()):
        sent = McpConfig.of((*listed(typed), *new))
        before, record = record, await changed(editable, record, {"mcp_config": sent})
        assert unlike(before, record) <= {"mcp_config"}
        now = servers_of(record)
        assert {at: now.get(at) for at in others} == others
        assert now.keys() - others.keys() == set(map(name_of, new))
        shown = listed(told(editable, "mcp_config", McpConfig.of(new)))
        assert all(holds(now[name_of(server)], server) for server in shown)
    before, record = record, await changed(editable, record, {"mcp_config": None})
    assert (servers_of(record), unlike(before, record)) == ({}, {"mcp_config"})


async def test_what_a_save_may_lose_is_named_before(editable: Client, notes: list[str]) -> None:
    if not editable.server.nested:
        pytest.skip("this server tells the secrets of MCP servers, so an edit loses none")
    record = await changed(editable, await settings_of(editable), {"mcp_config": HELD})
    loaded = record.mcp_config
    assert loaded is not None
    typed_again = loaded.shttp_servers[0].model_copy(update={"api_key": SecretStr("live-check-8"), "timeout": 31})
    changes = {"mcp_config": loaded.model_copy(update={"shttp_servers": (typed_again,)})}
    lost = set(secrets_lost(record, changes))
    now = await changed(editable, record, changes)
    assert signing_in(record) - signing_in(now) == {"one-example"}
    assert lost == {"one-example", "two-example", "three"}
    two, was = (servers_of(each)["https://two.example/mcp"] for each in (now, record))
    assert two == was.model_copy(update={"timeout": 31})
    notes.append(
        f"mcp_config: {len(lost)} of 3 servers were said to lose what is not typed; the one that tells of a key lost it"
    )


def servers_of(record: Settings) -> dict[str, McpServer]:
    return {name_of(server): server for server in listed(record.mcp_config)}


def holds(found: McpServer, sent: McpServer) -> bool:
    """Whether all that was sent of a server is there; what else is, the real server filled in."""
    members = found.model_dump()
    return all(members.get(name) == value for name, value in sent.model_dump(exclude_unset=True).items())


def signing_in(record: Settings) -> set[str]:
    """Names of the servers that are told to sign in with something."""
    members = ((server.model_extra or {}) for server in listed(record.mcp_config))
    return {str(extra["name"]) for extra in members if extra.get("auth")}
