"""Edited rows of the MCP list as a note without secrets, and the note on top of a list again."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from quarterdeck.client.models.mcp import McpServer
from quarterdeck.settings import words
from quarterdeck.settings.mcp import Entry, EntryState, Servers
from quarterdeck.settings.mcp_merge import there_and_here
from quarterdeck.settings.mcp_secrets import as_data, bare, filled, from_data, typed_anew


@dataclass(frozen=True)
class Rows:
    """A list with the noted rows on it; of some the secrets are left out, others were changed since on the server."""

    servers: Servers
    left_out: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()


def noted(servers: Servers) -> list[dict[str, Any]]:
    """Note each edited row with its place, what is held of it, and which of its secrets were typed."""
    held = there_and_here(servers)
    nth = held[False].nth | held[True].nth
    return [
        _noted(place, entry) | {"nth": nth.get(entry.row, 0)}
        for place, entry in enumerate(servers.entries)
        if entry.state is not EntryState.KEPT
    ]


def restored(note: Any, servers: Servers) -> Rows:
    """Put noted rows on a list; secrets come from the held server of the same name or address."""
    held = there_and_here(servers)
    entries = {entry.row: entry for entry in servers.entries}
    added: list[_Row] = []
    left_out: list[str] = []
    moved: list[str] = []
    for row in filter(None, map(_read, note if isinstance(note, list) else ())):
        entry = None if row.before is None else held[row.here].take(row.before, row.nth)
        if entry is None and row.removed:
            continue
        left_out += (f"{words.server_title(row.server)}: {part}" for part in row.typed)
        if entry is None:
            added.append(row)
        else:
            server = filled(row.server, entry.before)
            entries[entry.row] = replace(entry, server=server, parked=row.parked, removed=row.removed)
        if row.before is not None and (entry is None or bare(entry.before or entry.server) != row.before):
            moved.append(words.server_title(row.before))
    if not added and entries == {entry.row: entry for entry in servers.entries}:
        return Rows(servers, tuple(left_out), tuple(moved))
    return Rows(_with_added(servers, entries.values(), added), tuple(left_out), tuple(moved))


@dataclass(frozen=True)
class _Row:
    """What a note says of one row; `before` is what the server held of it, or this machine where `here`, and the
    `nth` of its name or address there.
    """

    place: int
    nth: int
    server: McpServer
    before: McpServer | None
    here: bool
    parked: bool
    removed: bool
    typed: tuple[str, ...]


def _noted(place: int, entry: Entry) -> dict[str, Any]:
    return {
        "place": place,
        "server": as_data(bare(entry.server)),
        "before": None if entry.before is None else as_data(bare(entry.before)),
        "here": entry.was is None,
        "parked": entry.parked,
        "removed": entry.removed,
        "typed": list(typed_anew(entry.server, entry.before)),
    }


def _read(row: Any) -> _Row | None:
    match row:
        case {
            "place": int(place),
            "nth": int(nth),
            "server": dict(data),
            "before": before,
            "here": bool(here),
            "parked": bool(parked),
            "removed": bool(removed),
            "typed": list(typed),
        }:
            server = from_data(data)
        case _:
            return None
    if server is None:
        return None
    return _Row(place, nth, server, from_data(before), here, parked, removed, tuple(map(str, typed)))


def _with_added(servers: Servers, entries: Iterable[Entry], added: Iterable[_Row]) -> Servers:
    """The rows with the new ones between them, where they stood."""
    order = list(entries)
    for number, row in enumerate(sorted(added, key=lambda row: row.place), servers.next_row):
        order.insert(max(row.place, 0), Entry(number, row.server, parked=row.parked))
    return replace(servers, entries=tuple(order))
