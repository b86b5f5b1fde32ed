"""The nested generation's fields: where each stands, what it takes, and what unsetting does (contract c.2)."""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from pydantic import SecretStr

from quarterdeck.client.models.capabilities import FieldRules
from quarterdeck.client.unsendable import invalid

AGENT, CONVERSATION = "agent_settings", "conversation_settings"
AGENT_KIND = f"{AGENT}.agent_kind"
MCP = "mcp_config"

PLACES: Mapping[str, str] = {
    "agent": f"{AGENT}.agent",
    "llm_model": f"{AGENT}.llm.model",
    "llm_api_key": f"{AGENT}.llm.api_key",
    "llm_base_url": f"{AGENT}.llm.base_url",
    "enable_default_condenser": f"{AGENT}.condenser.enabled",
    "condenser_max_size": f"{AGENT}.condenser.max_size",
    MCP: f"{AGENT}.{MCP}",
    "max_iterations": f"{CONVERSATION}.max_iterations",
    "confirmation_mode": f"{CONVERSATION}.confirmation_mode",
    "security_analyzer": f"{CONVERSATION}.security_analyzer",
}
"""Canonical fields that are not at the top level; all others keep their name there."""

CANONICAL: Mapping[str, str] = {place: name for name, place in PLACES.items()}

GROUPINGS = ("NO_GROUPING", "GROUP_BY_NEWEST", "LEAST_RECENTLY_USED", "FEWEST_CONVERSATIONS", "ADD_TO_ANY")
ANALYZERS = ("llm", "none")
LARGEST = 2**53
"""Whole numbers up to this are the same number for every reader of JSON."""


class Kind(NamedTuple):
    """What a field takes, told without coercion: `words` for a person, `accepts` for a value that is not None."""

    words: str
    accepts: Callable[[object], bool]


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST


def _is_number(value: object) -> bool:
    return _is_whole(value) or (isinstance(value, float) and math.isfinite(value))


def _is_list_of_texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)


def _one_of(*words: str) -> Kind:
    return Kind(f"one of {', '.join(words)}", lambda value: isinstance(value, str) and value in words)


TEXT = Kind("a text", lambda value: isinstance(value, str))
_FLAG = Kind("on or off", lambda value: isinstance(value, bool))
_WHOLE = Kind("a whole number", _is_whole)
_NUMBER = Kind("a number", _is_number)
_TEXTS = Kind("a list of texts", _is_list_of_texts)
SECRET = Kind("a secret", lambda value: isinstance(value, SecretStr))

TOP_LEVEL: Mapping[str, Kind] = {
    "language": TEXT,
    "remote_runtime_resource_factor": _WHOLE,
    "enable_sound_notifications": _FLAG,
    "enable_proactive_conversation_starters": _FLAG,
    "user_consents_to_analytics": _FLAG,
    "sandbox_base_container_image": TEXT,
    "sandbox_runtime_container_image": TEXT,
    "disabled_skills": _TEXTS,
    "search_api_key": SECRET,
    "sandbox_api_key": SECRET,
    "max_budget_per_task": _NUMBER,
    "email": TEXT,
    "email_verified": _FLAG,
    "git_user_name": TEXT,
    "git_user_email": TEXT,
    "git_full_clone": _FLAG,
    "v1_enabled": _FLAG,
    "sandbox_grouping_strategy": _one_of(*GROUPINGS),
    "default_sandbox_spec_id": TEXT,
}
"""All that may be sent at the top level, which is stored unread: a wrong type there ends the account (contract T3)."""

BELOW: Mapping[str, Kind] = {
    "agent": TEXT,
    "llm_model": TEXT,
    "llm_api_key": SECRET,
    "llm_base_url": TEXT,
    "enable_default_condenser": _FLAG,
    "condenser_max_size": _WHOLE,
    "max_iterations": _WHOLE,
    "confirmation_mode": _FLAG,
    "security_analyzer": _one_of(*ANALYZERS),
}
"""The canonical fields below the top level, MCP servers excepted."""

_ALWAYS_SET = FieldRules(nullable=False, clearable=False)
_NOT_NULL = (
    "enable_sound_notifications",
    "enable_proactive_conversation_starters",
    "git_full_clone",
    "v1_enabled",
    "sandbox_grouping_strategy",
)
_NULL_KEEPS = ("user_consents_to_analytics", "disabled_skills", "secrets_store")
_NULL_IS_DEFAULT = (
    "agent",
    "enable_default_condenser",
    "condenser_max_size",
    "max_iterations",
    "confirmation_mode",
    "security_analyzer",
)

NESTED_RULES: Mapping[str, FieldRules] = {
    **dict.fromkeys((*_NOT_NULL, *_NULL_KEEPS, *_NULL_IS_DEFAULT, "llm_model", AGENT_KIND), _ALWAYS_SET),
    "enable_solvability_analysis": FieldRules(present=False, nullable=False, clearable=False),
    # Null would be filled in with the provider's address.
    "llm_base_url": FieldRules(nullable=False, clear_with=""),
    # It is stored as ten asterisks whatever is sent.
    "sandbox_api_key": FieldRules(in_effect=False),
}


def checked(name: str, value: object, kind: Kind) -> object:
    """Return what to send for a value, None included; raises ServiceError(INVALID) for one of another type.

    The rules are this generation's own and not those of a `Server` somebody made, so that nothing can be talked into
    sending a null that cannot be read again.
    """
    rules = NESTED_RULES.get(name, FieldRules())
    if value is None:
        if not rules.clearable:
            raise invalid((name,), "this server cannot unset it.")
        return rules.clear_with
    if not kind.accepts(value):
        raise invalid((name,), f"this must be {kind.words}.")
    return value
