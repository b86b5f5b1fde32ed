"""Where a server keeps its settings, and what it does with each field: known of it before any settings are read."""

from collections.abc import Mapping

from quarterdeck.client.flat_rules import flat_rules
from quarterdeck.client.models.capabilities import FieldRules, Generation, KeyState, Server
from quarterdeck.client.nested_rules import NESTED_RULES

FLAT_SETTINGS = "/api/settings"
NESTED_SETTINGS = "/api/v1/settings"

UNASKED = Server(Generation.FLAT, KeyState.UNPROVEN, fields=flat_rules(merges=False))
"""A server before it has been described: the documented one, at its most destructive."""


def rules_of(generation: Generation, *, merges: bool) -> Mapping[str, FieldRules]:
    """What a server of this generation does with each field."""
    match generation:
        case Generation.FLAT:
            return flat_rules(merges=merges)
        case Generation.NESTED:
            return NESTED_RULES
        case Generation.NONE:
            return {}


def settings_path(server: Server) -> str:
    """Where a server keeps its settings."""
    return NESTED_SETTINGS if server.generation is Generation.NESTED else FLAT_SETTINGS
