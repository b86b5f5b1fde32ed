"""MCP servers that are in the list more than once, member for member.

A flat server tells the MCP servers of its own configuration file along with the stored ones, and stores what comes
back: so they double with each save (needs.md fact 0.6).
"""

from collections import Counter, defaultdict
from collections.abc import Hashable

from quarterdeck.client.models.mcp import McpServer, StdioServer
from quarterdeck.settings.mcp.identity import name_of
from quarterdeck.settings.mcp.servers import Entry, Servers


def duplicates(servers: Servers) -> tuple[tuple[int, ...], ...]:
    """Rows of equal servers, of those that stay in the list; the first of each group is the one to keep."""
    alike: dict[Hashable, list[list[Entry]]] = defaultdict(list)
    left = servers.left
    names = Counter(name_of(entry.server) for entry in left)
    for entry in (entry for entry in left if names[name_of(entry.server)] > 1):
        groups = alike[_told_quickly(entry.server)]
        same = next((group for group in groups if group[0].server == entry.server), None)
        if same is None:
            groups.append([entry])
        else:
            same.append(entry)
    return tuple(tuple(entry.row for entry in group) for groups in alike.values() for group in groups if len(group) > 1)


def folded(servers: Servers) -> Servers:
    """The list with each of the equal servers once."""
    return servers.remove(*(row for group in duplicates(servers) for row in group[1:]))


def _told_quickly(server: McpServer) -> Hashable:
    """What equal servers have in common, and most others do not."""
    if isinstance(server, StdioServer):
        return server.name, server.command, server.args
    return type(server), server.url, server.api_key
