"""The MCP servers being edited: one list for the three transports, each row with an id of its own that edits keep."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import count
from typing import Any

from quarterdeck.service.models.mcp import McpConfig, McpServer, ShttpServer, SseServer, StdioServer


class Transport(StrEnum):
    """How a server is reached; the value is the word shown."""

    SSE = "SSE"
    SHTTP = "HTTP"
    STDIO = "stdio"


class EntryState(StrEnum):
    """What a save does with a row."""

    KEPT = "kept"
    ADDED = "added"
    EDITED = "edited"
    REMOVED = "removed"


@dataclass(frozen=True)
class Identity:
    """What makes two versions of a server the same one: transport, name or address, and which of several equal ones."""

    transport: Transport
    name: str
    nth: int = 0


def transport_of(server: McpServer) -> Transport:
    """The transport of a server, by its model."""
    match server:
        case SseServer():
            return Transport.SSE
        case ShttpServer():
            return Transport.SHTTP
        case _:
            return Transport.STDIO


def name_of(server: McpServer) -> str:
    """Name of a stdio server, address of the others."""
    return server.name if isinstance(server, StdioServer) else server.url


def identities(servers: Iterable[McpServer]) -> tuple[Identity, ...]:
    """The identity of each server, in the same order."""
    seen: Counter[tuple[Transport, str]] = Counter()
    found = []
    for server in servers:
        key = (transport_of(server), name_of(server))
        found.append(Identity(*key, seen[key]))
        seen[key] += 1
    return tuple(found)


@dataclass(frozen=True)
class Entry:
    """One row: `was` is what the server holds of it and `origin` its identity there, both None for a new one."""

    row: int
    server: McpServer
    was: McpServer | None = None
    origin: Identity | None = None
    removed: bool = False

    @property
    def state(self) -> EntryState:
        """What a save does with it."""
        if self.removed:
            return EntryState.REMOVED
        if self.was is None:
            return EntryState.ADDED
        return EntryState.KEPT if self.server == self.was else EntryState.EDITED


@dataclass(frozen=True)
class Servers:
    """The rows in the order shown, and the members of the stored object that the deck does not know."""

    entries: tuple[Entry, ...] = ()
    unknown: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(cls, config: McpConfig | None) -> "Servers":
        """Rows of what is stored; ids count from 0 in the order SSE, HTTP, stdio."""
        servers = listed(config)
        stored = zip(servers, identities(servers), strict=True)
        entries = tuple(Entry(row, server, server, origin) for row, (server, origin) in enumerate(stored))
        return cls(entries, tuple((config.model_extra or {}).items()) if config else ())

    @property
    def changed(self) -> bool:
        """Whether a save would change anything."""
        return any(entry.state is not EntryState.KEPT for entry in self.entries)

    @property
    def left(self) -> tuple[Entry, ...]:
        """The rows that are there after a save."""
        return tuple(entry for entry in self.entries if not entry.removed)

    def entry(self, row: int) -> Entry | None:
        """The row of this id."""
        return next((entry for entry in self.entries if entry.row == row), None)

    def add(self, server: McpServer, after: int | None = None) -> "Servers":
        """Put in a new row, below the row `after` or at the end."""
        new = Entry(self.next_row, server)
        place = next((at for at, entry in enumerate(self.entries, 1) if entry.row == after), len(self.entries))
        return replace(self, entries=(*self.entries[:place], new, *self.entries[place:]))

    def edit(self, row: int, server: McpServer) -> "Servers":
        """Give a row new content; a removed one comes back."""
        return self._with(row, lambda entry: replace(entry, server=server, removed=False))

    def remove(self, row: int) -> "Servers":
        """Mark a stored row as to be removed; a new one goes at once."""
        entry = self.entry(row)
        if entry is not None and entry.was is None:
            return replace(self, entries=tuple(other for other in self.entries if other.row != row))
        return self._with(row, lambda entry: replace(entry, removed=True))

    def restore(self, row: int) -> "Servers":
        """Take back what was done to a stored row: first its removal, then its edits."""

        def back(entry: Entry) -> Entry:
            return replace(entry, removed=False) if entry.removed else replace(entry, server=entry.was or entry.server)

        return self._with(row, back)

    def config(self) -> McpConfig:
        """What a save sends: three lists in row order, unknown members carried along."""
        servers = [entry.server for entry in self.left]
        return McpConfig(
            sse_servers=tuple(server for server in servers if isinstance(server, SseServer)),
            stdio_servers=tuple(server for server in servers if isinstance(server, StdioServer)),
            shttp_servers=tuple(server for server in servers if isinstance(server, ShttpServer)),
            **dict(self.unknown),
        )

    @property
    def next_row(self) -> int:
        """An id no row has."""
        return max((entry.row for entry in self.entries), default=-1) + 1

    def _with(self, row: int, change: Callable[[Entry], Entry]) -> "Servers":
        return replace(self, entries=tuple(change(entry) if entry.row == row else entry for entry in self.entries))


def listed(config: McpConfig | None) -> tuple[McpServer, ...]:
    """All servers of a configuration in the order SSE, HTTP, stdio."""
    return (*config.sse_servers, *config.shttp_servers, *config.stdio_servers) if config else ()


def empty_server(transport: Transport) -> McpServer:
    """A server to be filled in."""
    match transport:
        case Transport.SSE:
            return SseServer(url="")
        case Transport.SHTTP:
            return ShttpServer(url="")
        case Transport.STDIO:
            return StdioServer(name="", command="")


def copy_of(server: McpServer, servers: Servers) -> McpServer:
    """A copy with its secrets; a stdio server gets a name that is free, an address is for the person to change."""
    if not isinstance(server, StdioServer):
        return server
    taken = {name_of(entry.server) for entry in servers.left}
    names = (f"{server.name}-{number}" for number in count(2))
    return server.model_copy(update={"name": next(name for name in names if name not in taken)})
