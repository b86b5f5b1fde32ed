"""Settings as a file without secrets, and such a file as edits of a draft.

The file has what is stored, not what a request would contain: a table of settings by key, and lists of unset settings
and of omitted secrets. Lists and objects are JSON (in TOML, as text), and so are the MCP servers: the `mcpServers`
object of most tools, with a placeholder for each secret.
"""

import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomlkit
from pydantic import SecretStr

from quarterdeck.client.models.base import deeper
from quarterdeck.settings import words
from quarterdeck.settings.changes import fits, holds, masked
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.fields import LIST, OBJECT, TEXT, Control, Field, Unreadable, typed
from quarterdeck.settings.mcp import Servers
from quarterdeck.settings.mcp_json import ON_HERE, TOO_MUCH, PasteError, merge_pasted, pasted, without_secrets
from quarterdeck.settings.mcp_server import holds_hidden, missing
from quarterdeck.settings.review import ALWAYS_SET

VERSION = 2
READ = (1, 2)
"""Versions that can be read: the first had the MCP servers in three lists of a table `mcp`."""
_TOP = frozenset({"quarterdeck", "settings", "not_set", "secrets", "json", "mcp"})
"""The members that a file of either version has."""
_PLACE = re.compile(r"at line (\d+), column (\d+)")
_EXPLAINED = (Control.SERVERS, Control.READ_ONLY, Control.SECRET)


class ImportRefused(Exception):  # noqa: N818 - a refusal, not an error
    """The text is not a settings file; the message says why and where, without quoting it."""


@dataclass(frozen=True)
class Imported:
    """A draft with the file's settings as edits, and sentences without secrets: what was not taken, and notes."""

    draft: Draft
    wrong: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    """What was not taken, though it is not wrong: what this server lacks, or the file does not tell."""
    notes: tuple[str, ...] = ()


def exported(draft: Draft) -> dict[str, Any]:
    """Return the settings of a draft, with its edits, as data for a file; secrets are named and left out."""
    values = {
        entry.key: masked(entry.key, draft.value(entry.key))
        for entry in draft.fields.fields
        if _is_written(draft, entry)
    }
    if draft.servers.remaining:
        values[MCP] = json.loads(without_secrets(entry.server for entry in draft.servers.remaining))
    return {
        "quarterdeck": {"version": VERSION},
        "settings": {key: value for key, value in values.items() if value is not None},
        "not_set": [key for key, value in values.items() if value is None],
        "secrets": [entry.key for entry in draft.fields.fields if _holds_secret(draft, entry)],
    }


def is_json(name: str) -> bool | None:
    """Whether a file of this name gets JSON and not TOML; None if its ending is that of something else."""
    return {".json": True, ".toml": False, "": False}.get(Path(name).suffix.casefold())


def as_json(data: dict[str, Any]) -> str:
    """Return the data of `exported` as JSON in ASCII, because a terminal may show it."""
    return json.dumps(data, indent=2) + "\n"


def as_toml(data: dict[str, Any]) -> str:
    """Return the data of `exported` as TOML, with control characters escaped."""
    settings = {
        key: tomlkit.string(json.dumps(value, indent=2), multiline=True) if isinstance(value, dict | list) else value
        for key, value in data["settings"].items()
    }
    return "".join(map(_printable, tomlkit.dumps(data | {"settings": settings})))


def _printable(character: str) -> str:
    return character if character.isprintable() or character in "\n\u200c\u200d" else f"\\U{ord(character):08x}"


def imported(text: str, draft: Draft) -> Imported:
    """Apply the settings of a file to a draft, as one change; settings that the file lacks are left alone.

    MCP servers keep the secrets stored for the same name or address; others must be typed. Raises ImportRefused.
    """
    wrong: list[str] = []
    left: list[tuple[str, str]] = []
    notes: list[str] = []
    foreign: dict[str, list[str]] = defaultdict(list)
    values: dict[str, Any] = {}
    data = _read(text)
    for key, value in _values(data):
        entry = draft.fields.by_key.get(key)
        if entry is None or not draft.has(entry) or entry.control is Control.READ_ONLY:
            if value is not None:
                section, _, name = key[:60].rpartition(".")
                foreign[section].append(name)
        elif key == MCP:
            values[MCP] = _with_servers(draft, value, wrong, notes)
        else:
            values |= _taken(draft, entry, value, wrong, left)
    had = data.get("secrets")
    secrets = [each for each in draft.fields.fields if isinstance(had, list) and each.key in had and each.secret]
    to_type = [each.label for each in secrets if each.key not in values and draft.stored(each.key) is False]
    notes += [f"{', '.join(to_type)}: to be typed."] if to_type else []
    told = [f"{section}: {', '.join(names)}" if section else ", ".join(names) for section, names in foreign.items()]
    left += ((key[:60], "outside the table [settings].") for key in data if key not in _TOP)
    lacking = (f"{names}: this server does not have it, or lets nobody change it." for names in told)
    return Imported(draft.set_all(values), tuple(wrong), (*lacking, *words.together(left)), tuple(notes))


def _is_written(draft: Draft, entry: Field) -> bool:
    """Whether a setting is exported: not if this server or its record lacks it."""
    if entry.absent or entry.control in _EXPLAINED or isinstance(draft.value(entry.key), Unreadable):
        return False
    is_there = draft.has(entry) or entry.key in draft.edits
    return is_there and (not entry.extra or draft.value(entry.key) is not None)


def _holds_secret(draft: Draft, entry: Field) -> bool:
    if not entry.secret:
        return False
    return draft.edits[entry.key] is not None if entry.key in draft.edits else bool(draft.stored(entry.key))


def _read(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text)
    except json.JSONDecodeError as error:
        raise ImportRefused(f"This is not JSON: look at line {error.lineno}, column {error.colno}.") from None
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        where = f"look at line {place[1]}, column {place[2]}" if place else "it ends too early"
        raise ImportRefused(f"This is neither JSON nor TOML: {where}.") from None
    except (RecursionError, ValueError):
        raise ImportRefused(TOO_MUCH) from None
    if deeper(data):
        raise ImportRefused(TOO_MUCH)
    if not isinstance(data, dict) or not data.keys() & {"settings", "not_set", "mcp"}:
        raise ImportRefused("There are no settings in this file; it needs a table [settings].")
    head = data.get("quarterdeck")
    if isinstance(head, dict) and head.get("version", VERSION) not in READ:
        raise ImportRefused("This file was written by another version of the deck, and cannot be read.")
    return data


def _values(data: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield (key, value) of each setting in a file; None if it is not set. A value counts more than `not_set`."""
    tables = [table for name in ("settings", "json") if isinstance(table := data.get(name), dict)]
    for table in tables:
        yield from table.items()
    if "mcp" in data:
        yield MCP, data["mcp"]
    not_set = data.get("not_set")
    for key in not_set if isinstance(not_set, list) else ():
        if isinstance(key, str) and not any(key in table for table in tables):
            yield key, None


def _taken(draft: Draft, entry: Field, value: Any, wrong: list[str], left: list[tuple[str, str]]) -> dict[str, Any]:
    """Return the edit for a value of a file; empty if it is already stored or cannot be applied."""
    if isinstance(value, str) and entry.kind in (LIST, OBJECT):
        value = entry.parse(value)
    if not entry.secret and holds(draft, entry.key, value):
        return {entry.key: draft.was(entry.key)}
    if holds_hidden(value):
        left.append((entry.key, "This has a hidden part."))
        return {}
    if value is None and not (entry.secret or entry.can_unset):
        left.append((entry.key, ALWAYS_SET))
        return {}
    if value is None:
        return {} if entry.secret else {entry.key: entry.unset_to}
    if entry.secret and isinstance(value, str) and value:
        return {entry.key: SecretStr(value)}
    if entry.secret or not fits(entry, value):
        wrong.append(f"{entry.key}: This is not {(TEXT if entry.secret else entry.kind).words}.")
        return {}
    return {entry.key: value if isinstance(value, str) else entry.parse(typed(value))}


def _with_servers(draft: Draft, value: Any, wrong: list[str], notes: list[str]) -> Servers:
    """Return the list with the servers of a file: those with the same name or address are edited, others added.

    The notes about what was left out and what must be typed contain no secrets.
    """
    try:
        text = value if isinstance(value, str) else json.dumps(value, default=str)
        found = pasted(text, nested=draft.fields.nested)
    except PasteError as error:
        wrong.append(f"MCP servers: {error}")
        return draft.servers
    servers = merge_pasted(draft.servers, found.servers).servers
    wrong += found.left_out
    notes += found.notes
    notes += (f"{words.server_title(server)}: {ON_HERE}" for server in found.off)
    notes += (
        f"{words.server_title(entry.server)}: to be typed: {parts}."
        for entry in servers.edited
        if (parts := ", ".join(missing(entry.server)))
    )
    return servers
