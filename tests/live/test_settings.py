"""Every setting on real servers: set, unset, and no other changed; and secrets, tokens and profiles beside them."""

import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import pytest
import pytest_asyncio
from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind
from quarterdeck.client.models.enums import GitProvider
from quarterdeck.client.models.mcp import McpConfig, McpServer, ShttpServer, SseServer, StdioServer, listed, name_of
from quarterdeck.client.models.settings import SECRET_FIELDS, Profile, Profiles, ProviderToken, Settings
from quarterdeck.client.nested_mcp import secrets_lost
from quarterdeck.client.options import SchemaField
from quarterdeck.client.settings import losses
from tests.live.kit import FLAGS, changed, has, refused, settings_of, shown, told, unlike

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]
VALUES: Mapping[str, tuple[Any, Any]] = {
    "llm_model": ("openai/gpt-4o", "anthropic/claude-sonnet-4-5"),
    "llm_api_key": (SecretStr("live-check-1"), SecretStr("live-check-2")),
    "llm_base_url": ("https://llm.example/v1", "https://gateway.example/v1"),
    "search_api_key": (SecretStr("tvly-live-check-1"), SecretStr("tvly-live-check-2")),
    "agent": ("CodeActAgent", "BrowsingAgent"),
    "max_iterations": (77, 1),
    "max_budget_per_task": (2.5, 40.0),
    "confirmation_mode": (True, False),
    "security_analyzer": ("llm", "none"),
    "enable_default_condenser": (False, True),
    "condenser_max_size": (20, 131),
    "sandbox_base_container_image": ("registry.example:5000/base/image:1.0", "python:3.13"),
    "sandbox_runtime_container_image": ("registry.example/runtime:2", "runtime:latest"),
    "remote_runtime_resource_factor": (2, 1),
    "sandbox_api_key": (SecretStr("live-check-3"), SecretStr("live-check-4")),
    "sandbox_grouping_strategy": ("ADD_TO_ANY", "NO_GROUPING"),
    "git_user_name": ("Åsa Öberg", "Quarterdeck"),
    "git_user_email": ("asa@example.org", "deck@example.org"),
    "language": ("de", "zh-CN"),
    "enable_sound_notifications": (True, False),
    "enable_proactive_conversation_starters": (False, True),
    "enable_solvability_analysis": (False, True),
    "user_consents_to_analytics": (True, False),
    "email": ("ann@example.org", "bob@example.org"),
    "email_verified": (True, False),
    "disabled_skills": (["github"], ["docker", "npm"]),
    "git_full_clone": (True, False),
}
"""Two for each field that is typed in one line; MCP servers and provider tokens have tests of their own."""
LEAVES: Mapping[str, tuple[Any, ...]] = {
    "agent_settings.verification.critic_model_name": ("live-check", "Åsa's critic"),
    "agent_settings.verification.critic_api_key": (SecretStr("live-check-5"), SecretStr("live-check-6")),
    "agent_settings.condenser.keep_first": (3, 4),
    "agent_settings.llm.temperature": (0.25, 1),
    "agent_settings.llm.reasoning_effort": ("low", "medium", "high"),
    "agent_settings.enable_sub_agents": (True, False),
    "agent_settings.tools": ([], [{"name": "terminal", "params": {}}]),
    "agent_settings.llm.extra_headers": ({"X-One": "1", "X-Two": "2"}, {"X-Two": "3"}),
}
"""Values for a setting of each type that only a server's own forms know, and that it only keeps.

It acts on some others at every load: one that names a tokenizer is looked up on the network, for minutes where none is.
"""
TRIED: Mapping[str, Sequence[Any]] = {**VALUES, **LEAVES}


@pytest.mark.parametrize("name", TRIED)
async def test_each_is_set_and_unset_and_no_other_changes(
    editable: Client, schema: Mapping[str, SchemaField], notes: list[str], name: str
) -> None:
    record = await existing(editable, name)
    if name == "llm_model":  # of an address that nobody stored, servers show or hide their own with the model
        record = await changed(editable, record, {"llm_base_url": "https://llm.example/v1"})
    tried = list(TRIED[name])
    if "." in name:
        assert schema[name].secret is isinstance(tried[0], SecretStr)
        tried = [choice.value for choice in schema[name].choices] or tried
    held, seen_at = shown(record, name), FLAGS.get(name, name)
    for value in sorted(tried, key=lambda value: bool(value == held)):
        gone = {loss.field for loss in losses(record, {name: value}, editable.server)} & {"llm_base_url"}
        before, record = record, await changed(editable, record, {name: value})
        assert shown(record, name) == told(editable, name, value)
        moved = {seen_at} if shown(before, name) != shown(record, name) else set()
        assert unlike(before, record) == {*moved, *gone}
    if await unset(editable, record, name):
        before, record = record, await settings_of(editable)
        empty = (False,) if name in FLAGS else (schema[name].default,) if "." in name else (None, "")
        assert shown(record, name) in empty
        assert unlike(before, record) <= {seen_at}
        if name in SECRET_FIELDS:
            found = "its flag says so" if name in FLAGS else "the server tells nothing of it"
            notes.append(f"{name}: {editable.server.rules(name).clear_with!r} clears it at once; {found}")


async def existing(client: Client, name: str) -> Settings:
    """The record as it is now; skips for a field that this server does not have, which the client must refuse."""
    record, server = await settings_of(client), client.server
    if has(name, record, server):
        return record
    if not server.rules(name).present:
        with refused(ErrorKind.INVALID, unsent=True):
            await client.settings.store(record, {name: VALUES[name][0]})
    pytest.skip(f"this server has no {name}")


async def unset(client: Client, record: Settings, name: str) -> bool:
    """Unset a field, or see the client refuse it where the server would not do it; says which."""
    changes: dict[str, Any] = {name: None}
    if client.server.rules(name).clearable:
        await client.settings.store(record, changes)
        return True
    with refused(ErrorKind.INVALID, unsent=True):
        await client.settings.store(record, changes)
    return False


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
async def test_a_tool_server_comes_and_goes_alone(editable: Client, added: McpServer, edit: Mapping[str, Any]) -> None:
    record = await changed(editable, await settings_of(editable), {"mcp_config": HELD})
    others, typed = servers_of(record), HELD if editable.server.nested else record.mcp_config
    for new in ((added,), (added.model_copy(update=edit),), ()):
        before, record = record, await changed(editable, record, {"mcp_config": McpConfig.of((*listed(typed), *new))})
        assert unlike(before, record) <= {"mcp_config"}
        now = servers_of(record)
        assert {at: now.get(at) for at in others} == others
        assert now.keys() - others.keys() == set(map(name_of, new))
        shown = listed(told(editable, "mcp_config", McpConfig.of(new)))
        assert all(holds(now[name_of(server)], server) for server in shown)
    before, record = record, await changed(editable, record, {"mcp_config": None})
    assert (servers_of(record), unlike(before, record)) == ({}, {"mcp_config"})


async def test_what_a_save_of_tool_servers_may_lose_is_named_before(editable: Client, notes: list[str]) -> None:
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
    notes.append(f"mcp_config: of 3 servers {len(lost)} were said to lose what is not typed; one with a key lost it")


def servers_of(record: Settings) -> dict[str, McpServer]:
    return {name_of(server): server for server in listed(record.mcp_config)}


def holds(found: McpServer, sent: McpServer) -> bool:
    """Whether all that was sent of a server is there; what else is, the real server filled in."""
    return all(found.model_dump().get(name) == value for name, value in sent.model_dump(exclude_unset=True).items())


def signing_in(record: Settings) -> set[str]:
    members = ((server.model_extra or {}) for server in listed(record.mcp_config))
    return {str(extra["name"]) for extra in members if extra.get("auth")}


async def described(client: Client) -> dict[str, str | None]:
    return {secret.name: secret.description or None for secret in await client.secrets.list()}


@pytest_asyncio.fixture(loop_scope="session")
async def name(client: Client) -> AsyncIterator[str]:
    """A name that no secret has; secrets whose names begin with it are deleted afterwards."""
    name = f"LIVE_CHECK_{secrets.token_hex(4).upper()}"
    yield name
    for left in [secret.name for secret in await client.secrets.list() if secret.name.startswith(name)]:
        await client.secrets.delete(left)


async def test_a_secret_is_created_described_renamed_and_deleted(client: Client, name: str) -> None:
    others = await described(client)
    await client.secrets.create(name, SecretStr("live-check-1"), "first words")
    unknown = f"{name}_OTHER"
    for attempt in (client.secrets.delete(unknown), client.secrets.update(unknown, new_name=unknown, description="x")):
        with refused(ErrorKind.MISSING):
            await attempt
    with refused(ErrorKind.CONFLICT, unsent=True):
        await client.secrets.create(name, SecretStr("live-check-2"), "other words")
    schema_version = (await settings_of(client)).leaves.get("agent_settings.schema_version", 0)
    with nullcontext() if schema_version >= 4 else refused(ErrorKind.NOT_OFFERED, unsent=not client.server.nested):
        await client.secrets.replace_value(name, SecretStr("live-check-2"))
    assert await described(client) == {**others, name: "first words"}
    await client.secrets.update(name, new_name=name, description="other words")
    assert await described(client) == {**others, name: "other words"}
    await client.secrets.update(name, new_name=f"{name}_NEW", description="other words")
    assert await described(client) == {**others, f"{name}_NEW": "other words"}
    await client.secrets.delete(f"{name}_NEW")
    assert await described(client) == others


async def test_a_token_that_its_provider_refuses_says_nothing_of_the_key(client: Client, notes: list[str]) -> None:
    before = await settings_of(client)
    if before.provider_tokens_set:
        pytest.skip("tokens are stored that could not be put back")
    with refused(ErrorKind.INVALID):
        await client.secrets.set_tokens({GitProvider.GITHUB: ProviderToken(token=SecretStr("live-check"))})
    assert await client.settings.load() == before
    await client.secrets.clear_tokens()
    assert await client.settings.load() == before
    notes.append("provider tokens: a refused one is reported as invalid, and the key as good")


@pytest_asyncio.fixture(loop_scope="session")
async def profile_name(editable: Client) -> AsyncIterator[str]:
    """A name that no profile has; profiles whose names begin with it are deleted, and the active one is so again."""
    if not editable.server.nested:
        with refused(ErrorKind.NOT_OFFERED, unsent=True):
            await editable.profiles.list()
        pytest.skip("this server keeps no LLM profiles")
    name, active = f"live-check-{secrets.token_hex(4)}", (await editable.profiles.list()).active
    yield name
    for left in [profile.name for profile in (await editable.profiles.list()).items if profile.name.startswith(name)]:
        await editable.profiles.delete(left)
    if active is not None:
        await editable.profiles.activate(active)


def found(profiles: Profiles, name: str) -> Profile | None:
    return next((profile for profile in profiles.items if profile.name == name), None)


async def test_a_profile_is_saved_activated_renamed_and_deleted(editable: Client, profile_name: str) -> None:
    client, name, other = editable, profile_name, f"{profile_name}-2"
    for attempt in (client.profiles.activate(name), client.profiles.rename(name, other)):
        with refused(ErrorKind.MISSING):
            await attempt
    record = await changed(client, await settings_of(client), {"llm_model": "openai/gpt-4o"})
    for saved in (name, other):
        await client.profiles.save(saved)
    with refused(ErrorKind.CONFLICT):
        await client.profiles.rename(name, other)
    profile = found(await client.profiles.list(), name)
    assert (profile and profile.model) == "openai/gpt-4o"
    record = await changed(client, record, {"llm_model": "openai/gpt-4.1"})
    assert (await client.profiles.list()).active is None
    await client.profiles.activate(name)
    assert (await client.profiles.list()).active == name
    assert (await settings_of(client)).llm_model == "openai/gpt-4o"
    await client.profiles.rename(name, f"{name}.new")
    profiles = await client.profiles.list()
    assert (found(profiles, name), profiles.active) == (None, f"{name}.new")
    await client.profiles.delete(f"{name}.new")
    assert found(await client.profiles.list(), f"{name}.new") is None
