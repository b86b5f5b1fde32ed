"""MCP servers that this machine keeps while they are disabled, and the server does not hold."""

from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from quarterdeck.client.models.mcp import McpServer
from quarterdeck.settings.mcp import Entry, Servers
from quarterdeck.settings.mcp_server import KeptServer, Version, paired, place_of


class DisabledServers(BaseModel):
    """The servers, with their secrets only where the person said yes to that (others hold masks)."""

    model_config = ConfigDict(frozen=True)
    kind: ClassVar[str] = "disabled"
    version: Literal[1] = 1
    servers: tuple[KeptServer, ...] = ()


def listed(kept: DisabledServers | None) -> tuple[McpServer, ...]:
    """The servers that are kept."""
    return kept.servers if kept is not None else ()


def exchanged(
    kept: DisabledServers | None, gone: Iterable[McpServer], new: Iterable[McpServer]
) -> DisabledServers | None:
    """Some servers in place of others, by transport and name; what another deck keeps stays."""
    new = tuple(new)
    moved = set(map(place_of, (*gone, *new)))
    servers = (*(server for server in listed(kept) if place_of(server) not in moved), *new)
    return DisabledServers(servers=servers) if servers else None


def with_disabled(servers: Servers, disabled: Iterable[McpServer]) -> Servers:
    """An edited list in which the rows know what is kept here of them; one of which nothing is kept has a new row.

    A row that was kept here, is no more, and was not edited is gone.
    """
    kept = dict(enumerate(disabled))
    # One that finds nothing goes, so the untouched rows choose first, and what was kept before what is to be.
    rows = sorted(servers.entries, key=lambda entry: (entry.server != entry.kept, entry.removed, not entry.disabled))
    before = [Version(entry.row, entry.kept) for entry in rows if entry.kept is not None]
    to_be = [Version(entry.row, entry.server) for entry in rows if entry.disabled]
    held = paired((*before, *to_be), (Version(key, server) for key, server in kept.items()))
    found = {row: kept.pop(key) for row, key in held.items()}
    joined = (_joined(entry, found.get(entry.row)) for entry in servers.entries)
    new = (Entry(row, server, disabled=True, kept=server) for row, server in enumerate(kept.values(), servers.next_row))
    return replace(servers, entries=(*(entry for entry in joined if entry is not None), *new))


def _joined(entry: Entry, kept: McpServer | None) -> Entry | None:
    if kept == entry.kept:
        return entry
    if kept is not None:
        return replace(entry, server=kept if entry.server == entry.kept else entry.server, kept=kept)
    gone = entry.was is None and (entry.removed or (entry.disabled and entry.server == entry.kept))
    return None if gone else replace(entry, kept=None)
