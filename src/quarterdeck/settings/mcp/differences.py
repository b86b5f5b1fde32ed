"""How two versions of one MCP server differ, in words: of secrets only that they changed."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import SecretStr

from quarterdeck.client.models.mcp import McpServer, ShttpServer, SseServer, StdioServer
from quarterdeck.settings import masks, words
from quarterdeck.settings.fields.reading import typed


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
    members = {"type": words.server_kind(server), "address": words.server_name(server)}
    if isinstance(server, ShttpServer):
        members["time-out"] = "default" if server.timeout is None else f"{server.timeout} s"
    return members


def _secret_changes(was: McpServer, now: McpServer) -> Iterator[str]:
    if isinstance(was, StdioServer) and isinstance(now, StdioServer):
        yield from _named_changes(was.env, now.env)
        if was.args != now.args and words.command_line(was) == words.command_line(now):
            yield "a hidden argument changed"
    elif isinstance(was, SseServer | ShttpServer) and isinstance(now, SseServer | ShttpServer):
        if was.api_key != now.api_key:
            yield "key cleared" if now.api_key is None else "new key"
        if was.url != now.url and words.server_name(was) == words.server_name(now):
            yield "a hidden part of the address changed"
    yield from _unknown_changes(was, now)


def _unknown_changes(was: McpServer, now: McpServer) -> Iterator[str]:
    """Members that the deck does not know, headers one by one; the name by which a map holds a server is its own."""
    old, new = (
        {name: value for name, value in (one.model_extra or {}).items() if name != "name"} for one in (was, now)
    )
    yield from _named_changes(_headers(old), _headers(new), "header ")
    for name in {**old, **new}:
        if name != "headers" or not (_headers(old) or _headers(new)):
            yield from _member_change(name, old, new)


def _headers(members: Mapping[str, Any]) -> Mapping[str, Any]:
    headers = members.get("headers")
    return headers if isinstance(headers, dict) else {}


def _member_change(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    if name not in new:
        yield f"{name} removed"
    elif name not in old or old[name] != new[name]:
        shown = typed(masks.document(new[name], name))
        yield f"{name} new value" if masks.holds_mask(shown) else f"{name} {shown}"


def _named_changes(was: Mapping[str, Any], now: Mapping[str, Any], what: str = "") -> Iterator[str]:
    """Changes of values that are never shown: variables, headers."""
    for name in {**was, **now}:
        if name not in now:
            yield f"{what}{name} removed"
        elif name not in was:
            yield f"{what}{name} added"
        elif _value(was[name]) != _value(now[name]):
            yield f"{what}{name} new value"


def _value(value: Any) -> Any:
    return value.get_secret_value() if isinstance(value, SecretStr) else value
