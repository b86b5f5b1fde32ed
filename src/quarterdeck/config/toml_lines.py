"""TOML text changed by whole lines, so that comments, order and everything not meant stay as they are.

A library that keeps comments ties one between two tables to the first of them and takes it along when that table goes;
here a comment outside a table's own lines stays. Each function takes text that is TOML, and each result is to be read
again and compared with what was meant: a layout that is not understood here (inline tables, dotted keys) then shows.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

Path = tuple[str, ...]
Value = str | bool
_BARE = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class _Table:
    """Lines of one table: its header at `start` (none for the top of the file), then its members up to `end`."""

    path: Path
    start: int
    end: int


def with_members(text: str, path: Path, members: Mapping[str, Value | None]) -> str:
    """Set members of a table, or take away those that are None; a table that is not there is added at the end.

    The empty path is the top of the file.
    """
    lines = text.split("\n")
    table = next((table for table in _tables(lines) if table.path == path), None)
    if table is None:
        ground = text if text.endswith("\n") or not text else f"{text}\n"
        gap = "\n" if ground.strip() and not ground.endswith("\n\n") else ""
        new = (_line(name, value) for name, value in members.items() if value is not None)
        return "\n".join((f"{ground}{gap}{_header(path)}", *new, ""))
    first = table.start + 1 if path else table.start
    body = lines[first : table.end]
    for name, value in members.items():
        body = _with_member(body, name, value)
    return "\n".join((*lines[:first], *body, *lines[table.end :]))


def without_table(text: str, path: Path) -> str:
    """Take away a table and the tables within it; comments before and after its lines stay."""
    lines = text.split("\n")
    for table in reversed([table for table in _tables(lines) if table.path[: len(path)] == path]):
        after = table.end
        while after < len(lines) - 1 and not lines[after].strip():
            after += 1
        lines[table.start : after] = []
    return "\n".join(lines)


def renamed_table(text: str, path: Path, new: Path) -> str:
    """Give a table another name where it stands."""
    lines = text.split("\n")
    for table in _tables(lines):
        if table.path == path:
            lines[table.start] = _header(new) + _comment(lines[table.start])
    return "\n".join(lines)


def line_of(text: str, path: Path) -> int | None:
    """The line, counted from one, on which a table begins; None for one without a header of its own."""
    starts = (table.start + 1 for table in _tables(text.split("\n")) if table.path == path)
    return next(starts, None)


def _tables(lines: list[str]) -> Iterator[_Table]:
    """Every table of a text; a line within a longer value is no header, since what stands before it is no TOML."""
    path: Path = ()
    start = 0
    for at, line in enumerate(lines):
        if line.lstrip().startswith("[") and _parsed("\n".join(lines[start:at])) is not None:
            yield _Table(path, start, _end(lines, start, at))
            path, start = _path(line), at
    yield _Table(path, start, _end(lines, start, len(lines)))


def _path(header: str) -> Path:
    """The names in a header; an array of tables, which has no name of its own, is a path that nobody asks for."""
    found: list[str] = []
    inner: object = _parsed(header)
    while isinstance(inner, dict) and inner:
        name, inner = next(iter(inner.items()))
        found.append(name)
    return tuple(found) if inner == {} else (*found, "")


def _end(lines: list[str], start: int, stop: int) -> int:
    """Where a table's last member ends: blank lines and comments after it belong to what follows."""
    while stop > start and (not lines[stop - 1].strip() or lines[stop - 1].lstrip().startswith("#")):
        stop -= 1
    return stop


def _with_member(body: list[str], name: str, value: Value | None) -> list[str]:
    for start, stop, found in _statements(body):
        if found == {name: value}:
            return body
        if name in found:
            new = [] if value is None else [_line(name, value) + _comment("\n".join(body[start:stop]))]
            return [*body[:start], *new, *body[stop:]]
    return body if value is None else [*body, _line(name, value)]


def _statements(body: list[str]) -> Iterator[tuple[int, int, Mapping[str, object]]]:
    """First line, line after the last, and meaning of each member; a value may go over several lines."""
    start = 0
    for stop in range(1, len(body) + 1):
        found = _parsed("\n".join(body[start:stop]))
        if found is not None:
            yield start, stop, found
            start = stop


def _comment(statement: str) -> str:
    """The comment at the end of a statement with the blanks before it; empty without one."""
    meaning = _parsed(statement)
    for mark in re.finditer(r"[ \t]*#", statement):
        if _parsed(statement[: mark.start()]) == meaning:
            return statement[mark.start() :]
    return ""


def _parsed(text: str) -> Mapping[str, object] | None:
    try:
        return tomllib.loads(text.replace("\r", ""))
    except (ValueError, RecursionError):
        return None


def _header(path: Path) -> str:
    return f"[{'.'.join(name if _BARE.fullmatch(name) else _written(name) for name in path)}]"


def _line(name: str, value: Value) -> str:
    return f"{name} = {_written(value)}"


def _written(value: Value) -> str:
    """A value as TOML has it, which is as JSON has it but for the one control character that JSON lets through."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
