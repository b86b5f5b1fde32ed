"""The flat generation's fields: what unsetting does to each, and which are in effect (contract section c.1)."""

from collections.abc import Mapping

from quarterdeck.client.models.capabilities import FieldRules

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
"""Fields that conversations of the flat generation do not read (needs.md fact 0.12)."""

_ALWAYS_SET = FieldRules(nullable=False, clearable=False)

_BOTH = {
    "enable_default_condenser": _ALWAYS_SET,
    "enable_sound_notifications": _ALWAYS_SET,
    "enable_proactive_conversation_starters": _ALWAYS_SET,
    "enable_solvability_analysis": _ALWAYS_SET,
    "secrets_store": _ALWAYS_SET,
    "llm_api_key": FieldRules(nullable=False, clear_with=""),
}

REPLACING = _BOTH | {
    "llm_model": FieldRules(nullable=False, clear_with=""),
    "llm_base_url": FieldRules(nullable=False, clear_with=""),
    "user_consents_to_analytics": FieldRules(nullable=False, clearable=False),
    # Nothing and an empty text keep the stored key; one blank was seen to clear it on 1.2.1 and on 1.6.0.
    "search_api_key": FieldRules(nullable=False, clear_with=" "),
}
"""Releases 1.2 and 1.6, where null keeps some fields and wipes the others (contract c.1)."""

MERGING = _BOTH | {
    "search_api_key": FieldRules(nullable=False, clear_with=""),
    "sandbox_api_key": FieldRules(nullable=False, clear_with=""),
}
"""The local service: null unsets, except a secret, which an empty text clears."""


def flat_rules(*, merges: bool) -> Mapping[str, FieldRules]:
    """The rules of a flat server, which fields are in effect included."""
    rules = dict(MERGING if merges else REPLACING)
    return rules | {name: rules.get(name, FieldRules())._replace(in_effect=False) for name in NOT_IN_EFFECT}
