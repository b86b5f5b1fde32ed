"""A server's complaint about a place of the body, put at the field or MCP server it is about (contract c.3)."""

from collections.abc import Sequence
from itertools import chain, count

from quarterdeck.settings import words
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.mcp.servers import Transport, transport_of
from quarterdeck.settings.problem import Problem

_LISTS = {"sse_servers": Transport.SSE, "shttp_servers": Transport.SHTTP, "stdio_servers": Transport.STDIO}


def complaint(draft: Draft, location: Sequence[str | int], message: str) -> Problem | None:
    """A problem of a draft made from `location`, as in the server's `loc` without "body"; None for an unknown field."""
    match location:
        case (str(key), *_) if key not in draft.fields.by_key:
            return None
        case ("mcp_config", str(name), int(number), *rest) if name in _LISTS:
            member = str(rest[0]) if rest else ""
            return Problem(MCP, f"The server says: {message}", row=_row(draft, _LISTS[name], number), member=member)
        case ("mcp_config", *rest):
            row, member = _named(draft, list(map(str, rest)))
            return Problem(MCP, f"The server says: {message}", row=row, member=member)
        case (str(key), *_):
            return Problem(key, f"The server says: {message}")
        case _:
            return None


def _row(draft: Draft, transport: Transport, number: int) -> int | None:
    """The row of the n-th server that was sent in one of the three lists."""
    rows = [entry.row for entry in draft.servers.left if transport_of(entry.server) is transport]
    return rows[number] if 0 <= number < len(rows) else None


def _named(draft: Draft, parts: list[str]) -> tuple[int | None, str]:
    """The row of the server that a map holds under a name, and its member; a name may have dots, and so more parts.

    Of several servers that would go by one name, those after the first are stored with a number (contract c.2).
    """
    rows: dict[str, int] = {}
    for transport in _LISTS.values():
        for entry in (entry for entry in draft.servers.left if transport_of(entry.server) is transport):
            stem = words.server_stem(entry.server)
            names = chain((stem,), (f"{stem}-{number}" for number in count(2)))
            rows[next(name for name in names if name not in rows)] = entry.row
    for end in range(len(parts), 0, -1):
        row = rows.get(".".join(parts[:end]))
        if row is not None:
            return row, parts[end] if end < len(parts) else ""
    return None, ""
