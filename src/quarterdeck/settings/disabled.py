"""MCP servers that this machine keeps while they are disabled, and the server does not hold."""

from collections.abc import Iterable
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from quarterdeck.client.models.mcp import McpServer
from quarterdeck.settings.mcp_server import KeptServer, place_of


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
