"""MCP servers as JSON text without secrets, in the `mcpServers` shape that other tools and contract c.2 read."""

import json
from collections.abc import Iterable
from itertools import count
from typing import Any

from quarterdeck.client.models.mcp import McpServer, SseServer, StdioServer
from quarterdeck.settings import words
from quarterdeck.settings.mcp.placeholders import as_placeholders
from quarterdeck.settings.mcp.secrets import bare, members


def without_secrets(servers: Iterable[McpServer]) -> str:
    """Write servers as text to be pasted elsewhere; `mcp_paste.pasted` reads it back."""
    named: dict[str, Any] = {}
    for server in servers:
        wanted = words.server_stem(server)
        key = next(name for name in _numbered(wanted) if name not in named)
        written = as_placeholders(_written(bare(server)), key)
        named[key] = {"name": wanted, **written} if isinstance(server, StdioServer) and key != wanted else written
    return json.dumps({"mcpServers": named}, indent=2, ensure_ascii=False)


def _written(server: McpServer) -> dict[str, Any]:
    own = {name: value for name, value in members(server).items() if name != "name" and value is not None}
    if isinstance(server, StdioServer):
        return own
    key = own.pop("api_key", "")
    typed = {"type": "sse" if isinstance(server, SseServer) else "http", **own}
    return typed | {"headers": {**own.get("headers", {}), "Authorization": f"Bearer {key}"}} if key else typed


def _numbered(name: str) -> Iterable[str]:
    yield name
    yield from (f"{name}-{number}" for number in count(2))
