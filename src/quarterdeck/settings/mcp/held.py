"""Finding the row of an MCP list that a note or a file without secrets tells of."""

from collections import defaultdict
from collections.abc import Iterable

from quarterdeck.client.models.mcp import McpServer
from quarterdeck.settings.mcp.secrets import bare
from quarterdeck.settings.mcp.servers import Entry, Servers, Transport, name_of, transport_of


class HeldRows:
    """Rows by a version of their server; each is found once."""

    def __init__(self, versions: Iterable[tuple[Entry, McpServer]]) -> None:
        self._free: dict[tuple[Transport, str], list[tuple[Entry, McpServer]]] = defaultdict(list)
        self.nth: dict[int, int] = {}
        """Row -> which one it is of those with its name or address."""
        for entry, server in versions:
            hidden = bare(server)
            same = self._free[transport_of(hidden), name_of(hidden)]
            self.nth[entry.row] = len(same)
            same.append((entry, hidden))

    def take(self, told: McpServer, nth: int = 0) -> Entry | None:
        """The row of a bare server: of several with its name or address one just like it, or else the first.

        Where several are just like it, which only their secrets tell apart, the `nth` is preferred.
        """
        free = self._free[transport_of(told), name_of(told)]
        if not free:
            return None
        alike = [at for at, (_, hidden) in enumerate(free) if hidden == told]
        return free.pop(next((at for at in alike if self.nth[free[at][0].row] == nth), alike[0] if alike else 0))[0]


def there_and_here(servers: Servers) -> dict[bool, HeldRows]:
    """What the server holds (False), and what only this machine keeps (True)."""
    return {
        False: HeldRows((entry, entry.was) for entry in servers.entries if entry.was is not None),
        True: HeldRows(
            (entry, entry.kept) for entry in servers.entries if entry.was is None and entry.kept is not None
        ),
    }
