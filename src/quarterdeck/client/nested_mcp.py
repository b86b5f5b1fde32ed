"""MCP servers of the nested generation: a map by name, told without secrets and replaced as a whole."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from pydantic import ValidationError

from quarterdeck.client.models.mcp import McpConfig, McpServer, ShttpServer, SseServer, StdioServer
from quarterdeck.client.models.settings import Settings, SettingsChanges
from quarterdeck.client.redact import invalid

UNLISTED = "unlisted"
"""Member of a configuration that keeps, by name, the servers that none of the three lists can hold."""

_MODELS: Mapping[str, type[McpServer]] = {
    "stdio": StdioServer,
    "sse": SseServer,
    "http": ShttpServer,
    "streamable-http": ShttpServer,
}
_LISTS: Mapping[str, type[McpServer]] = {
    "sse_servers": SseServer,
    "stdio_servers": StdioServer,
    "shttp_servers": ShttpServer,
}
_TRANSPORTS: Mapping[type[McpServer], str] = {StdioServer: "stdio", SseServer: "sse", ShttpServer: "http"}
_SSE_PATH = re.compile(r"/sse(/|$)")
_OPEN_STRATEGIES = ("none", "oauth2")
"""Ways to sign in that say something without a secret beside them."""
_AUTH_LOADED = ("strategy", "header_name", "username")


def config_of(servers: Mapping[str, Any]) -> McpConfig:
    """Sort a map into the three lists; the name of a server is kept as its member `name`, others as they came."""
    listed = {name: _server_of(name, members) for name, members in servers.items()}
    unlisted = {name: servers[name] for name, server in listed.items() if server is None}
    lists = {
        member: [server for server in listed.values() if isinstance(server, model)] for member, model in _LISTS.items()
    }
    return McpConfig.model_validate({**lists, **({UNLISTED: unlisted} if unlisted else {})})


def map_of(config: McpConfig) -> dict[str, Any]:
    """Write the map that a store sends, with the secrets that were typed and no others.

    A server without a name of its own gets one made from its host. Raises ServiceError(INVALID) for a name given twice.
    """
    return {name: _members(server) for name, server in named(config)} | _unlisted(config)


def secrets_lost(base: Settings | None, changes: SettingsChanges) -> tuple[str, ...]:
    """Names of the MCP servers whose stored secrets, if they have any, go with these changes: none was typed again.

    Whether an environment or header is stored is not told, so a server counts unless something was typed. Raises
    ServiceError(INVALID) for two servers of one name.
    """
    new = changes.get("mcp_config")
    if base is None or base.mcp_config is None or not isinstance(new, McpConfig):
        return ()
    held = {*(name for name, _ in named(base.mcp_config)), *map(_target, _servers(base.mcp_config))}
    return tuple(
        name for name, server in named(new) if (name in held or _target(server) in held) and not _has_secret(server)
    )


def named(config: McpConfig) -> Iterator[tuple[str, McpServer]]:
    """Every server with the name it is stored under; of addresses with one name the first keeps it.

    They come in the order SSE, HTTP, stdio. Raises ServiceError(INVALID) for a name given twice.
    """
    _refuse_double_names(config)
    taken = {*_unlisted(config), *filter(None, map(_given_name, _servers(config)))}
    used: set[str] = set()
    for server in _servers(config):
        name = _given_name(server)
        if name is None or name in used:
            stem = name or _host_name(server)
            name, number = stem, 1
            while name in taken:
                number += 1
                name = f"{stem}-{number}"
        taken.add(name)
        used.add(name)
        yield name, server


def _server_of(name: str, members: Any) -> McpServer | None:
    model = _model_of(members) if isinstance(members, dict) else None
    if model is None:
        return None
    try:
        return model.model_validate({**members, "name": name})
    except ValidationError:
        return None


def _model_of(members: Mapping[str, Any]) -> type[McpServer] | None:
    """By the transport; where none is named by a command or the look of the address, as the server judges it."""
    transport, url = members.get("transport"), members.get("url")
    if transport is not None:
        return _MODELS.get(transport) if isinstance(transport, str) else None
    if members.get("command") is not None:
        return StdioServer
    if not isinstance(url, str):
        return None
    return SseServer if _SSE_PATH.search(url.partition("?")[0]) else ShttpServer


def _servers(config: McpConfig) -> tuple[McpServer, ...]:
    return (*config.sse_servers, *config.shttp_servers, *config.stdio_servers)


def _unlisted(config: McpConfig) -> dict[str, Any]:
    return dict((config.model_extra or {}).get(UNLISTED) or {})


def _refuse_double_names(config: McpConfig) -> None:
    """A name that a person typed must not push another server aside."""
    taken = Counter((*filter(None, map(_given_name, _servers(config))), *_unlisted(config)))
    for place, server in enumerate(config.stdio_servers):
        if taken[server.name] > 1:
            raise invalid(("mcp_config", "stdio_servers", place, "name"), "another server has this name.")


def _given_name(server: McpServer) -> str | None:
    name = server.name if isinstance(server, StdioServer) else (server.model_extra or {}).get("name")
    return name if isinstance(name, str) and name else None


def _host_name(server: McpServer) -> str:
    try:
        host = "" if isinstance(server, StdioServer) else urlsplit(server.url).hostname or ""
    except ValueError:
        host = ""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", host).strip("-") or "server"


def _members(server: McpServer) -> dict[str, Any]:
    """What is stored of a server: the members it was given, and what it signs in with."""
    given = server.model_dump(exclude_unset=True, exclude={"name", "api_key", "auth"})
    members = {name: value for name, value in given.items() if value is not None}
    if _model_of(members) is not type(server):
        members["transport"] = _TRANSPORTS[type(server)]
    auth = _auth(server)
    return members if auth is None else members | {"auth": auth}


def _auth(server: McpServer) -> Any:
    """The key that was typed, or what says something without its hidden secret."""
    auth = (server.model_extra or {}).get("auth")
    key = None if isinstance(server, StdioServer) else server.api_key
    if key is not None and key.get_secret_value():
        own = auth if isinstance(auth, dict) and auth.get("strategy") == "api_key" else {"strategy": "bearer"}
        return {**own, "value": key}
    hidden = isinstance(auth, dict) and not _typed(auth) and auth.get("strategy") not in _OPEN_STRATEGIES
    return None if hidden else auth


def _typed(auth: Any) -> bool:
    return any(name not in _AUTH_LOADED for name in auth) if isinstance(auth, dict) else auth is not None


def _has_secret(server: McpServer) -> bool:
    members = _members(server)
    return bool(members.get("env") or members.get("headers")) or _typed(members.get("auth"))


def _target(server: McpServer) -> tuple[str, ...]:
    """What a server reaches or runs: it stays the same one under another name."""
    return (server.command, *server.args) if isinstance(server, StdioServer) else (server.url,)
