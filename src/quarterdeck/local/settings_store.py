"""What a store of flat settings makes of the stored record, and what a load tells of it: pure functions.

Two ways to store. *Merge* is the service's own: nothing is lost that a body leaves out. *Replace* is what release 1.6
does (contract c.1), for tests of clients that have to live with it.
"""

from collections.abc import Iterator
from typing import Any, Literal

from quarterdeck.local.bodies import SettingsBody
from quarterdeck.local.secret_rules import is_mask, providers_set, unless_blank

Record = dict[str, Any]
Mode = Literal["merge", "replace", "nested"]
"""How settings are stored: as the service does, as release 1.6 does, or as release 1.11 does."""
Location = tuple[str | int, ...]

DEFAULTS: Record = SettingsBody().model_dump(mode="json", exclude={"secrets_store"})
"""The record of somebody who has set nothing."""

_SECRETS = ("llm_api_key", "search_api_key", "sandbox_api_key")
_NOT_STORED_HERE = frozenset({"llm_api_key_set", "search_api_key_set", "provider_tokens_set", "secrets_store"})
_NO_SERVERS: Record = {"sse_servers": [], "stdio_servers": [], "shttp_servers": []}
_SERVER_MEMBERS = {
    "sse_servers": ("url", "api_key"),
    "stdio_servers": ("name", "command", "args", "env"),
    "shttp_servers": ("url", "api_key", "timeout"),
}
_KEPT_ON_REPLACE = ("llm_model", "llm_api_key", "llm_base_url", "user_consents_to_analytics", "disabled_skills")
_SHORTEST_MASK_OF_ENVIRONMENT = 3  # a single star is a value like any other there


def merge(stored: Record | None, sent: Record) -> Record:
    """Store what was sent and keep the rest: null unsets, but of a secret null keeps and "" clears."""
    record = DEFAULTS | (stored or {})
    for name, value in sent.items():
        if name in _NOT_STORED_HERE:
            continue
        if name in _SECRETS:
            record[name] = _merge_secret(record[name], value)
        elif name == "mcp_config":
            record[name] = None if value is None else {**_NO_SERVERS, **(record[name] or {}), **value}
        else:
            record[name] = None if name == "llm_base_url" and value == "" else value
    return record


def replace(stored: Record | None, sent: Record) -> Record:
    """Store a whole record made of what was sent, as release 1.6 does: most of what it leaves out is wiped."""
    record = DEFAULTS | {name: value for name, value in sent.items() if name in DEFAULTS}
    if stored is not None:
        for name in _KEPT_ON_REPLACE:
            if record[name] is None:
                record[name] = stored[name]
        record["search_api_key"] = record["search_api_key"] or stored["search_api_key"]
    for name in ("llm_api_key", "search_api_key", "llm_base_url"):
        record[name] = unless_blank(record[name])
    if record["mcp_config"] is not None:
        record["mcp_config"] = {
            kind: [{name: server[name] for name in members} for server in record["mcp_config"].get(kind, [])]
            for kind, members in _SERVER_MEMBERS.items()
        }
    return record


def load_response(record: Record, secrets: Record | None = None) -> Record:
    """The stored record with its secrets as null, and the load-only members that say which are set."""
    record = DEFAULTS | record
    return {
        **record,
        **dict.fromkeys(_SECRETS),
        "secrets_store": {"provider_tokens": {}},
        "provider_tokens_set": providers_set(secrets),
        "llm_api_key_set": record["llm_api_key"] is not None,
        "search_api_key_set": record["search_api_key"] is not None,
    }


def masked_secrets(sent: Record) -> list[Location]:
    """Where a body has a mask in the place of a secret: somebody showed it and it was never the secret."""
    return [
        location
        for location, value, shortest in _secrets(sent)
        if isinstance(value, str) and len(value.strip()) >= shortest and is_mask(value)
    ]


def _secrets(sent: Record) -> Iterator[tuple[Location, object, int]]:
    """Every secret of a body: where it is, its value, and how long a mask is at least in its place."""
    for name in _SECRETS:
        yield (name,), sent.get(name), 1
    for kind, servers in (sent.get("mcp_config") or {}).items():
        for index, server in enumerate(servers):
            place = ("mcp_config", kind, index)
            yield (*place, "api_key"), server.get("api_key"), 1
            for name, value in server.get("env", {}).items():
                yield (*place, "env", name), value, _SHORTEST_MASK_OF_ENVIRONMENT
    for group, member in (("provider_tokens", "token"), ("custom_secrets", "secret")):
        for name, entry in sent.get("secrets_store", {}).get(group, {}).items():
            yield ("secrets_store", group, name, member), entry.get(member), 1


def _merge_secret(stored: str | None, sent: str | None) -> str | None:
    return stored if sent is None else unless_blank(sent)
