"""What `KEY=VALUE` means for the settings of one server."""

from collections.abc import Sequence
from typing import Any

from pydantic import SecretStr, ValidationError

from quarterdeck.cli.output import FROM_INPUT, CommandError, from_input
from quarterdeck.client.models.mcp import McpConfig
from quarterdeck.settings.catalogue import BY_KEY
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.fields import Control, Field
from quarterdeck.settings.form_fields import FormFields
from quarterdeck.settings.mcp import Servers, listed
from quarterdeck.settings.mcp_server import identities

Assignment = tuple[str, str]
_WORDS = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}


def typed(assignments: Sequence[Assignment]) -> list[Assignment]:
    """The assignments, with what standard input holds in the place of "-"; raises CommandError (status 2)."""
    if len({key for key, _ in assignments}) < len(assignments):
        raise CommandError("A setting is named twice.", "Name each setting once.", status=2)
    if sum(text == FROM_INPUT for _, text in assignments) > 1:
        raise CommandError("Only one setting can come from standard input.", "Use one command for each.", status=2)
    for key, text in assignments:
        if "." not in key:
            _refuse_seen_secret(_field(BY_KEY.get(key), key), text)
    return [(key, from_input("value").strip() if text == FROM_INPUT else text) for key, text in assignments]


def refuse_seen_secrets(fields: FormFields, assignments: Sequence[Assignment]) -> None:
    """Raise CommandError (status 2) where a setting is none of this server's, or an argument holds a secret."""
    for key, text in assignments:
        _refuse_seen_secret(_field(fields.by_key.get(key), key), text)


def edited(draft: Draft, assignments: Sequence[Assignment]) -> Draft:
    """The draft with each text in its field; raises CommandError (status 2) for one that means nothing."""
    for key, text in assignments:
        entry = draft.field_at(key)
        if key == MCP:
            draft = draft.set(key, _servers(draft.servers, text))
        elif not text and entry.described:
            draft = draft.unset(key)
        else:
            draft = draft.set(key, _value(entry, text))
    return draft


def _field(entry: Field | None, key: str) -> Field:
    if entry is not None and entry.control is not Control.READ_ONLY:
        return entry
    advice = "`quarterdeck settings show --all` lists those of a server."
    raise CommandError(f"{key!a} is not a setting that can be changed.", advice, status=2)


def _refuse_seen_secret(entry: Field, text: str) -> None:
    if text not in ("", FROM_INPUT) and (entry.secret or entry.key == MCP):
        advice = f"Write {entry.key}=- and give the value on standard input."
        raise CommandError(f"{entry.key} may hold a secret, and arguments are seen by others.", advice, status=2)


def _value(entry: Field, text: str) -> Any:
    if not text:
        return None
    if entry.secret:
        return SecretStr(text)
    if entry.control in (Control.SWITCH, Control.THREE_WAY):
        if text.lower() not in _WORDS:
            raise CommandError(f"{entry.key} is on or off.", f"Write {entry.key}=on or {entry.key}=off.", status=2)
        return _WORDS[text.lower()]
    return entry.reads(text)


def _servers(held: Servers, text: str) -> Servers:
    """The whole list given as JSON, each server taking the place of the held one of its name or address."""
    try:
        wanted = listed(McpConfig.model_validate_json(text or "{}"))
    except ValidationError as error:
        where = "; ".join(
            f"{'.'.join(map(str, part['loc']))}: {part['msg']}" for part in error.errors(include_input=False)
        )
        raise CommandError(f"mcp_config: {where}.", "Give the three lists as one JSON object.", status=2) from None
    rows = dict(zip(identities(entry.server for entry in held.left), held.left, strict=True))
    for identity, server in zip(identities(wanted), wanted, strict=True):
        entry = rows.pop(identity, None)
        held = held.add(server) if entry is None else held.edit(entry.row, server)
    for entry in rows.values():
        held = held.remove(entry.row)
    return held
