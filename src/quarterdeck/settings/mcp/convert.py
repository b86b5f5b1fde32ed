"""An MCP server with the other of the two remote transports."""

from quarterdeck.client.models.mcp import McpServer, ShttpServer, SseServer

_OF_TRANSPORT = ("timeout", "transport", "type")
"""Members that belong to one transport, or name it."""


def converted(server: McpServer) -> McpServer | None:
    """SSE as streamable HTTP and the other way round, with all members that both have; None for stdio."""
    match server:
        case SseServer():
            model: type[SseServer | ShttpServer] = ShttpServer
        case ShttpServer():
            model = SseServer
        case _:
            return None
    kept = {name: getattr(server, name) for name in server.model_fields_set if name not in _OF_TRANSPORT}
    unknown = {name: value for name, value in (server.model_extra or {}).items() if name not in _OF_TRANSPORT}
    return model(**(unknown | kept))
