"""Settings of servers that return no secrets of MCP servers and replace them all at each save.

Secrets typed in this run are kept in memory, added to every record that is read, and so sent again with the next save.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ServiceError
from quarterdeck.client.models.mcp import McpConfig, McpServer, StdioServer, listed
from quarterdeck.client.models.settings import Settings, SettingsChanges
from quarterdeck.settings.mcp_server import place_of, told
from quarterdeck.settings.words import has_secret, holds_secret

TypedSecrets = dict[tuple[str, str], McpServer]
"""The MCP servers sent with secrets in this run, by kind and name or address."""


@dataclass(frozen=True)
class RememberingStore:
    """The settings as the form sees them: with the secrets typed in this run, if the server returns none."""

    client: Client
    typed: TypedSecrets

    async def load(self) -> Settings | None:
        """Read what is stored, and add the known secrets."""
        found = await self.client.settings.load()
        if found is None or found.mcp_config is None or not self.client.server.nested:
            return found
        servers = map(self._with_secrets, listed(found.mcp_config))
        filled = McpConfig.of(servers, **(found.mcp_config.model_extra or {}))
        return found.model_copy(update={"mcp_config": filled})

    async def store(self, base: Settings | None, changes: SettingsChanges) -> None:
        """Store changes, and remember the secrets in them."""
        config = changes.get("mcp_config")
        sent = listed(config) if isinstance(config, McpConfig) else ()
        new = {place_of(one): one for one in sent if holds_secret(one)}
        await self.client.settings.store(base, changes)
        if config is not None:
            self.typed.clear()
            self.typed.update(new)

    async def secret_names(self) -> frozenset[str] | None:
        """Return the names of the custom secrets; None if they cannot be read."""
        try:
            return frozenset(secret.name for secret in await self.client.secrets.list())
        except ServiceError:
            return None

    def _with_secrets(self, server: McpServer) -> McpServer:
        """Add the secrets typed for a server, unless it looks otherwise than it was sent: somebody else replaced it."""
        known = self.typed.get(place_of(server), server)
        signs_in = isinstance(known, StdioServer) or not has_secret(known) or "auth" in (server.model_extra or {})
        is_same = signs_in and told(known, hidden=True) == told(server, hidden=True)
        return server.model_copy(update=dict(_secrets(known))) if is_same else server


def _secrets(server: McpServer) -> Mapping[str, Any]:
    """Return the members of a server that are never returned: key or variables, and headers."""
    own: dict[str, Any] = {"env": server.env} if isinstance(server, StdioServer) else {"api_key": server.api_key}
    headers = (server.model_extra or {}).get("headers")
    return (own if has_secret(server) else {}) | ({"headers": headers} if headers else {})
