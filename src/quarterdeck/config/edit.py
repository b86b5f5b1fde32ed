"""TOML files of people, changed where they have to be: comments, order and whatever else they say stay.

A file is written only if reading it again would give exactly what was meant.
"""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.container import Container
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, Item, Table

from quarterdeck.config import connections, files
from quarterdeck.config.connections import Connection
from quarterdeck.config.files import ConfigError

Value = str | bool


def save_connection(path: Path, connection: Connection, instead_of: str | None) -> None:
    """Write a connection, in the place of the one called `instead_of` if there is one; raises ConfigError.

    Of one that is there only what differs is written.
    """
    connections.check(connection)
    name, old = connection.name, instead_of or connection.name

    def edit(text: str, says: dict[str, Any]) -> str:
        entries = _entries(says, connections.TABLE)
        if name in entries and name != instead_of:
            raise ConfigError(f"there is a connection called {name!a} already")
        if old not in entries:
            return _with_table(text, says, connections.TABLE, name, connections.members(connection))
        changes = connections.changes(entries[old], connection)
        entries[name] = _changed(entries.pop(old), changes)
        document = tomlkit.parse(text)
        table: Any = document[connections.TABLE][old]  # type: ignore[index]
        _set_members(table, changes)
        if name != old:
            table.display_name = tomlkit.key([connections.TABLE, name]).as_string()
        return document.as_string()

    _change(path, edit)


def delete_table(path: Path, group: str, name: str, *, private: bool = False) -> None:
    """Take `[GROUP.NAME]` out of a file, if it is there; raises ConfigError.

    Comments behind its members stay: they may be about what follows.
    """

    def edit(text: str, says: dict[str, Any]) -> str:
        if group not in says or name not in _entries(says, group):
            return text
        del says[group][name]
        document = tomlkit.parse(text)
        headers = list(_headers(document))
        table = document[group][name]  # type: ignore[index]
        at = next((number for number, each in enumerate(headers) if each is table), len(headers))
        comments = "".join(item.as_string() for item in _cut_tail(table)).lstrip("\r\n")
        del document[group][name]  # type: ignore[union-attr]
        if not says[group] and not any(each is document.get(group) for each in headers):
            del says[group]
            document.pop(group, None)
        if at + 1 < len(headers):
            headers[at + 1].trivia.indent = comments + headers[at + 1].trivia.indent
            comments = ""
        return document.as_string() + comments

    _change(path, edit, private=private)


def set_table(path: Path, group: str, name: str, members: Mapping[str, Value], notice: str = "") -> None:
    """Set members of `[GROUP.NAME]` in a private file, which begins with `notice` if it is new; raises ConfigError."""

    def edit(text: str, says: dict[str, Any]) -> str:
        entries = _entries(says, group)
        if name not in entries:
            return _with_table(text or notice, says, group, name, members)
        entries[name] = _changed(entries[name], members)
        document = tomlkit.parse(text)
        _set_members(document[group][name], members)  # type: ignore[index]
        return document.as_string()

    _change(path, edit, private=True)


def remember(path: Path, *, last_connection: str | None = None, theme: str | None = None) -> None:
    """Change what is given in the file of preferences and leave the rest of it as it is; raises ConfigError."""
    values = {"last_connection": last_connection, "theme": theme}
    given = {name: value for name, value in values.items() if value is not None}

    def edit(text: str, says: dict[str, Any]) -> str:
        says |= given
        document = tomlkit.parse(text)
        document.update(given)
        return document.as_string()

    _change(path, edit)


def _change(path: Path, edit: Callable[[str, dict[str, Any]], str], *, private: bool = False) -> None:
    """Write a file anew: `edit` gets its text and what it says, changes the latter and returns the text to write.

    Raises ConfigError, the file intact, when it cannot be read, changed for certain, or written.
    """
    try:
        text = files.read(path, private=private) or ""
        says = files.parsed_toml(path, text, private=private)
    except ConfigError as error:
        raise ConfigError(f"{error}; nothing was written") from error
    try:
        new = edit(text, says)
        understood = tomllib.loads(new) == says
    except (TOMLKitError, ValueError, RecursionError):
        understood = False
    if not understood:
        raise ConfigError(f"{path} is not laid out in a way this program can change; nothing was written")
    if new == text:
        return
    try:
        files.write(path, new)
    except OSError as error:
        raise ConfigError(f"{path} could not be written: {error.strerror}") from error


def _entries(says: dict[str, Any], group: str) -> dict[str, dict[str, Any]]:
    """The tables of a group, which is made if it is not there; raises ConfigError where it is something else."""
    entries = says.setdefault(group, {})
    if not isinstance(entries, dict) or not all(isinstance(entry, dict) for entry in entries.values()):
        raise ConfigError(f"{group} are written as tables, like [{group}.work]; nothing was written")
    return entries


def _changed(entry: Mapping[str, Any], changes: Mapping[str, Value | None]) -> dict[str, Any]:
    return {member: value for member, value in {**entry, **changes}.items() if value is not None}


def _with_table(text: str, says: dict[str, Any], group: str, name: str, members: Mapping[str, Value]) -> str:
    """The text with a new table at its end."""
    says[group][name] = dict(members)
    ground = text if text.endswith("\n") or not text else f"{text}\n"
    gap = "\n" if ground.strip() and not ground.endswith("\n\n") else ""
    return ground + gap + tomlkit.dumps({group: {name: members}})


def _set_members(table: Any, members: Mapping[str, Value | None]) -> None:
    """Set members of a table, or take away those that are None; new ones come before the comments at its end."""
    tail = _cut_tail(table)
    for name, value in members.items():
        if value is None:
            table.pop(name, None)
        else:
            table[name] = value
    if tail:
        table.value.body.extend((None, item) for item in tail)


def _cut_tail(table: Any) -> list[Item]:
    """Take the comments and blank lines behind the last member out of a table: they may be about what follows."""
    if not isinstance(table, Table):
        return []
    body = table.value.body
    end = max((number + 1 for number, (key, _) in enumerate(body) if key is not None), default=0)
    tail = [item for _, item in body[end:]]
    del body[end:]
    return tail


def _headers(container: Container) -> Iterator[Table]:
    """All tables that have a header, in the order of the file."""
    for _, item in container.body:
        for table in item.body if isinstance(item, AoT) else (item,):
            if isinstance(table, Table):
                if not table.is_super_table():
                    yield table
                yield from _headers(table.value)
