"""Settings as a file without secrets, and such a file as edits of a draft.

The file has what is stored, not what a request would hold: one table of settings by key, the MCP servers in the three
lists of the documented interface (2.3), and lists of what is not set and of which secrets were left out. Values with a
null inside are JSON text, in a table `json`.
"""

import json
import re
import tomllib
from dataclasses import dataclass
from typing import Any

from pydantic import SecretStr

from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.fields.field import Control, Field
from quarterdeck.settings.fields.reading import Unreadable, typed
from quarterdeck.settings.kept import nulls
from quarterdeck.settings.kept.plain_values import fits, hides, holds, plain
from quarterdeck.settings.mcp import lists as server_lists

VERSION = 1

_PLACE = re.compile(r"at line (\d+), column (\d+)")
_EXPLAINED = (Control.SERVERS, Control.READ_ONLY, Control.SECRET)


class ImportRefused(Exception):  # noqa: N818 - it is refused, nothing went wrong here
    """The text is no file of settings; the words say why and where, and quote nothing of it."""


@dataclass(frozen=True)
class Imported:
    """A draft with the file's settings as edits, and what of the file could not be taken over, without secrets."""

    draft: Draft
    notes: tuple[str, ...] = ()


def exported(draft: Draft, *, release: str) -> dict[str, Any]:
    """The settings of a draft, edits included, as data for a file; secrets are named and left out."""
    values = {
        entry.key: plain(entry.key, draft.value(entry.key)) for entry in draft.fields.fields if _is_told(draft, entry)
    }
    settings, as_text = nulls.parted(values)
    return {
        "quarterdeck": {"version": VERSION, "release": release},
        "settings": settings,
        "json": as_text,
        "not_set": [key for key, value in values.items() if value is None],
        "secrets": [entry.key for entry in draft.fields.fields if _holds_secret(draft, entry)],
        "mcp": server_lists.written(entry.server for entry in draft.servers.left),
    }


def as_json(data: dict[str, Any]) -> str:
    """The data of `exported` as JSON."""
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def as_toml(data: dict[str, Any]) -> str:
    """The data of `exported` as TOML."""
    import tomli_w

    return tomli_w.dumps(data)


def imported(text: str, draft: Draft) -> Imported:
    """Put the settings of a file on a draft, as one change; what the file does not name is left alone.

    MCP servers keep the secrets stored for the same name or address; others have to be typed. Raises ImportRefused.
    """
    data = _read(text)
    notes: list[str] = []
    values: dict[str, Any] = {}
    for key, value in _told(data, notes):
        entry = draft.fields.by_key.get(key)
        if entry is None or entry.absent or entry.control in (Control.SERVERS, Control.READ_ONLY):
            notes.append(f"{key[:60]} is no setting that can be changed on this server; it is left alone.")
        else:
            values |= _taken(draft, entry, value, notes)
    wanted = server_lists.read(data.get("mcp"), draft.servers)
    if wanted.servers is not draft.servers:
        values[MCP] = wanted.servers
    return Imported(draft.set_all(values), (*notes, *wanted.left_out))


def _is_told(draft: Draft, entry: Field) -> bool:
    """Whether a setting is written down: not one that this server or its record lacks."""
    if entry.absent or entry.control in _EXPLAINED or isinstance(draft.value(entry.key), Unreadable):
        return False
    return not entry.extra or draft.value(entry.key) is not None


def _holds_secret(draft: Draft, entry: Field) -> bool:
    if not entry.secret:
        return False
    return draft.edits[entry.key] is not None if entry.key in draft.edits else bool(draft.stored(entry.key))


def _read(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text)
    except json.JSONDecodeError as error:
        raise ImportRefused(f"This is no JSON: look at line {error.lineno}, column {error.colno}.") from None
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        where = f"look at line {place[1]}, column {place[2]}" if place else "it ends too early"
        raise ImportRefused(f"This is no TOML: {where}.") from None
    except RecursionError:
        raise ImportRefused("This file is nested too deep to be read.") from None
    if not isinstance(data, dict) or not data.keys() & {"settings", "json", "not_set", "mcp"}:
        raise ImportRefused("There are no settings in this file; it needs a table [settings] or [mcp].")
    version = data["quarterdeck"].get("version") if isinstance(data.get("quarterdeck"), dict) else VERSION
    if version != VERSION:
        raise ImportRefused("This file was written by another version of the deck, and is not understood.")
    return data


def _told(data: dict[str, Any], notes: list[str]) -> list[tuple[str, Any]]:
    """(key, value) of each setting in a file, None where it is not set."""
    settings, as_text, not_set = data.get("settings"), data.get("json"), data.get("not_set")
    told = list(settings.items()) if isinstance(settings, dict) else []
    for key, text in as_text.items() if isinstance(as_text, dict) else ():
        try:
            told.append((key, nulls.read(text)))
        except ValueError:
            notes.append(f"{key[:60]} is no JSON; it is left alone.")
    return [*told, *((key, None) for key in (not_set if isinstance(not_set, list) else ()) if isinstance(key, str))]


def _taken(draft: Draft, entry: Field, value: Any, notes: list[str]) -> dict[str, Any]:
    """The edit that a value of a file asks for; none where it is held already or cannot be taken."""
    if not entry.secret and holds(draft, entry.key, value):
        return {entry.key: draft.was(entry.key)}
    if hides(value):
        notes.append(f"{entry.label} has a hidden part; it is left alone.")
        return {}
    if value is None:
        return {} if entry.secret else {entry.key: entry.unset_to}
    if entry.secret and isinstance(value, str) and value:
        return {entry.key: SecretStr(value)}
    if entry.secret or not fits(entry, value):
        notes.append(f"{entry.label} is not of the right kind; it is left alone.")
        return {}
    return {entry.key: value if isinstance(value, bool | str) else entry.reads(typed(value))}
