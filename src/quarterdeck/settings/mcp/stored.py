"""The rows of a stored MCP list, made once for all drafts on top of it."""

from quarterdeck.client.models.mcp import McpConfig, McpServer
from quarterdeck.settings.mcp.servers import Servers


class StoredServers:
    """The rows last asked for; every draft made of another one by an edit asks for the same."""

    def __init__(self) -> None:
        self._config: McpConfig | None = None
        self._parked: tuple[McpServer, ...] = ()
        self._servers = Servers()

    def of(self, config: McpConfig | None, parked: tuple[McpServer, ...]) -> Servers:
        """The rows of what is stored and of what is kept here."""
        if config is not self._config or parked is not self._parked:
            self._config, self._parked, self._servers = config, parked, Servers.of(config, parked)
        return self._servers
