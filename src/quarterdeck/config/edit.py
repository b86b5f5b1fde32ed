"""Changes to TOML files of people: comments, order and everything else are kept.

A file is written only if reading it back would return exactly what was meant.
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


def save_connection(path: Path, connection: Connection, old: Connection | None) -> None:
    """Write a connection, in place of an `old` one if the file still has it; raises ConfigError.

    Only what differs from the old one is written: what else was changed in the file meanwhile stays.
    """
    connections.check(connection)
    name = connection.name

    def edit(text: str, content: dict[str, Any]) -> str:
        entries = _entries(content, connections.TABLE)
        if name in entries and (old is None or name != old.name):
            raise ConfigError(f"there is a connection called {name!r} already")
        before = old if old is not None and old.name in entries else None
        at = name if before is None else before.name
        return _with_members(
            text, content, connections.TABLE, at, connections.changes(before, connection), new_name=name
        )

    _change(path, edit)


def delete_table(path: Path, group: str, name: str, *, private: bool = False) -> None:
    """Remove `[GROUP.NAME]` from a file, if it exists; raises ConfigError.

    Comments after its members are kept, because they may belong to what follows.
    """

    def edit(text: str, content: dict[str, Any]) -> str:
        if group not in content or name not in _entries(content, group):
            return text
        del content[group][name]
        document = tomlkit.parse(text)
        headers = list(_headers(document))
        table = document[group][name]  # type: ignore[index]
        at = next((number for number, each in enumerate(headers) if each is table), len(headers))
        comments = "".join(item.as_string() for item in _cut_tail(table)).lstrip("\r\n")
        del document[group][name]  # type: ignore[union-attr]
        if not content[group] and not any(each is document.get(group) for each in headers):
            del content[group]
            document.pop(group, None)
        if at + 1 < len(headers):
            headers[at + 1].trivia.indent = comments + headers[at + 1].trivia.indent
            comments = ""
        return document.as_string() + comments

    _change(path, edit, private=private)


def set_table(path: Path, group: str, name: str, members: Mapping[str, Value], notice: str = "") -> None:
    """Set members of `[GROUP.NAME]` in a private file; a new file begins with `notice`. Raises ConfigError."""

    def edit(text: str, content: dict[str, Any]) -> str:
        _entries(content, group)
        return _with_members(text or notice, content, group, name, members, new_name=name)

    _change(path, edit, private=True)


def remember(path: Path, given: Mapping[str, str]) -> None:
    """Change the given preferences in their file and keep the others; raises ConfigError."""

    def edit(text: str, content: dict[str, Any]) -> str:
        content |= given
        document = tomlkit.parse(text)
        document.update(given)
        return document.as_string()

    _change(path, edit)


def _change(path: Path, edit: Callable[[str, dict[str, Any]], str], *, private: bool = False) -> None:
    """Change a file: `edit` receives its text and content, changes the content and returns the new text.

    Raises ConfigError, without changing the file, if it cannot be read, safely changed, or written.
    """
    with files.changing(path):
        try:
            text = files.read(path, private=private) or ""
            content = files.parsed_toml(path, text, private=private)
        except ConfigError as error:
            raise ConfigError(f"{error}; nothing was written") from error
        try:
            new = edit(text, content)
            understood = tomllib.loads(new) == content
        except (TOMLKitError, ValueError, RecursionError):
            understood = False
        if not understood:
            raise ConfigError(f"{path} is not laid out in a way this program can change; nothing was written")
        if new != text:
            files.write(path, new)


def _entries(content: dict[str, Any], group: str) -> dict[str, dict[str, Any]]:
    """Return the tables of a group, which is created if missing; raises ConfigError if it is not a group of tables."""
    entries = content.setdefault(group, {})
    if not isinstance(entries, dict) or not all(isinstance(entry, dict) for entry in entries.values()):
        raise ConfigError(f"{group} are written as tables, like [{group}.work]; nothing was written")
    return entries


def _with_members(
    text: str, content: dict[str, Any], group: str, name: str, members: Mapping[str, Value | None], *, new_name: str
) -> str:
    """Return the text with these members in a table, without those that are None; a new table comes last."""
    entries = content[group]
    is_there = name in entries
    entries[new_name] = {key: value for key, value in {**entries.pop(name, {}), **members}.items() if value is not None}
    if not is_there:
        ground = text if text.endswith("\n") or not text else f"{text}\n"
        gap = "\n" if ground.strip() and not ground.endswith("\n\n") else ""
        return ground + gap + tomlkit.dumps({group: {new_name: entries[new_name]}})
    document = tomlkit.parse(text)
    table: Any = document[group][name]  # type: ignore[index]
    _set_members(table, members)
    if new_name != name:
        table.display_name = tomlkit.key([group, new_name]).as_string()
    return document.as_string()


def _set_members(table: Any, members: Mapping[str, Value | None]) -> None:
    """Set members of a table, or remove those that are None; new ones come before the comments at its end."""
    tail = _cut_tail(table)
    for name, value in members.items():
        if value is None:
            table.pop(name, None)
        else:
            table[name] = value
    if tail:
        table.value.body.extend((None, item) for item in tail)


def _cut_tail(table: Any) -> list[Item]:
    """Remove and return the comments and blank lines after a table's last member, which may belong to what follows."""
    if not isinstance(table, Table):
        return []
    body = table.value.body
    end = max((number + 1 for number, (key, _) in enumerate(body) if key is not None), default=0)
    tail = [item for _, item in body[end:]]
    del body[end:]
    return tail


def _headers(container: Container) -> Iterator[Table]:
    """Yield all tables that have a header, in the order of the file."""
    for _, item in container.body:
        for table in item.body if isinstance(item, AoT) else (item,):
            if isinstance(table, Table):
                if not table.is_super_table():
                    yield table
                yield from _headers(table.value)
