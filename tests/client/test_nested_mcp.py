import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.models.mcp import McpConfig, SseServer, StdioServer
from quarterdeck.client.models.settings import Settings
from quarterdeck.client.nested_mcp import config_of, map_of, secrets_lost

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
    b, c = {"url": "https://b.example/mcp"}, {"url": "https://c.example/mcp"}
    signing_in = {"strategy": "api_key", "header_name": "X-K"}
    basic = {"strategy": "basic", "username": "me", "password": "k5"}
    config = {
        "sse_servers": [{"url": "https://a.example/sse", "api_key": "k1"}, {"url": "https://a.example/other"}],
        "shttp_servers": [
            b | {"name": "tools", "headers": {"X-Key": "k2"}, "timeout": None},
            c | {"name": "keyed", "api_key": "k3", "auth": signing_in},
            c | {"name": "typed", "auth": basic},
            c | {"name": "none", "auth": {"strategy": "none"}},
            c | {"name": "oauth2", "auth": {"strategy": "oauth2"}},
        ],
        "stdio_servers": [{"name": "fs", "command": "npx", "env": {"T": "k4"}}],
    }
    assert as_sent(McpConfig.model_validate(config)) == {
        "a-example": {"url": "https://a.example/sse", "auth": {"strategy": "bearer", "value": "k1"}},
        "a-example-2": {"url": "https://a.example/other", "transport": "sse"},
        "tools": b | {"headers": {"X-Key": "k2"}},
        "keyed": c | {"auth": signing_in | {"value": "k3"}},
        "typed": c | {"auth": basic},
        **{name: c | {"auth": {"strategy": name}} for name in ("none", "oauth2")},
        "fs": {"command": "npx", "env": {"T": "k4"}},
    }


@pytest.mark.parametrize(
    "beside",
    [
        {"stdio_servers": [{"name": "fs", "command": "a"}, {"name": "fs", "command": "b"}]},
        {"sse_servers": [{"url": "https://a.example", "name": "fs"}]},
        {"unlisted": {"fs": {}}},
    ],
)
def test_a_name_that_would_push_another_server_aside_is_refused(beside: dict[str, Any]) -> None:
    with pytest.raises(ServiceError) as caught:
        map_of(McpConfig.model_validate({"stdio_servers": [{"name": "fs", "command": "a"}], **beside}))
    assert caught.value.kind is ErrorKind.INVALID
    assert caught.value.problems[0].location == ("mcp_config", "stdio_servers", 0, "name")


def test_every_server_whose_hidden_secrets_are_not_typed_again_is_named() -> None:
    loaded = config_of(LOADED)
    assert lost(LOADED, loaded) == ("events", "typed", "tools", "fs")
    assert "auth" not in json.dumps(as_sent(loaded))
    again = loaded.model_copy(
        update={
            "stdio_servers": (StdioServer(name="fs", command="npx", env={"T": SecretStr("t")}),),
            "sse_servers": (SseServer(url="https://a.example/sse", api_key=SecretStr("k")),),
        }
    )
    assert lost(LOADED, again) == ("tools",)


def test_a_server_under_a_new_name_still_loses_what_was_stored_of_it_and_a_new_one_has_nothing_to_lose() -> None:
    base = {"fs": {"command": "npx", "args": ["a"]}}
    renamed = McpConfig(stdio_servers=(StdioServer(name="files", command="npx", args=("a",)),))
    other = McpConfig(stdio_servers=(StdioServer(name="other", command="uvx"),))
    assert lost(base, renamed) == ("files",)
    assert lost(base, other) == lost(base, None) == ()
