"""MCP servers in the three lists of the flat record."""

from typing import Annotated

from pydantic import BeforeValidator, SecretStr

from quarterdeck.client.models.base import Kept, NullIsEmpty


def _bare_address(value: object) -> object:
    return {"url": value} if isinstance(value, str) else value


def _without_point(value: object) -> object:
    """A whole number as it was sent: nested servers tell it with a point."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


class SseServer(Kept):
    """A server reached over SSE."""

    url: str
    api_key: SecretStr | None = None


class ShttpServer(Kept):
    """A server reached over streamable HTTP; `timeout` in seconds, 1 to 3600, default 60, whole on flat servers."""

    url: str
    api_key: SecretStr | None = None
    timeout: Annotated[int | float | None, BeforeValidator(_without_point)] = None


class StdioServer(Kept):
    """A server started as a command inside the sandbox."""

    name: str
    command: str
    args: Annotated[tuple[str, ...], NullIsEmpty] = ()
    env: Annotated[dict[str, SecretStr], BeforeValidator(lambda value: value or {})] = {}


class McpConfig(Kept):
    """The tool servers; a list that is not set is sent as an empty one, never null."""

    sse_servers: Annotated[tuple[Annotated[SseServer, BeforeValidator(_bare_address)], ...], NullIsEmpty] = ()
    stdio_servers: Annotated[tuple[StdioServer, ...], NullIsEmpty] = ()
    shttp_servers: Annotated[tuple[Annotated[ShttpServer, BeforeValidator(_bare_address)], ...], NullIsEmpty] = ()


McpServer = SseServer | ShttpServer | StdioServer
