"""Edited MCP lists on top of what this machine keeps: parked servers join by type and name or address."""

from collections.abc import Iterable
from dataclasses import replace

from quarterdeck.client.models.mcp import McpServer
from quarterdeck.settings.mcp.servers import Entry, Servers, name_of, transport_of


def with_kept(servers: Servers, kept: Iterable[McpServer]) -> Servers:
    """An edited list in which the rows know what is kept here of them; one of which nothing is kept has a new row.

    A row that was kept here, is no more, and was not edited is gone.
    """
    waiting = list(kept)
    held = _found(servers, waiting)
    joined = (_joined(entry, held.get(entry.row)) for entry in servers.entries)
    new = (Entry(row, server, parked=True, kept=server) for row, server in enumerate(waiting, servers.next_row))
    return replace(servers, entries=(*(entry for entry in joined if entry is not None), *new))


def _found(servers: Servers, waiting: list[McpServer]) -> dict[int, McpServer]:
    """Row -> what is kept of it, taken from those waiting: what is just the same joins before what only has the name,
    and what was kept before what is to be. Untouched rows come first: one that finds nothing goes, so no other may
    have taken what was its own.
    """
    entries = sorted(servers.entries, key=lambda entry: (entry.server != entry.kept, entry.removed, not entry.parked))
    before = [(entry.row, entry.kept) for entry in entries if entry.kept is not None]
    to_be = [(entry.row, entry.server) for entry in entries if entry.parked]
    held: dict[int, McpServer] = {}
    for is_same in (_equal, _of_one_name):
        for row, version in (*before, *to_be):
            found = None if row in held else next((one for one in waiting if is_same(one, version)), None)
            if found is not None:
                held[row] = found
                waiting.remove(found)
    return held


def _equal(one: McpServer, other: McpServer) -> bool:
    return one == other


def _of_one_name(one: McpServer, other: McpServer) -> bool:
    return (transport_of(one), name_of(one)) == (transport_of(other), name_of(other))


def _joined(entry: Entry, held: McpServer | None) -> Entry | None:
    if held == entry.kept:
        return entry
    if held is not None:
        untouched = entry.kept is not None and entry.server == entry.kept
        return replace(entry, server=held if untouched else entry.server, kept=held)
    gone = entry.was is None and (entry.removed or (entry.parked and entry.server == entry.kept))
    return None if gone else replace(entry, kept=None)
