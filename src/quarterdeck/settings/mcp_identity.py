"""What makes two versions of an MCP server the same one."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from quarterdeck.client.models.mcp import McpServer, ShttpServer, SseServer, StdioServer


class Transport(StrEnum):
    """How a server is reached; the value is the word shown."""

    SSE = "SSE"
    SHTTP = "HTTP"
    STDIO = "stdio"


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
