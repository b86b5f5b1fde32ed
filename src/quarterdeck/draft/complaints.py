"""A server's complaint about a place of the body, put at the field or MCP server it is about (contract c.3)."""

from collections.abc import Sequence

from quarterdeck.draft.draft import MCP, Draft
from quarterdeck.draft.mcp.servers import Transport, transport_of
from quarterdeck.draft.problem import Problem

_LISTS = {"sse_servers": Transport.SSE, "shttp_servers": Transport.SHTTP, "stdio_servers": Transport.STDIO}


def complaint(draft: Draft, location: Sequence[str | int], message: str) -> Problem | None:
    """A problem of a draft made from `location`, as in the server's `loc` without "body"; None for an unknown field."""
    match location:
        case (str(key), *_) if key not in draft.fields.by_key:
            return None
        case ("mcp_config", str(name), int(number), *rest) if name in _LISTS:
            member = str(rest[0]) if rest else ""
            return Problem(MCP, f"The server says: {message}", row=_row(draft, _LISTS[name], number), member=member)
        case (str(key), *_):
            return Problem(key, f"The server says: {message}")
        case _:
            return None


def _row(draft: Draft, transport: Transport, number: int) -> int | None:
    """The row of the n-th server that was sent in one of the three lists."""
    rows = [entry.row for entry in draft.servers.left if transport_of(entry.server) is transport]
    return rows[number] if 0 <= number < len(rows) else None
