"""MCP servers as a map by name, without their secrets (SERVERS.md: MCP servers of the nested record)."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from quarterdeck.client.models.mcp import (
    LISTS,
    McpConfig,
    McpServer,
    ShttpServer,
    StdioServer,
    free_name,
    listed,
    model_by_look,
    name_in_map,
    own_name,
)
from quarterdeck.client.models.settings import Settings, SettingsChanges
from quarterdeck.client.redact import as_secrets, invalid

UNLISTED = "unlisted"
"""The member of a configuration that keeps, by name, the servers that fit into none of the three lists."""

_MODELS = {model.kind.lower(): model for model in LISTS.values()} | {"streamable-http": ShttpServer}
"""The models by what a stored server calls its transport."""
_OPEN_STRATEGIES = ("none", "oauth2")
"""Authentication strategies that are meaningful without a secret."""
_AUTH_LOADED = ("strategy", "header_name", "username")


def config_of(servers: Mapping[str, Any]) -> McpConfig:
    """Convert a map to the three lists; a server's name becomes its member `name`, other members are kept unchanged."""
    found = {name: _server_of(name, members) for name, members in servers.items()}
    unlisted = {name: as_secrets(servers[name]) for name, server in found.items() if server is None}
    return McpConfig.of(filter(None, found.values()), **({UNLISTED: unlisted} if unlisted else {}))


def map_of(config: McpConfig) -> dict[str, Any]:
    """Return the map for a store, with only the secrets that were typed.

    A server without a name gets one made from its host. Raises ServiceError(INVALID) for a name used twice.
    """
    return {name: _members(server) for name, server in named(config)} | _unlisted(config)


def from_earlier(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the servers of an earlier record as later ones tell them (SERVERS.md: MCP servers of earlier records).

    Its masks for variables and headers would be stored as their values, so nothing of them is kept.
    """
    servers = stored.get("mcpServers")
    return {name: _told_later(members) for name, members in servers.items()} if isinstance(servers, dict) else {}


def _told_later(members: Any) -> Any:
    if not isinstance(members, dict):
        return members
    told = {name: value for name, value in members.items() if name not in ("env", "headers", "auth")}
    match members.get("auth"):
        case "oauth":
            told["auth"] = {"strategy": "oauth2"}
        case str():
            told["auth"] = {"strategy": "bearer"}
    return told


def as_earlier(servers: Mapping[str, Any]) -> dict[str, Any]:
    """Return a map for the store of an earlier server, which takes a bearer's key, or `oauth`, as a text."""
    return {name: _sent_earlier(members) for name, members in servers.items()}


def _sent_earlier(members: Any) -> Any:
    match members:
        case {"auth": {"strategy": "bearer", "value": key}}:
            return members | {"auth": key}
        case {"auth": {"strategy": "oauth2"}}:
            return members | {"auth": "oauth"}
    return members


def secrets_lost(base: Settings, changes: SettingsChanges) -> tuple[str, ...]:
    """Return the names of MCP servers that may lose secrets that a load does not tell.

    A load tells of no variable and no header, so every stored server counts of which no secret is known, even if one
    was typed: there may be others. Raises ServiceError(INVALID) for two servers with the same name.
    """
    new = changes.get("mcp_config")
    if base.mcp_config is None or not isinstance(new, McpConfig):
        return ()
    stored, sent = dict(named(base.mcp_config)), dict(named(new))
    renamed = {_target(server): server for name, server in stored.items() if name not in sent}
    before = {name: stored.get(name) or renamed.get(_target(server)) for name, server in sent.items()}
    unlisted = _unlisted(base.mcp_config).keys() & _unlisted(new)
    return (*(name for name, was in before.items() if was is not None and not _has_secret(was)), *sorted(unlisted))


def named(config: McpConfig) -> Iterator[tuple[str, McpServer]]:
    """Yield every server with the name it is stored under; if addresses share a name, the first one keeps it.

    The order is SSE, HTTP, stdio. Raises ServiceError(INVALID) for a name used twice.
    """
    _refuse_double_names(config)
    taken = {*_unlisted(config), *map(own_name, listed(config))}
    used: set[str] = set()
    for server in listed(config):
        name = own_name(server)
        if not name or name in used:
            name = free_name(name_in_map(server), taken)
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
    transport = members.get("transport")
    if transport is None:
        return model_by_look(members)
    return _MODELS.get(transport) if isinstance(transport, str) else None


def _unlisted(config: McpConfig) -> dict[str, Any]:
    return dict((config.model_extra or {}).get(UNLISTED) or {})


def _refuse_double_names(config: McpConfig) -> None:
    """Raise ServiceError(INVALID) if a typed name would replace another server."""
    taken = Counter((*filter(None, map(own_name, listed(config))), *_unlisted(config)))
    for place, server in enumerate(config.stdio_servers):
        if taken[server.name] > 1:
            raise invalid(("mcp_config", "stdio_servers", place, "name"), "another server has this name.")


def _members(server: McpServer) -> dict[str, Any]:
    """Return the stored members of a server: those it was given, and its authentication."""
    given = server.model_dump(exclude_unset=True, exclude={"name", "api_key", "auth"})
    members = {name: value for name, value in given.items() if value is not None}
    if _model_of(members) is not type(server):
        members["transport"] = server.kind.lower()
    auth = stored_auth(server)
    return members if auth is None else members | {"auth": auth}


def stored_auth(server: McpServer) -> Any:
    """Return how a store authenticates: with the typed key, or in a way that is meaningful without a hidden secret."""
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
    """Return what a server connects to or runs; it identifies the server even if its name changes."""
    return (server.command, *server.args) if isinstance(server, StdioServer) else (server.url,)
