"""The MCP servers in a file of settings: the three lists of the documented interface (2.3), without secrets."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from quarterdeck.client.models.mcp import McpServer
from quarterdeck.settings import words
from quarterdeck.settings.kept import nulls
from quarterdeck.settings.kept.unsaved_rows import Rows
from quarterdeck.settings.mcp.held import HeldRows
from quarterdeck.settings.mcp.placeholders import as_masks, as_placeholders
from quarterdeck.settings.mcp.secrets import MODELS, bare, filled, members, missing, server_of
from quarterdeck.settings.mcp.servers import Servers, Transport, transport_of

LISTS: Mapping[str, Transport] = {
    "sse_servers": Transport.SSE,
    "shttp_servers": Transport.SHTTP,
    "stdio_servers": Transport.STDIO,
}


def written(servers: Iterable[McpServer]) -> dict[str, Any]:
    """The three lists, with a placeholder for each secret; members that are not set are left out."""
    every = tuple(servers)
    return {
        name: [_written(server) for server in every if transport_of(server) is each] for name, each in LISTS.items()
    }


def read(data: Any, servers: Servers) -> Rows:
    """A list with the servers of a file: one of the same name or address is edited, others are added, none is removed.

    The notes of what was left out and what has to be typed hold no secret.
    """
    if not isinstance(data, dict):
        return Rows(servers)
    held = HeldRows((entry, entry.server) for entry in servers.left)
    notes: list[str] = []
    result, named = servers, 0
    for transport, given in _given(data):
        server = _server(transport, given)
        if server is None:
            notes.append(f"One of the {transport} servers is not written as one; it is left out.")
            continue
        entry = held.take(bare(server))
        named += entry is not None
        if entry is not None and as_masks(_written(entry.server)) == given:
            continue
        server = filled(server, None if entry is None else entry.server)
        result = result.add(server) if entry is None else result.edit(entry.row, server)
        notes += (f"{words.server_title(server)}: to be typed: {part}." for part in missing(server))
    if others := len(servers.left) - named:
        notes.append(f"{words.counted(others, 'MCP server')} not named in the file: left alone.")
    return Rows(result, tuple(notes))


def _written(server: McpServer) -> dict[str, Any]:
    plain, as_text = nulls.parted(as_placeholders(members(bare(server)), words.server_stem(server)))
    return {**plain, "json": as_text} if as_text else plain


def _given(data: Mapping[str, Any]) -> Iterator[tuple[Transport, Any]]:
    for name, transport in LISTS.items():
        listed = data.get(name)
        yield from ((transport, as_masks(given)) for given in (listed if isinstance(listed, list) else ()))


def _server(transport: Transport, given: Any) -> McpServer | None:
    match given:
        case {"json": dict(as_text), **plain}:
            try:
                given = plain | {name: nulls.read(text) for name, text in as_text.items()}
            except ValueError:
                return None
    return server_of(MODELS[transport], given) if isinstance(given, dict) else None
