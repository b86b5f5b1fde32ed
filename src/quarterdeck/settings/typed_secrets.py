"""Settings of servers that tell no secrets of MCP servers and replace them all at each save.

What was typed in this run is kept in memory, put onto every record that is read, and so sent again with the next save.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from quarterdeck.client.client import Client
from quarterdeck.client.errors import Outcome, ServiceError
from quarterdeck.client.models.mcp import McpConfig, McpServer, StdioServer
from quarterdeck.client.models.settings import Settings, SettingsChanges
from quarterdeck.client.settings import PreparedRequest
from quarterdeck.settings.mcp import config_of, listed
from quarterdeck.settings.mcp_server import Transport, name_of, transport_of
from quarterdeck.settings.words import has_secret


@dataclass
class TypedSecrets:
    """The MCP servers that were sent with secrets in this run, by transport and name or address."""

    servers: Mapping[tuple[Transport, str], McpServer] = field(default_factory=dict, repr=False)

    def onto(self, found: Settings) -> Settings:
        """A record with the secrets that are known of its MCP servers."""
        if found.mcp_config is None or not self.servers:
            return found
        filled = config_of(map(self._filled, listed(found.mcp_config)), **(found.mcp_config.model_extra or {}))
        return found.model_copy(update={"mcp_config": filled})

    def _filled(self, server: McpServer) -> McpServer:
        known = self.servers.get((transport_of(server), name_of(server)))
        return server if known is None else server.model_copy(update=_secret_members(known))


class RememberingStore:
    """The settings as the form sees them: with the secrets that were typed in this run, where none are told."""

    def __init__(self, client: Client, typed: TypedSecrets) -> None:
        self._client = client
        self._typed = typed
        self._read: tuple[Settings | None, Settings | None] = (None, None)
        """The last record as it was read, and with its secrets."""

    @property
    def hidden(self) -> bool:
        """Whether the server tells no secrets of MCP servers."""
        return self._client.server.nested

    async def load(self) -> Settings | None:
        """Read what is stored, and add the secrets known."""
        found = await self._client.settings.load()
        self._read = found, self._typed.onto(found) if found is not None and self.hidden else found
        return self._read[1]

    async def store(self, base: Settings | None, changes: SettingsChanges) -> None:
        """Store changes, and remember the secrets in them."""
        config = changes.get("mcp_config")
        try:
            await self._client.settings.store(self._bare(base), changes)
        except ServiceError as error:
            if isinstance(config, McpConfig) and error.outcome in (Outcome.UNKNOWN, Outcome.APPLIED):
                self._typed.servers = {**self._typed.servers, **_with_secrets(config)}
            raise
        if isinstance(config, McpConfig):
            self._typed.servers = _with_secrets(config)

    def preview(self, base: Settings | None, changes: SettingsChanges) -> PreparedRequest:
        """The request that would be sent."""
        return self._client.settings.preview(self._bare(base), changes)

    async def secret_names(self) -> frozenset[str] | None:
        """Names of the custom secrets; None where they are not told."""
        try:
            return frozenset(secret.name for secret in await self._client.secrets.list())
        except ServiceError:
            return None

    def _bare(self, base: Settings | None) -> Settings | None:
        """The record as the server told it."""
        read, shown = self._read
        return read if base == shown else base


def _with_secrets(config: McpConfig) -> dict[tuple[Transport, str], McpServer]:
    return {(transport_of(server), name_of(server)): server for server in listed(config) if _secret_members(server)}


def _secret_members(server: McpServer) -> dict[str, Any]:
    """What of a server is never told: key or variables, and headers."""
    own: dict[str, Any] = {"env": server.env} if isinstance(server, StdioServer) else {"api_key": server.api_key}
    headers = (server.model_extra or {}).get("headers")
    return (own if has_secret(server) else {}) | ({"headers": headers} if headers else {})
