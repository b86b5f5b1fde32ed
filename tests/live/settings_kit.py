"""Reading, changing and putting back a server's settings, and what tells two records apart."""

from collections.abc import Mapping
from typing import Any

from quarterdeck.client.client import Client
from quarterdeck.client.models.mcp import McpConfig
from quarterdeck.client.models.server import Server
from quarterdeck.client.models.settings import Settings
from quarterdeck.client.nested import CANONICAL
from quarterdeck.client.nested_mcp import config_of, map_of

FLAGS: Mapping[str, str] = {"llm_api_key": "llm_api_key_set", "search_api_key": "search_api_key_set"}
"""Secret field -> the member that says whether one is stored."""
_OF_PROFILES = frozenset({"llm_profiles", "active_agent_profile_id", "active_agent_profile_revision"})
"""Members that profiles own: a change of the LLM settings ends the active one."""


def shown_after_store(config: McpConfig) -> McpConfig:
    """What a nested server tells of tool servers once they are stored: named, and without any secret."""
    return config_of({name: _as_loaded(members) for name, members in map_of(config).items()})


def _as_loaded(members: Any) -> Any:
    if not isinstance(members, dict):
        return members
    told = {name: value for name, value in members.items() if name not in ("env", "headers", "auth")}
    auth, headers = members.get("auth"), members.get("headers")
    if isinstance(auth, dict):
        told["auth"] = {name: auth[name] for name in ("strategy", "header_name", "username") if name in auth}
    elif auth is not None or (isinstance(headers, dict) and "authorization" in {name.lower() for name in headers}):
        told["auth"] = {"strategy": "bearer"}
    return told


async def settings_of(client: Client) -> Settings:
    """Read the record; a server that has none gets one first."""
    if (record := await client.settings.load()) is not None:
        return record
    await client.settings.store(None, {"language": "en"})
    record = await client.settings.load()
    assert record is not None
    return record


async def changed(client: Client, base: Settings, changes: Mapping[str, Any]) -> Settings:
    """Store changes to a record and read it again."""
    await client.settings.store(base, changes)
    record = await client.settings.load()
    assert record is not None
    return record


def values(record: Settings) -> dict[str, Any]:
    """Every value of a record by its name, fields before the places that hold them."""
    members = {name: getattr(record, name) for name in record.model_fields_set - {"leaves"} - _OF_PROFILES}
    return members | {place: value for place, value in record.leaves.items() if place not in CANONICAL}


def unlike(one: Settings, other: Settings) -> set[str]:
    """Names of the values in which two records differ."""
    left, right = values(one), values(other)
    return {name for name in left.keys() | right.keys() if left.get(name) != right.get(name)}


def has_field(name: str, record: Settings, server: Server) -> bool:
    """Whether a server has a field: all have the documented ones it does not deny, others where a record shows them."""
    return server.rules(name).present and (name in Settings.model_fields or name in (record.model_extra or {}))


def unrestorable(record: Settings, server: Server) -> tuple[str, ...]:
    """What a record holds that no test could put back, since its values are never told."""
    held = [name for name, flag in FLAGS.items() if getattr(record, flag)]
    if server.nested and record.mcp_config not in (None, McpConfig()):
        held.append("the secrets of MCP servers")
    return tuple(held)


async def put_back(client: Client, before: Settings) -> tuple[str, ...]:
    """Make the record what it was; what could not be put back is returned."""
    server, now = client.server, await settings_of(client)
    was, changes = values(before), dict[str, Any]()
    secrets = {flag: name for name, flag in FLAGS.items()}
    for name in unlike(before, now):
        field, value = (secrets[name], None) if name in secrets else (name, was.get(name))
        if value is not None or server.rules(field).clearable:
            changes[field] = value
    after = await changed(client, now, changes) if changes else now
    return tuple(f"{name} is {values(after).get(name)!r}" for name in sorted(unlike(before, after)))
