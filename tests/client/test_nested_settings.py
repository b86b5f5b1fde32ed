import itertools
import json
import math
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.models.mcp import McpConfig, SseServer, StdioServer
from quarterdeck.client.models.settings import Loss, Settings
from quarterdeck.client.nested import PLACES
from quarterdeck.client.nested_mcp import config_of, map_of, secrets_lost
from quarterdeck.client.settings import losses
from tests.client.fakes import NESTED, Answer, client_of, error_of
from tests.client.settings_servers import NestedServer
from tests.servers.nested.record import ADDRESSES

LLM, client_to = "agent_settings.llm", partial(client_of, server=NESTED)


async def loaded(client: Client) -> Settings:
    settings = await client.settings.load()
    assert settings
    return settings


async def stored(keeper: NestedServer, changes: dict[str, Any]) -> tuple[Settings, list[Any]]:
    """What is loaded after a change, and the bodies that were sent."""
    client, wire = client_to(keeper)
    await client.settings.store(await loaded(client), changes)
    return await loaded(client), [asked.body for asked in wire.sent("POST")]


async def refused(changes: dict[str, Any], keeper: NestedServer | None = None) -> ServiceError:
    client, wire = client_to(keeper or NestedServer())
    error = await error_of(client.settings.store(await loaded(client), changes))
    assert (error.kind, error.outcome, wire.sent("POST")) == (ErrorKind.INVALID, Outcome.NOT_SENT, [])
    return error


@pytest.mark.parametrize(
    ("changes", "body"),
    [
        ({"language": "fr"}, {"language": "fr"}),
        ({"agent": "Other"}, {"agent_settings_diff": {"agent": "Other"}}),
        ({"llm_api_key": SecretStr("sk")}, {"agent_settings_diff": {"llm": {"api_key": "sk"}}}),
        ({"search_api_key": None}, {"search_api_key": None}),
        ({"enable_default_condenser": False}, {"agent_settings_diff": {"condenser": {"enabled": False}}}),
        ({f"{LLM}.temperature": None}, {"agent_settings_diff": {"llm": {"temperature": None}}}),
        ({f"{LLM}.aws_session_token": SecretStr("t")}, {"agent_settings_diff": {"llm": {"aws_session_token": "t"}}}),
        ({"mcp_config": None}, {"agent_settings_diff": {"mcp_config": {}}}),
        ({}, {}),
    ],
)
async def test_only_what_changes_is_sent_and_where_it_belongs(changes: dict[str, Any], body: dict[str, Any]) -> None:
    _, bodies = await stored(NestedServer(), changes)
    assert bodies == [body]


@pytest.mark.parametrize(
    ("names", "values"),
    [
        ("language", [5, "half \ud800"]),
        ("enable_sound_notifications", ["maybe", None]),
        ("sandbox_grouping_strategy", [None, "ZZZ"]),
        ("max_budget_per_task", [True, math.nan]),
        ("remote_runtime_resource_factor", [1.5, 10**400]),
        ("disabled_skills", [["a", 5]]),
        ("search_api_key", ["not wrapped", *map(SecretStr, ("half \ud800", "**********"))]),
        (f"user_consents_to_analytics max_iterations llm_model agent_settings.agent_kind {LLM}", [None]),
        ("secrets_store agent_settings agent_settings_diff agent_settings.mcp_config.x", [{}]),
        (f"enable_solvability_analysis {LLM}.", [True]),
        (f"{LLM}.model {LLM}.aws_session_token", ["set by its own name, or not wrapped"]),
        (f"{LLM}.litellm_extra_body", [{"a": None}]),
    ],
)
async def test_what_the_server_would_ignore_or_never_read_again_is_refused(names: str, values: list[Any]) -> None:
    for name, value in itertools.product(names.split(), values):
        assert (await refused({name: value})).problems[0].location[0] == name


async def test_a_member_beside_the_object_that_holds_it_is_refused() -> None:
    await refused({f"{LLM}.litellm_extra_body": {}, f"{LLM}.litellm_extra_body.a": 1})


texts = st.text(max_size=8)
edits = st.fixed_dictionaries(
    {},
    optional={
        "language": st.none() | texts,
        "max_budget_per_task": st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(0, 1000),
        "enable_sound_notifications": st.booleans(),
        "sandbox_grouping_strategy": st.sampled_from(["NO_GROUPING", "ADD_TO_ANY"]),
        "llm_model": texts,
        "llm_base_url": texts.filter(lambda text: not text or text.strip()),
        "enable_default_condenser": st.booleans(),
        "max_iterations": st.integers(1, 10**6),
        f"{LLM}.temperature": st.none() | st.floats(0, 2),
        "agent_settings.tools": st.none() | st.lists(st.dictionaries(texts, texts), max_size=2),
    },
)


def told(settings: Settings) -> dict[str, Any]:
    return settings.model_dump(exclude={"leaves"}) | dict(settings.leaves)


@settings(max_examples=40)
@given(edits)
async def test_an_edit_changes_what_it_names_and_nothing_else(changes: dict[str, Any]) -> None:
    keeper = NestedServer()
    keeper.agent["llm"]["api_key"] = "sk-kept"
    keeper.agent["mcp_config"] = {"fs": {"command": "npx", "env": {"T": "kept"}}}
    before = await loaded(client_to(keeper)[0])
    after, _ = await stored(keeper, changes)
    free = {name for each in changes for name in (each, PLACES.get(each))}
    free |= {"llm_base_url", f"{LLM}.base_url"} if "llm_model" in changes else set()
    assert {name for name, value in told(after).items() if value != told(before).get(name)} <= free
    for name, value in changes.items():
        assert told(after).get(name) == (value or None if name == "llm_base_url" else value)
    assert (keeper.agent["llm"]["api_key"], keeper.agent["mcp_config"]["fs"]["env"]) == ("sk-kept", {"T": "kept"})


OWN = "https://own.example"


@pytest.mark.parametrize(
    ("told", "changes", "after"),
    [
        (None, {"llm_model": "mistral/large"}, None),
        (None, {"llm_model": "anthropic/claude-2"}, None),
        (OWN, {"llm_model": "mistral/large"}, None),
        (OWN, {"llm_model": "bare"}, None),
        (OWN, {"llm_model": "anthropic/claude-2"}, OWN),
        (OWN, {"llm_model": "anthropic/claude"}, OWN),
        (OWN, {"language": "fr"}, OWN),
        (OWN, {"llm_model": "m/x", "llm_base_url": "https://new.example"}, "https://new.example"),
        (OWN, {"llm_model": "m/x", "llm_base_url": None}, None),
    ],
)
async def test_an_address_goes_with_its_provider(told: str | None, changes: dict[str, Any], after: str | None) -> None:
    keeper = NestedServer()
    keeper.agent["llm"] |= {"model": "anthropic/claude", "base_url": told or ADDRESSES["anthropic"]}
    client, _ = client_to(keeper)
    base = await loaded(client)
    assert base.llm_base_url == told
    lost = [loss.field for loss in losses(base, changes, NESTED)]
    assert lost == (["llm_base_url"] if told and after is None and "llm_base_url" not in changes else [])
    await client.settings.store(base, changes)
    for _ in range(2):
        now = await loaded(client)
        assert now.llm_base_url == after
        await client.settings.store(now, {"email": "ann@mail.example"})


objects = st.recursive(
    st.integers() | st.lists(st.integers(), max_size=2),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
bodies = st.dictionaries(st.sampled_from("abc"), objects, max_size=3)


def without_nulls(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: without_nulls(member) for name, member in value.items() if member is not None}


@settings(max_examples=40)
@given(bodies, bodies)
async def test_an_object_is_replaced_although_the_server_merges_it(old: dict[str, Any], new: dict[str, Any]) -> None:
    keeper = NestedServer()
    for value in (old, new):
        await stored(keeper, {f"{LLM}.litellm_extra_body": value})
    assert without_nulls(keeper.agent["llm"]["litellm_extra_body"]) == new


async def test_switching_the_agent_kind_is_named_with_what_it_discards_and_a_field_it_lacks_is_refused() -> None:
    settings, bodies = await stored(NestedServer(), {"language": "fr", f"{LLM}.num_retries": 3})
    assert "agent_kind" not in json.dumps(bodies)
    kind = "agent_settings.agent_kind"
    assert losses(settings, {kind: "acp"}, NESTED) == (Loss(kind, certain=True),)
    assert losses(settings, {"language": "de"}, NESTED) == losses(settings, {kind: "openhands"}, NESTED) == ()
    for changes in ({"enable_default_condenser": True}, {"agent": "CodeActAgent"}):
        assert "acp" in (await refused(changes, NestedServer({"agent_kind": "acp"}))).words


async def test_a_complaint_of_the_server_names_the_field_that_was_changed() -> None:
    text = (
        "2 validation errors for tagged-union[A,B]\nopenhands.condenser.llm_summarizing.max_size\n"
        "  Input should be greater than or equal to 20 [type=greater_than_equal, input_value='sentinel', x]\n"
        "    For further information visit https://errors.example\nopenhands.llm.temperature\n"
        "  Value error, too hot [type=value_error, input_value={'api_key': 'sentinel'}, input_type=dict]\n"
    )
    client, _ = client_to({"POST /api/v1/settings": [Answer({"error": text}, 400)]})
    error = await error_of(client.settings.store(None, {f"{LLM}.temperature": 99, "condenser_max_size": 1}))
    assert [(problem.location, problem.message) for problem in error.problems] == [
        (("condenser_max_size",), "Input should be greater than or equal to 20"),
        (("agent_settings.llm.temperature",), "too hot"),
    ]
    assert "sentinel" not in error.words


async def test_a_leaf_that_is_secret_by_its_name_is_never_told() -> None:
    record = {"agent_settings": {"llm": {"model": "m"}, "verification": {"auth_token": "sentinel"}}}
    client, _ = client_to({"GET /api/v1/settings": [Answer(record)]})
    assert (await loaded(client)).leaves["agent_settings.verification.auth_token"] is None


LOADED = {
    "fs": {"command": "npx", "args": ["-y"], "cwd": "/w"},
    "events": {"url": "https://a.example/sse", "auth": {"strategy": "bearer"}},
    "tools": {"url": "https://b.example/mcp", "transport": "streamable-http", "timeout": 30.0},
    "typed": {"url": "https://c.example/mcp", "transport": "sse", "auth": {"strategy": "basic", "username": "me"}},
    "empty": {},
    "odd": {"transport": "carrier pigeon", "url": "https://d.example"},
}
"""As a load tells it: without environment, headers and keys."""


def as_sent(config: McpConfig) -> Any:
    return json.loads(json.dumps(map_of(config), default=SecretStr.get_secret_value))


def lost(base: dict[str, Any], config: McpConfig | None) -> tuple[str, ...]:
    return secrets_lost(Settings(mcp_config=config_of(base)), {"mcp_config": config})


members = st.fixed_dictionaries(
    {},
    optional={
        "transport": st.sampled_from(["stdio", "sse", "http", "streamable-http", "other"]),
        "url": st.sampled_from(["https://a.example/sse", "https://b.example/mcp", "nope", ""]),
        "command": st.sampled_from(["npx", ""]),
        "args": st.lists(st.text(max_size=4), max_size=2),
        "timeout": st.integers(1, 60) | st.floats(1, 60),
        "description": st.text(max_size=4),
        "cwd": st.text(max_size=4),
        "keep_alive": st.booleans(),
    },
)


@settings(max_examples=40)
@given(st.dictionaries(st.text(min_size=1, max_size=4), members, max_size=5))
def test_no_member_of_any_server_is_lost_on_the_way_and_back(servers: dict[str, Any]) -> None:
    assert as_sent(config_of(servers)) == servers


def test_the_path_of_an_address_tells_how_a_server_is_reached() -> None:
    sse, *others = [f"https://a.example/{path}" for path in ("sse/x?y", "sse-tools", "mcp?at=/sse")]
    config = config_of({url: {"url": url, "command": None} for url in (sse, *others)})
    assert [[each.url for each in found] for found in (config.sse_servers, config.shttp_servers)] == [[sse], others]


def test_secrets_that_were_typed_are_sent_as_the_server_wants_them() -> None:
    b, c = (dict[str, Any](url=f"https://{host}.example/mcp") for host in "bc")
    signing_in = {"strategy": "api_key", "header_name": "X-K"}
    basic = {"strategy": "basic", "username": "me", "password": "k5"}
    shttp = [
        b | {"name": "tools", "headers": {"X-Key": "k2"}, "timeout": None},
        c | {"name": "keyed", "api_key": "k3", "auth": signing_in},
        c | {"name": "typed", "auth": basic},
        *(c | {"name": name, "auth": {"strategy": name}} for name in ("none", "oauth2")),
    ]
    sse = [{"url": "https://a.example/sse", "api_key": "k1"}, {"url": "https://a.example/other"}]
    stdio = [{"name": "fs", "command": "npx", "env": {"T": "k4"}}]
    assert as_sent(McpConfig.model_validate({"sse_servers": sse, "shttp_servers": shttp, "stdio_servers": stdio})) == {
        "a-example": {"url": "https://a.example/sse", "auth": {"strategy": "bearer", "value": "k1"}},
        "a-example-2": {"url": "https://a.example/other", "transport": "sse"},
        "tools": b | {"headers": {"X-Key": "k2"}},
        "keyed": c | {"auth": signing_in | {"value": "k3"}},
        "typed": c | {"auth": basic},
        **{name: c | {"auth": {"strategy": name}} for name in ("none", "oauth2")},
        "fs": {"command": "npx", "env": {"T": "k4"}},
    }


FS = {"name": "fs", "command": "a"}
SAME = [{"stdio_servers": [FS, FS]}, {"sse_servers": [{"url": "https://a", "name": "fs"}]}, {"unlisted": {"fs": {}}}]


@pytest.mark.parametrize("beside", SAME)
def test_a_name_that_would_push_another_server_aside_is_refused(beside: dict[str, Any]) -> None:
    with pytest.raises(ServiceError) as caught:
        map_of(McpConfig.model_validate({"stdio_servers": [FS], **beside}))
    assert caught.value.kind is ErrorKind.INVALID
    assert caught.value.problems[0].location == ("mcp_config", "stdio_servers", 0, "name")


def test_every_server_that_may_have_more_hidden_secrets_than_are_typed_is_named() -> None:
    loaded = config_of(LOADED)
    assert lost(LOADED, loaded) == ("events", "typed", "tools", "fs", "empty", "odd")
    assert "auth" not in json.dumps(as_sent(loaded))
    fs = StdioServer(name="fs", command="npx", env={"T": SecretStr("t")})
    events = SseServer(url="https://a.example/sse", api_key=SecretStr("k"))
    again = loaded.model_copy(update={"stdio_servers": (fs,), "sse_servers": (events,)})
    assert lost(LOADED, again) == ("a-example", "tools", "fs", "empty", "odd")
    assert lost(LOADED | {"fs": {"command": "npx", "env": {"T": "t"}}}, again) == ("a-example", "tools", "empty", "odd")
    base = {"fs": {"command": "npx", "args": ["a"]}}
    renamed = McpConfig(stdio_servers=(StdioServer(name="files", command="npx", args=("a",)),))
    other = McpConfig(stdio_servers=(StdioServer(name="other", command="uvx"),))
    assert (lost(base, renamed), lost(base, other), lost(base, None)) == (("files",), (), ())
    assert lost(base, config_of({"fs": base["fs"], "copy": base["fs"] | {"env": {"T": "t"}}})) == ("fs",)


async def test_an_earlier_record_has_its_servers_in_a_member_and_a_key_as_text_and_no_mask_is_sent_back() -> None:
    tools, mail = ({"url": f"https://{host}.example/mcp", "auth": auth} for host, auth in (("a", "k0"), ("b", "oauth")))
    hiding = {"tools": {"headers": {"X": "<redacted>"}}, "mail": {}, "fs": {"env": {"T": "<redacted>"}}}
    plain = {"tools": tools, "mail": mail, "fs": {"command": "npx"}}
    told = {name: members | hiding[name] for name, members in plain.items()}
    record = {"agent_settings": {"schema_version": 3, "mcp_config": {"mcpServers": told}}}
    client, wire = client_to({"GET /api/v1/settings": [Answer(record)], "POST /api/v1/settings": [Answer({})]})
    base = await loaded(client)
    config = base.mcp_config or McpConfig()
    keyed = config.shttp_servers[0].model_copy(update={"api_key": SecretStr("k1")})
    changes = {"mcp_config": config.model_copy(update={"shttp_servers": (keyed, config.shttp_servers[1])})}
    assert losses(base, changes, NESTED) == (Loss("mcp_config", certain=True, parts=tuple(plain)),)
    await client.settings.store(base, changes)
    assert wire.sent("POST")[0].body["agent_settings_diff"] == {"mcp_config": plain | {"tools": tools | {"auth": "k1"}}}
