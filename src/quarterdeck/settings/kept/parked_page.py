"""The page with the parked MCP servers of a service, which several decks may change: each only what it means itself."""

from collections.abc import Iterable
from typing import Any

from quarterdeck.client.models.mcp import McpServer
from quarterdeck.settings.kept.parked import from_note, to_note
from quarterdeck.settings.mcp_identity import name_of, transport_of


def exchanged(page: Any, gone: Iterable[McpServer], kept: Iterable[McpServer]) -> Any:
    """The page with some servers in place of others, by type and name or address; what else is on it stays.

    Whose secrets may not be kept comes without them.
    """
    kept = tuple(kept)
    moved = {(transport_of(server), name_of(server)) for server in (*gone, *kept)}
    others = (server for server in from_note(page) if (transport_of(server), name_of(server)) not in moved)
    return to_note((*others, *kept), with_secrets=True)
