"""How two versions of one MCP server differ, in words: of secrets only that they changed."""

from collections.abc import Iterator

from quarterdeck.draft import words
from quarterdeck.service.models.mcp import McpServer, ShttpServer, SseServer, StdioServer


def differences(was: McpServer, now: McpServer) -> tuple[list[str], list[str]]:
    """(old, new): the members that differ, as words."""
    old, new = _members(was), _members(now)
    differing = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return (
        [f"{name} {old[name]}" for name in differing if name in old],
        [*(f"{name} {new[name]}" for name in differing if name in new), *_secret_changes(was, now)],
    )


def _members(server: McpServer) -> dict[str, str]:
    if isinstance(server, StdioServer):
        return {"name": server.name, "command": words.command_line(server)}
    members = {"address": words.server_name(server)}
    if isinstance(server, ShttpServer):
        members["time-out"] = "default" if server.timeout is None else f"{server.timeout} s"
    return members


def _secret_changes(was: McpServer, now: McpServer) -> Iterator[str]:
    if isinstance(was, StdioServer) and isinstance(now, StdioServer):
        yield from _variable_changes(was, now)
        if was.args != now.args and words.command_line(was) == words.command_line(now):
            yield "a hidden argument changed"
    elif isinstance(was, SseServer | ShttpServer) and isinstance(now, SseServer | ShttpServer):
        if was.api_key != now.api_key:
            yield "key cleared" if now.api_key is None else "new key"
        if was.url != now.url and words.server_name(was) == words.server_name(now):
            yield "a hidden part of the address changed"


def _variable_changes(was: StdioServer, now: StdioServer) -> Iterator[str]:
    for name in {**was.env, **now.env}:
        if name not in now.env:
            yield f"{name} removed"
        elif name not in was.env:
            yield f"{name} added"
        elif was.env[name] != now.env[name]:
            yield f"{name} new value"
