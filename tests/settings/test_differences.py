"""How two versions of one MCP server differ, in words that hold no secret."""

from typing import Any

import pytest
from pydantic import SecretStr

from quarterdeck.client.models.mcp import McpServer, ShttpServer, SseServer, StdioServer
from quarterdeck.settings.mcp import converted
from quarterdeck.settings.words import differences

TOOLS: dict[str, Any] = {"url": "https://a.example/mcp", "name": "tools"}
FILES = StdioServer(name="files", command="npx", args=("--token", "secret-a"), env={"K": SecretStr("secret-b")})


def remote(**more: Any) -> McpServer:
    return ShttpServer.model_validate({**TOOLS, **more})


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (remote(headers={"X-Key": "secret-c"}), ["header X-Key new value"]),
        (remote(headers={"X-Key": SecretStr("secret-a")}), []),
        (remote(headers={"X-Key": "secret-a", "X-Team": "t"}), ["header X-Team added"]),
        (remote(), ["header X-Key removed"]),
        (remote(headers={"X-Key": "secret-a"}, cwd="/srv"), ["cwd /srv"]),
        (remote(headers={"X-Key": "secret-a"}, auth={"value": "secret-c"}), ["auth added"]),
    ],
)
def test_members_that_the_deck_does_not_know_are_told_of(now: McpServer, said: list[str]) -> None:
    assert differences(remote(headers={"X-Key": "secret-a"}), now)[1] == said


def test_the_type_is_told_of() -> None:
    other = converted(SseServer(url="https://a.example/mcp"))
    assert other is not None
    old, new = differences(SseServer(url="https://a.example/mcp"), other)
    assert (old, new) == (["type SSE"], ["type HTTP", "time-out default"])


def test_variables_and_arguments_are_told_of_without_their_values() -> None:
    now = FILES.model_copy(update={"args": ("--token", "secret-c"), "env": {"L": SecretStr("secret-d")}})
    assert differences(FILES, now) == ([], ["a hidden part of the command changed", "K removed", "L added"])
