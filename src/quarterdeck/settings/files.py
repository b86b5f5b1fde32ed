"""Settings as a file without secrets, and such a file as edits of a draft.

The file has what is stored, not what a request would hold: one table of settings by key, the MCP servers in the three
lists of the documented interface (2.3), and lists of what is not set and of which secrets were left out. Values with a
null inside are JSON text, in a table `json`.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import tomlkit
from pydantic import SecretStr

from quarterdeck.client.models.mcp import McpServer
from quarterdeck.settings import words
from quarterdeck.settings.changes import fits, hides, holds, plain
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.fields import Control, Field, Unreadable, typed
from quarterdeck.settings.mcp import Servers
from quarterdeck.settings.mcp_json import as_masks, as_placeholders
from quarterdeck.settings.mcp_server import (
    LISTS,
    MODELS,
    Transport,
    Version,
    bare,
    filled,
    members,
    missing,
    paired,
    server_of,
    transport_of,
)

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
        entry.key: plain(entry.key, draft.value(entry.key))
        for entry in draft.fields.fields
        if _is_written(draft, entry)
    }
    settings, as_text = _parted(values)
    return {
        "quarterdeck": {"version": VERSION, "release": release},
        "settings": settings,
        "json": as_text,
        "not_set": [key for key, value in values.items() if value is None],
        "secrets": [entry.key for entry in draft.fields.fields if _holds_secret(draft, entry)],
        "mcp": _listed(entry.server for entry in draft.servers.left),
    }


def as_json(data: dict[str, Any]) -> str:
    """The data of `exported` as JSON, in ASCII: it may be shown by a terminal."""
    return json.dumps(data, indent=2) + "\n"


def as_toml(data: dict[str, Any]) -> str:
    """The data of `exported` as TOML; what a terminal would act on is escaped."""
    return "".join(map(_printable, tomlkit.dumps(data)))


def _printable(character: str) -> str:
    return character if character.isprintable() or character in "\n\u200c\u200d" else f"\\U{ord(character):08x}"


def imported(text: str, draft: Draft) -> Imported:
    """Put the settings of a file on a draft, as one change; what the file does not name is left alone.

    MCP servers keep the secrets stored for the same name or address; others have to be typed. Raises ImportRefused.
    """
    data = _read(text)
    notes: list[str] = []
    values: dict[str, Any] = {}
    for key, value in _values(data, notes):
        entry = draft.fields.by_key.get(key)
        if entry is None or entry.absent or entry.control in (Control.SERVERS, Control.READ_ONLY):
            notes.append(f"{key[:60]} is not a setting that can be changed on this server; it is left alone.")
        else:
            values |= _taken(draft, entry, value, notes)
    values[MCP] = _with_listed(data.get("mcp"), draft.servers, notes)
    return Imported(draft.set_all(values), tuple(notes))


def _is_written(draft: Draft, entry: Field) -> bool:
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
        raise ImportRefused(f"This is not JSON: look at line {error.lineno}, column {error.colno}.") from None
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        where = f"look at line {place[1]}, column {place[2]}" if place else "it ends too early"
        raise ImportRefused(f"This is not TOML: {where}.") from None
    except RecursionError:
        raise ImportRefused("This file is nested too deep to be read.") from None
    if not isinstance(data, dict) or not data.keys() & {"settings", "json", "not_set", "mcp"}:
        raise ImportRefused("There are no settings in this file; it needs a table [settings] or [mcp].")
    version = data["quarterdeck"].get("version") if isinstance(data.get("quarterdeck"), dict) else VERSION
    if version != VERSION:
        raise ImportRefused("This file was written by another version of the deck, and cannot be read.")
    return data


def _values(data: dict[str, Any], notes: list[str]) -> list[tuple[str, Any]]:
    """(key, value) of each setting in a file, None where it is not set."""
    settings, as_text, not_set = data.get("settings"), data.get("json"), data.get("not_set")
    found = list(settings.items()) if isinstance(settings, dict) else []
    for key, text in as_text.items() if isinstance(as_text, dict) else ():
        try:
            found.append((key, _from_text(text)))
        except ValueError:
            notes.append(f"{key[:60]} is not JSON; it is left alone.")
    return [*found, *((key, None) for key in (not_set if isinstance(not_set, list) else ()) if isinstance(key, str))]


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


def _listed(servers: Iterable[McpServer]) -> dict[str, Any]:
    """The three lists, with a placeholder for each secret; members that are not set are left out."""
    every = tuple(servers)
    return {
        name: [_written(server) for server in every if transport_of(server) is each] for name, each in LISTS.items()
    }


def _with_listed(data: Any, servers: Servers, notes: list[str]) -> Servers:
    """A list with the servers of a file: one of the same name or address is edited, others are added, none is removed.

    The notes of what was left out and what has to be typed hold no secret.
    """
    if not isinstance(data, dict):
        return servers
    given = list(_given(data))
    read = {number: server for number, (transport, one) in enumerate(given) if (server := _server(transport, one))}
    notes += (
        f"One of the {transport} servers cannot be read; it is left out."
        for number, (transport, _) in enumerate(given)
        if number not in read
    )
    held = {entry.row: entry.server for entry in servers.left}
    pairs = paired(
        (Version(number, bare(server)) for number, server in read.items()),
        (Version(row, bare(server)) for row, server in held.items()),
    )
    for number, server in read.items():
        row = pairs.get(number)
        if row is not None and as_masks(_written(held[row])) == given[number][1]:
            continue
        new = filled(server, None if row is None else held[row])
        servers = servers.add(new) if row is None else servers.edit(row, new)
        notes += (f"{words.server_title(new)}: to be typed: {part}." for part in missing(new))
    if others := len(held) - len(pairs):
        notes.append(f"{words.counted(others, 'MCP server')} not named in the file: left alone.")
    return servers


def _written(server: McpServer) -> dict[str, Any]:
    values, as_text = _parted(as_placeholders(members(bare(server)), words.server_stem(server)))
    return {**values, "json": as_text} if as_text else values


def _given(data: Mapping[str, Any]) -> Iterator[tuple[Transport, Any]]:
    for name, transport in LISTS.items():
        listed = data.get(name)
        yield from ((transport, as_masks(given)) for given in (listed if isinstance(listed, list) else ()))


def _server(transport: Transport, given: Any) -> McpServer | None:
    match given:
        case {"json": dict(as_text), **others}:
            try:
                given = others | {name: _from_text(text) for name, text in as_text.items()}
            except ValueError:
                return None
    return server_of(MODELS[transport], given) if isinstance(given, dict) else None


def _parted(values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """(values without a null in them, JSON text of those with one inside); what is null itself is in neither."""
    as_text = {name: json.dumps(value) for name, value in values.items() if value is not None and _holds_null(value)}
    return {name: value for name, value in values.items() if value is not None and name not in as_text}, as_text


def _from_text(text: Any) -> Any:
    """The value of such a JSON text; raises ValueError where it is none."""
    if not isinstance(text, str):
        raise ValueError("no text")  # noqa: TRY004 - to a caller any value that is no JSON text is the same
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def _holds_null(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_null, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_holds_null, value))
    return value is None
