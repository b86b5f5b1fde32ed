"""How canonical settings differ on servers of the nested generation (contract c.2): what they take, who has them."""

from collections.abc import Mapping
from dataclasses import replace

from quarterdeck.settings.fields import checks, choices
from quarterdeck.settings.fields.field import Choice, Field

ONE_KIND = frozenset({"agent", "enable_default_condenser", "condenser_max_size"})
"""Settings that only the service's own kind of agent has."""

OF_AGENT = ONE_KIND | {"llm_model", "llm_api_key", "llm_base_url", "mcp_config"}
"""Settings that are kept with the agent, and go when its kind is changed (contract T31)."""

PLACES: Mapping[str, str] = {
    "agent_settings.condenser.enabled": "enable_default_condenser",
    "conversation_settings.confirmation_mode": "confirmation_mode",
}
"""Canonical settings that others need, by the place a server names them with."""

_ONLY: Mapping[str, tuple[Choice, ...]] = {
    "security_analyzer": choices.explained({key: choices.ANALYZERS[key] for key in ("llm", "none")}),
    "sandbox_grouping_strategy": choices.explained(choices.GROUPINGS),
}
"""Settings of which any other value is refused or, worse, stored and never read again (contract T3)."""


def as_nested(entry: Field) -> Field:
    """A canonical setting as the nested generation takes it."""
    if entry.key not in _ONLY:
        return replace(entry, effect="")
    only = _ONLY[entry.key]
    return replace(entry, choices=only, checks=(checks.only([choice.value for choice in only]),))
