"""MCP servers of the nested generation: a map by name, told without secrets and replaced as a whole."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import count
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
_TRANSPORTS: Mapping[type[McpServer], str] = {StdioServer: "stdio", SseServer: "sse", ShttpServer: "http"}
_SSE_PATH = re.compile(r"/sse(/|$)")
_OPEN_STRATEGIES = ("none", "oauth2")
"""Ways to sign in that say something without a secret beside them."""
_AUTH_LOADED = ("strategy", "header_name", "username")


def config_of(servers: Mapping[str, Any]) -> McpConfig:
    """Sort a map into the three lists; the name of a server is kept as its member `name`, others as they came."""
    lists: dict[type[McpServer], list[McpServer]] = {StdioServer: [], SseServer: [], ShttpServer: []}
    unlisted: dict[str, Any] = {}
    for name, members in servers.items():
        server = _server_of(name, members)
        if server is None:
            unlisted[name] = members
        else:
            lists[type(server)].append(server)
    return McpConfig.model_validate(
        {
            "sse_servers": lists[SseServer],
            "stdio_servers": lists[StdioServer],
            "shttp_servers": lists[ShttpServer],
            **({UNLISTED: unlisted} if unlisted else {}),
        }
    )


def map_of(config: McpConfig) -> dict[str, Any]:
    """Write the map that a store sends, with the secrets that were typed and no others.

    A server without a name of its own gets one made from its host. Raises ServiceError(INVALID) for a name given twice.
    """
    return {name: _members(server) for name, server in named(config)} | _unlisted(config)


def shown_after_store(config: McpConfig) -> McpConfig:
    """What a load tells of a configuration once it is stored: named, and without any secret."""
    return config_of({name: _as_loaded(members) for name, members in map_of(config).items()})


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


def _server_of(name: str, members: Any) -> McpServer | None:
    model = _model_of(members) if isinstance(members, dict) else None
    if model is None:
        return None
    try:
        return model.model_validate({**members, **_whole_timeout(members), "name": name})
    except ValidationError:
        return None


def _whole_timeout(members: Mapping[str, Any]) -> dict[str, int]:
    """The time-out as the whole number it was: the server answers with a point in it."""
    timeout = members.get("timeout")
    return {"timeout": int(timeout)} if isinstance(timeout, float) and timeout.is_integer() else {}


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


def named(config: McpConfig) -> Iterator[tuple[str, McpServer]]:
    """Every server with the name it is stored under; of addresses with one name the first keeps it.

    They come in the order SSE, HTTP, stdio. Raises ServiceError(INVALID) for a name given twice.
    """
    _refuse_double_names(config)
    taken = {*_unlisted(config), *filter(None, map(_given_name, _servers(config)))}
    used: set[str] = set()
    for server in _servers(config):
        given = _given_name(server)
        if given is None or given in used:
            stem = given or _host_name(server)
            given = next(name for number in count(1) if (name := _numbered(stem, number)) not in taken)
        taken.add(given)
        used.add(given)
        yield given, server


def _refuse_double_names(config: McpConfig) -> None:
    """A name that a person typed must not push another server aside."""
    remote = {_given_name(server) for server in _servers(config) if not isinstance(server, StdioServer)}
    times = Counter(server.name for server in config.stdio_servers)
    for place, server in enumerate(config.stdio_servers):
        if times[server.name] > 1 or server.name in remote or server.name in _unlisted(config):
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


def _numbered(stem: str, number: int) -> str:
    return stem if number == 1 else f"{stem}-{number}"


def _members(server: McpServer) -> dict[str, Any]:
    members = server.model_dump(exclude_unset=True, exclude={"name", "api_key"})
    members = {name: value for name, value in members.items() if value is not None and name != "name"}
    if _model_of(members) is not type(server):
        members["transport"] = _TRANSPORTS[type(server)]
    auth = _auth(server, members.pop("auth", None))
    return members if auth is None else members | {"auth": auth}


def _auth(server: McpServer, auth: Any) -> Any:
    """What a server signs in with: the key that was typed, or what says something without its hidden secret."""
    key = None if isinstance(server, StdioServer) else server.api_key
    if key is not None and key.get_secret_value():
        own = auth if isinstance(auth, dict) and auth.get("strategy") == "api_key" else {"strategy": "bearer"}
        return {**own, "value": key}
    return auth if not isinstance(auth, dict) or _typed(auth) or auth.get("strategy") in _OPEN_STRATEGIES else None


def _typed(auth: Mapping[str, Any]) -> bool:
    return any(name not in _AUTH_LOADED for name in auth)


def _has_secret(server: McpServer) -> bool:
    members = _members(server)
    auth = members.get("auth")
    typed = _typed(auth) if isinstance(auth, dict) else auth is not None
    return typed or bool(members.get("env")) or bool(members.get("headers"))


def _target(server: McpServer) -> tuple[str, ...]:
    """What a server reaches or runs: it stays the same one under another name."""
    return (server.command, *server.args) if isinstance(server, StdioServer) else (server.url,)


def _as_loaded(members: Any) -> Any:
    """What a load tells of the members that were sent."""
    if not isinstance(members, dict):
        return members
    told = {name: value for name, value in members.items() if name not in ("env", "headers", "auth")}
    auth, headers = members.get("auth"), members.get("headers")
    if isinstance(auth, dict):
        told["auth"] = {name: auth[name] for name in _AUTH_LOADED if name in auth}
    elif auth is not None or (isinstance(headers, dict) and "authorization" in {name.lower() for name in headers}):
        told["auth"] = {"strategy": "bearer"}
    return told
