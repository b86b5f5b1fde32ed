"""Checks of one MCP server."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from pydantic import SecretStr

from quarterdeck.client.models.enums import is_mask
from quarterdeck.client.models.mcp import McpServer, ShttpServer, SseServer, StdioServer
from quarterdeck.settings import checks
from quarterdeck.settings.fields import Problem, error, warning
from quarterdeck.settings.mcp_server import holds_hidden, missing

_NAME = re.compile(r"[A-Za-z0-9_-]+")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SCHEMES = ("http", "https", "ws", "wss")
_seconds = checks.between(1, 3600)


def problems(server: McpServer) -> Iterator[Problem]:
    """Yield what is wrong with a server, each at its member."""
    for member, problem in _at_members(server):
        if problem is not None:
            yield replace(problem, member=problem.member or member)


def _at_members(server: McpServer) -> Iterator[tuple[str, Problem | None]]:
    to_type = error(f"Still to be typed: {', '.join(missing(server))}.")
    if isinstance(server, StdioServer):
        yield "name", _name(server.name)
        yield "command", _command(server.command)
        yield "args", next(filter(None, map(checks.hidden_part, server.args)), None)
        yield "env", to_type if any(map(holds_hidden, server.env.values())) else _environment(server.env)
    else:
        yield "url", url(server.url, type(server))
        key = server.api_key
        yield "api_key", to_type if holds_hidden(key) else None if key is None else checks.secret(key)
        if isinstance(server, ShttpServer):
            yield "timeout", None if server.timeout is None else _seconds(server.timeout)
    for member, value in (server.model_extra or {}).items():
        if holds_hidden(value):
            hidden = f"{member} contains something hidden; delete this server and add it again."
            yield member, error("The value of a header is hidden; type it again." if member == "headers" else hidden)
        elif member == "headers" and isinstance(value, dict) and not all(value.values()):
            yield member, error("A header has no value: type one, or empty its name.")


def url(value: str, model: type[McpServer]) -> Problem | None:
    """Check the address of a server; a doubt that its type is the right one is a problem of the type."""
    if not value:
        return error("An address is needed, such as https://tools.example.com/mcp.")
    if problem := checks.hidden_part(value) or checks.web_address(value, _SCHEMES):
        return problem
    path = urlsplit(value).path.rstrip("/")
    if model is ShttpServer and path.endswith("/sse"):
        return replace(warning("An address ending in /sse usually belongs to the SSE type."), member="type")
    if model is SseServer and path.endswith("/mcp"):
        return replace(warning("An address ending in /mcp usually belongs to the HTTP type."), member="type")
    if checks.is_here(value):
        return warning("A sandbox looks for this on its own machine, which may not be this one.")
    return warning("Most services want http or https here.") if value.startswith("ws") else None


def _name(value: str) -> Problem | None:
    if not value:
        return error("A name is needed.")
    return None if _NAME.fullmatch(value) else error("A name is made of letters, digits, - and _ only.")


def _command(value: str) -> Problem | None:
    """Check the program without its arguments."""
    if not value:
        return error("A command is needed, such as npx.")
    if checks.BLANK.search(value):
        return error("The command is one word; put what follows it under Arguments.")
    return checks.one_line(value)


def _environment(value: Mapping[str, SecretStr]) -> Problem | None:
    """Check the variables of a stdio server; the words never contain a value."""
    for key, secret in value.items():
        if not _VARIABLE.fullmatch(key):
            name = key.partition("=")[0] or "An empty name"
            return error(f"{name} is not a variable name; use letters, digits and _.")
        if is_mask(secret.get_secret_value()):
            return error(f"The value of {key} is a mask, not a value; type the value itself.")
    return None
