"""Checks of the list of MCP servers: each one on its own, and all side by side."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from pydantic import SecretStr

from quarterdeck.client.models.mcp import McpServer, ShttpServer, SseServer, StdioServer
from quarterdeck.client.redact import is_mask
from quarterdeck.settings import checks
from quarterdeck.settings.fields import Finding, Problem, Severity, error, warning
from quarterdeck.settings.mcp import Entry, EntryState, Servers
from quarterdeck.settings.mcp_server import Transport, holds_hidden, name_of, transport_of

LONGEST_WAIT = 3600

_NAME = re.compile(r"[A-Za-z0-9_-]+")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HIDDEN = "The value of a header is hidden; type it again."
_NOT_TYPED = "contains something hidden; delete this server and add it again."
_SCHEMES = ("http", "https", "ws", "wss")


def server_findings(server: McpServer) -> Iterator[tuple[str, Finding]]:
    """(member, what is wrong) of one server on its own."""
    if isinstance(server, StdioServer):
        found = (
            ("name", name(server.name)),
            ("command", command(server.command)),
            ("args", next(filter(None, map(checks.hidden_part, server.args)), None)),
            ("env", environment(server.env)),
        )
        yield from ((member, finding) for member, finding in found if finding)
    else:
        yield from _remote_findings(server)
    for member, value in (server.model_extra or {}).items():
        if holds_hidden(value):
            yield member, error(_HIDDEN if member == "headers" else f"{member} {_NOT_TYPED}")


def _remote_findings(server: SseServer | ShttpServer) -> Iterator[tuple[str, Finding]]:
    if finding := url(server.url, transport_of(server)):
        yield "url", finding
    if server.api_key is not None and (finding := checks.secret(server.api_key)):
        yield "api_key", finding
    if isinstance(server, ShttpServer) and (finding := timeout(server.timeout)):
        yield "timeout", finding


def url(value: str, transport: Transport) -> Finding | None:
    """The address of a server."""
    if not value:
        return error("An address is needed, such as https://tools.example.com/mcp.")
    if finding := checks.hidden_part(value) or checks.web_address(value, _SCHEMES):
        return finding
    path = urlsplit(value).path.rstrip("/")
    if transport is Transport.SHTTP and path.endswith("/sse"):
        return warning("An address ending in /sse usually belongs to the SSE type.")
    if transport is Transport.SSE and path.endswith("/mcp"):
        return warning("An address ending in /mcp usually belongs to the HTTP type.")
    if checks.is_here(value):
        return warning("This is looked up inside the sandbox, not on this machine.")
    if value.startswith("ws"):
        return warning("Most services want http or https here.")
    return None


def timeout(value: float | None) -> Finding | None:
    """Seconds, or None for the server's default."""
    return None if value is None else checks.between(1, LONGEST_WAIT)(value)


def name(value: str) -> Finding | None:
    """The name of a stdio server."""
    if not value:
        return error("A name is needed.")
    return None if _NAME.fullmatch(value) else error("A name is made of letters, digits, - and _ only.")


def command(value: str) -> Finding | None:
    """The program of a stdio server, without its arguments."""
    if not value:
        return error("A command is needed, such as npx.")
    if checks.BLANK.search(value):
        return error("The command is one word; put what follows it under Arguments.")
    return checks.plain(value)


def environment(value: Mapping[str, SecretStr]) -> Finding | None:
    """Variables of a stdio server; the words never hold a value."""
    for key, secret in value.items():
        if not _VARIABLE.fullmatch(key):
            return error(
                f"{key.partition('=')[0] or 'An empty name'} is not a variable name; use letters, digits and _."
            )
        if is_mask(secret.get_secret_value()):
            return error(f"The value of {key} is a mask, not a value; type the value itself.")
    return None


KEY = "mcp_config"


def problems(servers: Servers) -> Iterator[Problem]:
    """All problems of the list; what is stored already and was not touched only warns, for it stops nothing."""
    by_name: dict[str, list[Entry]] = defaultdict(list)
    for entry in servers.left:
        by_name[name_of(entry.server)].append(entry)
        for member, finding in server_findings(entry.server):
            yield _problem(entry, member, finding, touched=_touched(entry))
    for same in by_name.values():
        for entry in same:
            if twice := _twice(entry, same):
                member = "name" if isinstance(entry.server, StdioServer) else "url"
                yield _problem(entry, member, twice, touched=any(map(_touched, same)))


def _problem(entry: Entry, member: str, finding: Finding, *, touched: bool) -> Problem:
    return Problem(KEY, finding.words, finding.severity if touched else Severity.WARNING, entry.row, member)


def _touched(entry: Entry) -> bool:
    return entry.state is not EntryState.KEPT


def _twice(entry: Entry, same: list[Entry]) -> Finding | None:
    """What is wrong with a server beside the others of its name or address."""
    own, others = transport_of(entry.server), {transport_of(other.server) for other in same if other is not entry}
    if own in others:
        return error(
            f"Another server has this {'name' if own is Transport.STDIO else 'address'}; change or delete one."
        )
    if others - {Transport.STDIO} and own is not Transport.STDIO:
        return warning("The same address is in the list with the other type.")
    return None
