"""MCP servers that this machine keeps while they are parked, as a note."""

from collections.abc import Iterable
from typing import Any

from quarterdeck.client.models.mcp import McpServer
from quarterdeck.settings.mcp_secrets import as_data, bare, from_data

KIND = "parked"
"""The kind of note that it is."""


def to_note(servers: Iterable[McpServer], *, with_secrets: bool) -> dict[str, Any] | None:
    """Write the servers down, their secrets only where the person said yes to that; None when there are none."""
    kept = [as_data(server if with_secrets else bare(server)) for server in servers]
    return {"servers": kept} if kept else None


def from_note(note: Any) -> tuple[McpServer, ...]:
    """The servers of a note; what makes no sense in it is left out."""
    match note:
        case {"servers": list(kept)}:
            return tuple(server for server in map(from_data, kept) if server is not None)
        case _:
            return ()
