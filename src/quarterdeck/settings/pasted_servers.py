"""Pasted MCP servers on top of those in the list: what is there already is edited, the rest is added."""

from collections.abc import Iterable
from dataclasses import dataclass

from quarterdeck.client.models.mcp import McpServer
from quarterdeck.settings import masks
from quarterdeck.settings.mcp import Servers
from quarterdeck.settings.mcp_server import Transport, filled, name_of, transport_of
from quarterdeck.settings.words import counted


@dataclass(frozen=True)
class TakenIn:
    """The list with the pasted servers in it, and how many of them it had already."""

    servers: Servers
    found: int
    edited: int = 0
    same: int = 0

    @property
    def words(self) -> str:
        """`3 servers found, 1 is there already and will be edited`."""
        parts = [f"{counted(self.found, 'server')} found"]
        if self.edited:
            parts.append(f"{self.edited} {_is(self.edited)} there already and will be edited")
        if self.same:
            parts.append(f"{self.same} {_is(self.same)} there already, unchanged")
        return ", ".join(parts)


def take_in(servers: Servers, pasted: Iterable[McpServer]) -> TakenIn:
    """Put pasted servers into a list; members that a pasted one does not speak of stay, secrets above all."""
    rows = {place: entry.row for entry in reversed(servers.entries) for place in _places(entry.server)}
    found = edited = same = 0
    for server in pasted:
        found += 1
        place = (transport_of(server), name_of(server))
        entry = servers.entry(rows[place]) if place in rows else None
        if entry is None:
            rows |= dict.fromkeys(_places(server), servers.next_row)
            servers = servers.add(server)
            continue
        merged = _onto(entry.server, server)
        if merged == entry.server and not entry.removed:
            same += 1
        else:
            edited += 1
            servers = servers.edit(entry.row, merged)
    return TakenIn(servers, found, edited, same)


def _onto(held: McpServer, pasted: McpServer) -> McpServer:
    given = filled(pasted, held)
    spoken_of = {name: getattr(given, name) for name in given.model_fields_set if name in type(given).model_fields}
    return held.model_copy(update={**(given.model_extra or {}), **spoken_of})


def _places(server: McpServer) -> Iterable[tuple[Transport, str]]:
    """What a server goes by, and what of that a text without secrets says."""
    transport, name = transport_of(server), name_of(server)
    return (transport, name), (transport, masks.address(name))


def _is(number: int) -> str:
    return "is" if number == 1 else "are"
