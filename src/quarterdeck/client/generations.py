"""Which of the two generations a server is of: where it keeps its settings, their records, bodies and losses."""

from collections.abc import Mapping
from typing import Any

from pydantic import SecretStr

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.flat import FLAT_SETTINGS, flat_body, flat_losses, flat_members, flat_rules, mcp_body
from quarterdeck.client.models.mcp import McpConfig
from quarterdeck.client.models.server import FieldRules, Generation, KeyState, Server
from quarterdeck.client.models.settings import SECRET_FIELDS, Loss, Settings, SettingsChanges
from quarterdeck.client.nested import NESTED_RULES, NESTED_SETTINGS, nested_body, nested_losses, nested_members
from quarterdeck.client.nested_mcp import shown_after_store
from quarterdeck.client.redact import secrets_in
from quarterdeck.client.unsendable import refuse_unsendable

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


def canonical_members(content: Mapping[str, Any], server: Server) -> dict[str, Any]:
    """The members of the canonical record in what a server answered."""
    return nested_members(content) if server.generation is Generation.NESTED else flat_members(content)


def store_body(base: Settings | None, changes: SettingsChanges, server: Server) -> dict[str, Any]:
    """Write the body that stores these changes on this server; secrets in it are still `SecretStr`.

    Raises ServiceError(INVALID), naming the field, for what the server would not store as meant or could not read
    again; WRONG_API for a base that was loaded from a server of the other generation.
    """
    _refuse_other_generation(base, server)
    if server.generation is Generation.NESTED:
        refuse_unsendable({name: _plain(value) for name, value in changes.items()})
        return nested_body(base, changes)
    body = flat_body(base, changes, server)
    refuse_unsendable(body)
    return body


def shows(now: Settings, changes: SettingsChanges, server: Server) -> bool:
    """Whether a record shows all of these changes; of a secret it can show only that none is stored."""
    return all(_shown(now, name, value, server) for name, value in changes.items())


def losses(base: Settings | None, changes: SettingsChanges, server: Server) -> tuple[Loss, ...]:
    """What a store of these changes takes away, or may take away, although they do not name it."""
    if base is None:
        return ()
    if server.generation is Generation.NESTED:
        return tuple(nested_losses(base, changes))
    return tuple(flat_losses(base, changes, server))


def _plain(value: Any) -> Any:
    return mcp_body(value) if isinstance(value, McpConfig) else value


def _shown(now: Settings, name: str, value: Any, server: Server) -> bool:
    if isinstance(value, SecretStr) or name == "secrets_store":
        return False
    if name in SECRET_FIELDS:
        return getattr(now, f"{name}_set", None) is False
    if "." in name:
        return value is None or bool(now.leaves.get(name) == value)
    found = getattr(now, name, None)
    if isinstance(value, McpConfig) and server.mcp_secrets_hidden:
        return not secrets_in(mcp_body(value)) and found == shown_after_store(value)
    # An unset text may read as an empty one.
    return bool(found == value) or (value is None and (found == "" or found == McpConfig()))


def _refuse_other_generation(base: Settings | None, server: Server) -> None:
    if base is not None and bool(base.leaves) is not (server.generation is Generation.NESTED):
        raise ServiceError(
            ErrorKind.WRONG_API,
            "These settings were read from a server of another kind than the one that answers now.",
            "Read the settings again and repeat the change.",
            outcome=Outcome.NOT_SENT,
        )
