"""The flat generation: its rules for each field, its records, and the body that stores changes."""

from collections.abc import Iterator, Mapping
from typing import Any

from quarterdeck.client.models.enums import is_mask
from quarterdeck.client.models.mcp import LISTS, McpConfig
from quarterdeck.client.models.server import FieldRules, Generation, KeyState, Server
from quarterdeck.client.models.settings import LOAD_ONLY, SECRET_FIELDS, Loss, Settings, SettingsChanges
from quarterdeck.client.redact import invalid

FLAT_SETTINGS = "/api/settings"
KNOWN_BY = frozenset({"user_version", "v1_enabled", "condenser_max_size"})
"""Members that records of known releases always have, even if null (SERVERS.md: a server of no known release)."""
FILLS_ADDRESS = "sandbox_grouping_strategy"
"""A member that records have since release 1.6, in which the server fills in the address of a model's provider."""
NOT_IN_EFFECT = (
    "agent",
    "max_iterations",
    "max_budget_per_task",
    "enable_default_condenser",
    "sandbox_base_container_image",
    "sandbox_runtime_container_image",
    "remote_runtime_resource_factor",
    "sandbox_api_key",
)
"""Fields that conversations of these releases do not use."""

_NOT_SENT_BACK = LOAD_ONLY | {"secrets_store", "leaves"}
_ALWAYS_SET = FieldRules(clearable=False)
_CLEARED_BY_EMPTY = FieldRules(clear_with="")
_BOTH = {
    "enable_default_condenser": _ALWAYS_SET,
    "enable_sound_notifications": _ALWAYS_SET,
    "enable_proactive_conversation_starters": _ALWAYS_SET,
    "enable_solvability_analysis": _ALWAYS_SET,
    "secrets_store": _ALWAYS_SET,
    "llm_api_key": _CLEARED_BY_EMPTY,
}
_REPLACING = {
    "llm_model": _CLEARED_BY_EMPTY,
    "llm_base_url": _CLEARED_BY_EMPTY,
    "user_consents_to_analytics": _ALWAYS_SET,
    "sandbox_grouping_strategy": _ALWAYS_SET,
    "disabled_skills": _ALWAYS_SET,
    "search_api_key": FieldRules(clear_with=" "),
}
"""Where a store replaces the record, null keeps some fields and resets the others (SERVERS.md: unsetting a field)."""
_MERGING = {"search_api_key": _CLEARED_BY_EMPTY, "sandbox_api_key": _CLEARED_BY_EMPTY}
"""On a server that merges, like the local service, null unsets a field; a secret is cleared by an empty text."""


def flat_rules(*, merges: bool) -> Mapping[str, FieldRules]:
    """Return what a flat server does with each field, including its effect (SERVERS.md: fields without effect)."""
    rules = _BOTH | (_MERGING if merges else _REPLACING)
    return rules | {name: rules.get(name, FieldRules())._replace(in_effect=False) for name in NOT_IN_EFFECT}


UNASKED = Server(Generation.FLAT, KeyState.UNPROVEN, fields=flat_rules(merges=False))
"""An undescribed server: assumed to be the documented one, with the most destructive store."""


def flat_members(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the canonical members of a loaded record, without null members, which are unset; unknown ones are kept."""
    return {
        name: value
        for name, value in content.items()
        if name != "leaves" and (value is not None or name not in Settings.model_fields)
    }


def flat_body(base: Settings | None, changes: SettingsChanges, server: Server) -> dict[str, Any]:
    """Return the body that stores these changes.

    A server that replaces gets the whole loaded record, with unknown members; a server that merges gets only the
    changes (SERVERS.md: what a flat store keeps). Raises ServiceError(INVALID) for a field that cannot be unset.
    """
    body = {} if base is None or server.merges else _loaded(base)
    for name, value in changes.items():
        if "." in name or not server.rules(name).present:
            raise invalid((name,), "this server has no such setting.")
        body[name] = server.rules(name).unset(name) if value is None else value
    if isinstance(body.get("mcp_config"), McpConfig):
        body["mcp_config"] = mcp_body(body["mcp_config"])
    if FILLS_ADDRESS in body and "llm_model" in changes and not server.merges:
        # A hidden address may be the server's own for the old model (SERVERS.md: the address of a model).
        body.setdefault("llm_base_url", "")
    return body


def flat_losses(base: Settings, changes: SettingsChanges, server: Server) -> Iterator[Loss]:
    """Yield what a store loses, or may lose, because no load returns it (SERVERS.md: secrets of the flat record)."""
    if server.merges:
        return
    if base.sandbox_api_key is None and "sandbox_api_key" not in changes:
        yield Loss("sandbox_api_key", certain=True)
    if server.local or (base.model_extra or {}).keys() >= KNOWN_BY:
        return
    for name, stored in (("llm_api_key", base.llm_api_key_set), ("search_api_key", base.search_api_key_set)):
        if getattr(base, name) is None and stored is not False and name not in changes:
            yield Loss(name, certain=False)
    if "secrets_store" not in changes:
        yield Loss("secrets_store", certain=False, parts=tuple(base.provider_tokens_set or ()))


def mcp_body(config: McpConfig) -> dict[str, Any]:
    """Return tool servers with exactly the members they were given, and always all three lists."""
    return dict.fromkeys(LISTS, ()) | config.model_dump(exclude_unset=True)


def _loaded(base: Settings) -> dict[str, Any]:
    """Return what was loaded, without unset members, members that only a load has, and masks."""
    return {
        name: value
        for name, value in base  # an attribute may be another thing than the unknown member of its name
        if name in base.model_fields_set
        and value is not None
        and name not in _NOT_SENT_BACK
        and not (name in SECRET_FIELDS and is_mask(value.get_secret_value()))
    }
