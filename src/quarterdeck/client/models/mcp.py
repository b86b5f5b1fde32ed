"""MCP servers and the three lists of them in the flat record: their kinds, names and identity."""

import re
from collections.abc import Container, Iterable, Mapping
from itertools import count
from typing import Annotated, Any, ClassVar, Self
from urllib.parse import urlsplit

from pydantic import BeforeValidator, SecretStr, model_validator

from quarterdeck.client.models.base import Kept, NullIsEmpty
from quarterdeck.client.redact import as_secrets


def _bare_address(value: object) -> object:
    return {"url": value} if isinstance(value, str) else value


def _without_point(value: object) -> object:
    """Return an integral number as an integer: nested servers return it with a decimal point."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


_OPEN = frozenset({"name", "transport", "type", "description", "cwd", "headers", "auth"})
"""Further members that are known; only some of their texts are secret."""


def _hide_unknown(cls: type[Kept], given: Any) -> Any:
    """Make every text in a member that is not known a secret."""
    if not isinstance(given, Mapping):
        return given
    known = _OPEN | cls.model_fields.keys()
    return {name: value if name in known else as_secrets(value) for name, value in given.items()}


class SseServer(Kept):
    """A server connected over SSE."""

    kind: ClassVar[str] = "SSE"
    """The word for the kind of connection."""

    url: str
    api_key: SecretStr | None = None
    _hides_unknown = model_validator(mode="before")(_hide_unknown)


class ShttpServer(Kept):
    """A server connected over streamable HTTP; `timeout` is 1 to 3600 seconds, default 60, whole on flat servers."""

    kind: ClassVar[str] = "HTTP"

    url: str
    api_key: SecretStr | None = None
    timeout: Annotated[int | float | None, BeforeValidator(_without_point)] = None
    _hides_unknown = model_validator(mode="before")(_hide_unknown)


class StdioServer(Kept):
    """A server started as a command inside the sandbox."""

    kind: ClassVar[str] = "stdio"

    name: str
    command: str
    args: Annotated[tuple[str, ...], NullIsEmpty] = ()
    env: Annotated[dict[str, SecretStr], BeforeValidator(lambda value: value or {})] = {}
    _hides_unknown = model_validator(mode="before")(_hide_unknown)


class McpConfig(Kept):
    """The tool servers; an unset list is sent as an empty one (SERVERS.md: MCP servers of the flat record)."""

    sse_servers: Annotated[tuple[Annotated[SseServer, BeforeValidator(_bare_address)], ...], NullIsEmpty] = ()
    stdio_servers: Annotated[tuple[StdioServer, ...], NullIsEmpty] = ()
    shttp_servers: Annotated[tuple[Annotated[ShttpServer, BeforeValidator(_bare_address)], ...], NullIsEmpty] = ()

    @classmethod
    def of(cls, servers: "Iterable[McpServer]", **unknown: Any) -> Self:
        """Return a configuration with servers sorted into the three lists, plus unknown members."""
        every = tuple(servers)
        lists = {name: [one for one in every if isinstance(one, model)] for name, model in LISTS.items()}
        return cls.model_validate(lists | unknown)


McpServer = SseServer | ShttpServer | StdioServer
LISTS: Mapping[str, type[McpServer]] = {
    "sse_servers": SseServer,
    "shttp_servers": ShttpServer,
    "stdio_servers": StdioServer,
}
"""The lists, in the order in which servers are shown and named."""
_SSE_PATH = re.compile(r"/sse(/|$)")


def listed(config: McpConfig | None) -> tuple[McpServer, ...]:
    """Return all servers of a configuration in the order SSE, HTTP, stdio."""
    return (*config.sse_servers, *config.shttp_servers, *config.stdio_servers) if config else ()


def model_by_look(members: Mapping[str, Any]) -> type[McpServer] | None:
    """Return the kind of a server by its command or the form of its address, as servers do; None if it has neither."""
    url = members.get("url")
    if members.get("command") is not None:
        return StdioServer
    if not isinstance(url, str):
        return None
    return SseServer if _SSE_PATH.search(url.partition("?")[0]) else ShttpServer


def name_of(server: McpServer) -> str:
    """Return the name of a stdio server, the address of any other."""
    return server.name if isinstance(server, StdioServer) else server.url


def own_name(server: McpServer) -> str:
    """Return the name of a server in a map; empty if it has none."""
    name = server.name if isinstance(server, StdioServer) else (server.model_extra or {}).get("name")
    return name if isinstance(name, str) else ""


def name_in_map(server: McpServer) -> str:
    """Return the name of a server in a map: its own, or one made from its host."""
    try:
        host = urlsplit(name_of(server)).hostname or ""
    except ValueError:
        host = ""
    return own_name(server) or re.sub(r"[^A-Za-z0-9_-]+", "-", host).strip("-") or "server"


def free_name(wanted: str, taken: Container[str], separator: str = "-") -> str:
    """Return a name, with a number appended if it is taken."""
    names = (wanted if number == 1 else f"{wanted}{separator}{number}" for number in count(1))
    return next(name for name in names if name not in taken)
