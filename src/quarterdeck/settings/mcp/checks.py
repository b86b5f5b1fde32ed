"""Checks of the list of MCP servers: each one on its own, and all side by side (bounds of screens.md)."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from quarterdeck.client.models.mcp import McpServer, StdioServer
from quarterdeck.settings.mcp.servers import Entry, EntryState, Servers, Transport, name_of, transport_of
from quarterdeck.settings.problem import Finding, Problem, Severity, error, warning

KEY = "mcp_config"


def problems(servers: Servers) -> Iterator[Problem]:
    """All problems of the list; what is stored already and was not touched only warns, for it stops nothing."""
    for entry in servers.left:
        for member, finding in entry.findings:
            yield _problem(entry, member, finding)
    yield from _equal_ones(servers.left)


def _problem(entry: Entry, member: str, finding: Finding) -> Problem:
    touched = entry.state is not EntryState.KEPT
    return Problem(KEY, finding.words, finding.severity if touched else Severity.WARNING, entry.row, member)


def _equal_ones(entries: tuple[Entry, ...]) -> Iterator[Problem]:
    by_name: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_name[name_of(entry.server)].append(entry)
    for same in by_name.values():
        if len(same) == 1:
            continue
        transports = Counter(transport_of(entry.server) for entry in same)
        touched = any(entry.state is not EntryState.KEPT for entry in same)
        for entry in same:
            if finding := _twice(entry.server, transports):
                severity = finding.severity if touched else Severity.WARNING
                member = "name" if isinstance(entry.server, StdioServer) else "url"
                yield Problem(KEY, finding.words, severity, entry.row, member)


def _twice(server: McpServer, transports: Counter[Transport]) -> Finding | None:
    """What is wrong with a server beside those of its name or address, which have these transports, it included."""
    if transports[transport_of(server)] > 1:
        is_name = isinstance(server, StdioServer)
        return error(f"Another server has this {'name' if is_name else 'address'}; change or delete one.")
    if not isinstance(server, StdioServer) and transports[Transport.SSE] and transports[Transport.SHTTP]:
        return warning("The same address is in the list with the other type.")
    return None
