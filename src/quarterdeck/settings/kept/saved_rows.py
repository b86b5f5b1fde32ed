"""MCP servers that a save changed, as a note without secrets, and the way back from it."""

from dataclasses import dataclass
from typing import Any

from quarterdeck.client.models.mcp import McpServer
from quarterdeck.settings import words
from quarterdeck.settings.kept.unsaved_rows import Rows
from quarterdeck.settings.mcp import Entry, Servers
from quarterdeck.settings.mcp_identity import identities, transport_of
from quarterdeck.settings.mcp_merge import there_and_here
from quarterdeck.settings.mcp_secrets import as_data, bare, filled, from_data, missing, typed_anew


@dataclass(frozen=True)
class _Change:
    """What a save made of one server; None is nowhere, `here` says that this machine keeps it and not the server."""

    old: McpServer | None
    old_here: bool
    new: McpServer | None
    new_here: bool
    lost: tuple[str, ...]
    """Which secrets of the old one the new one does not have."""
    title: str
    nth: int | None
    """Which one the old one was of those of its transport that the server held."""


def noted(meant: Servers, found: Servers | None) -> list[dict[str, Any]]:
    """Note each edited row that arrived; `found` is the list after the save, None where it could not be read."""
    stored = {entry.origin: entry.server for entry in found.entries} if found is not None else None
    places = dict(
        zip((entry.row for entry in meant.left), identities(entry.server for entry in meant.left), strict=True)
    )
    notes = []
    for entry in meant.edited:
        new = None if entry.removed else entry.server
        if stored is not None and entry.stays:
            new = stored.get(places[entry.row])
            if new is None or new == entry.was:
                continue
        elif stored is not None and entry.origin in stored.keys() - places.values():
            continue
        notes.append(_note(entry, new) | _place(entry, meant))
    return notes


def undone(note: Any, servers: Servers) -> Rows:
    """The way back on top of a list: secrets come from the rows of now, and what is not there any more is masked."""
    held = there_and_here(servers)
    left_out: list[str] = []
    moved: list[str] = []
    result = servers
    for change in filter(None, map(_read, note if isinstance(note, list) else ())):
        now = None if change.new is None else held[change.new_here].take(change.new)
        if change.new is not None and (now is None or bare(now.before or now.server) != change.new):
            moved.append(change.title)
            continue
        result, server = _back(result, change, now)
        lost = change.lost if now is not None else ()
        left_out += (f"{change.title}: {part}" for part in dict.fromkeys((*lost, *(missing(server) if server else ()))))
    return Rows(result, tuple(left_out), tuple(moved))


def _back(servers: Servers, change: _Change, now: Entry | None) -> tuple[Servers, McpServer | None]:
    """The list with one change taken back, and the server that is there again."""
    if change.old is None:
        return (servers if now is None else servers.remove(now.row)), None
    server = filled(change.old, None if now is None else now.before)
    row = servers.next_row if now is None else now.row
    servers = servers.add(server) if now is None else servers.edit(row, server)
    if change.old_here:
        return servers.park(row), server
    servers = servers.unpark(row)
    is_back = now is None or change.new_here
    return (servers.placed(row, change.nth) if is_back and change.nth is not None else servers), server


def _note(entry: Entry, new: McpServer | None) -> dict[str, Any]:
    old = entry.before
    return {
        "old": None if old is None else as_data(bare(old)),
        "old_here": entry.was is None and old is not None,
        "new": None if new is None else as_data(bare(new)),
        "new_here": entry.parked and new is not None,
        "lost": [] if old is None else list(typed_anew(old, new)),
    }


def _place(entry: Entry, meant: Servers) -> dict[str, Any]:
    """Which one a row was of those of its transport that the server held; nothing for one that it did not hold."""
    if entry.was is None:
        return {}
    transport = transport_of(entry.was)
    alike = [one.row for one in meant.entries if one.was is not None and transport_of(one.was) is transport]
    return {"nth": alike.index(entry.row)}


def _read(note: Any) -> _Change | None:
    match note:
        case {"old": old, "old_here": bool(old_here), "new": new, "new_here": bool(new_here), "lost": list(lost)}:
            was, now, nth = from_data(old), from_data(new), note.get("nth")
        case _:
            return None
    told = was or now
    if told is None:
        return None
    title = words.server_title(told)
    return _Change(was, old_here, now, new_here, tuple(map(str, lost)), title, nth if isinstance(nth, int) else None)
