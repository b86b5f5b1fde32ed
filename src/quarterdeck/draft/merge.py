"""Three-way merge: what was loaded, what was edited here, what the server holds now (base, mine, theirs).

Fields nobody changed stay, each single-sided change is taken, and where both sides changed the same thing there is a
conflict. MCP servers merge one by one: a row joins base and mine, its identity when loaded joins base and theirs.
"""

from collections.abc import Set
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import count
from typing import Any

from quarterdeck.draft.draft import MCP, Draft, Edits
from quarterdeck.draft.mcp import Entry, Identity, Servers, identities
from quarterdeck.service.models.mcp import McpServer
from quarterdeck.service.models.settings import Settings


class Side(StrEnum):
    """Whose change counts in a conflict."""

    MINE = "mine"
    THEIRS = "theirs"


@dataclass(frozen=True)
class Conflict:
    """A field, or the MCP server at `row` of the merged draft, that both sides changed. None stands for "not there"."""

    key: str
    base: Any
    mine: Any
    theirs: Any
    row: int | None = None


@dataclass(frozen=True)
class Merged:
    """The draft on top of what the server holds now, in which conflicts stand as mine until settled."""

    draft: Draft
    conflicts: tuple[Conflict, ...] = ()
    arrived: tuple[str, ...] = ()
    """Fields that changed on the server since they were loaded and were not edited here."""


def merge(draft: Draft, theirs: Settings | None) -> Merged:
    """Put a draft on top of a newer record; its undo steps come along."""
    fresh = Draft(theirs, fields=draft.fields)
    conflicts: list[Conflict] = []
    edits = _rebased(draft, draft.edits, fresh, conflicts)
    merged = replace(
        fresh,
        edits=edits,
        past=tuple(_rebased(draft, step, fresh, []) for step in draft.past),
        future=tuple(_rebased(draft, step, fresh, []) for step in draft.future),
    )
    arrived = tuple(key for key in draft.fields.by_key if key not in draft.edits and not _unmoved(key, draft, fresh))
    return Merged(merged, tuple(conflicts), arrived)


def settle(draft: Draft, conflict: Conflict, side: Side) -> Draft:
    """Decide a conflict of a merged draft: mine stands already, theirs drops the edit."""
    if side is Side.MINE:
        return draft
    if conflict.row is None:
        return draft.revert(conflict.key)
    entry = draft.servers.entry(conflict.row)
    if entry is None:
        return draft
    if entry.was is None:
        return draft.remove_server(entry.row)
    return draft.edit_server(entry.row, entry.was)


def _rebased(old: Draft, edits: Edits, fresh: Draft, conflicts: list[Conflict]) -> Edits:
    merged: dict[str, Any] = {}
    for key, mine in edits.items():
        if isinstance(mine, Servers):
            servers = _merge_servers(mine, fresh.stored_servers, conflicts)
            if servers.changed:
                merged[key] = servers
            continue
        if key not in fresh.set(key, mine).edits:
            continue
        merged[key] = mine
        if not _unmoved(key, old, fresh):
            conflicts.append(Conflict(key, _seen(old, key), mine, _seen(fresh, key)))
    return merged


def _unmoved(key: str, old: Draft, fresh: Draft) -> bool:
    if key == MCP:
        return [entry.server for entry in old.stored_servers.entries] == [
            entry.server for entry in fresh.stored_servers.entries
        ]
    return bool(_seen(old, key) == _seen(fresh, key))


def _seen(draft: Draft, key: str) -> Any:
    """What can be known of the stored value: of a secret whether there is one."""
    return draft.stored(key) if draft.field_at(key).secret else draft.was(key)


def _merge_servers(mine: Servers, theirs: Servers, conflicts: list[Conflict]) -> Servers:
    """Their list in their order, with the changes of mine on it; rows keep the ids they have in mine."""
    held_by_id = {entry.origin: entry.server for entry in theirs.entries}
    merged: dict[Identity | None, Entry] = {}
    added: list[Entry] = []
    for entry in mine.entries:
        origin = entry.origin or _added_by_both(entry, mine, held_by_id.keys() - merged.keys())
        held = held_by_id.get(origin)
        if _is_gone(entry, held):
            continue
        if held is None:
            added.append(replace(entry, was=None, origin=None, removed=False))
        else:
            merged[origin] = replace(entry, server=_content(entry, held), was=held, origin=origin)
        if _disagree(entry, held):
            conflicts.append(Conflict(MCP, entry.was, None if entry.removed else entry.server, held, entry.row))
    rows = count(mine.next_row)
    in_order = (merged.get(entry.origin) or replace(entry, row=next(rows)) for entry in theirs.entries)
    return Servers((*in_order, *added), theirs.unknown)


def _added_by_both(entry: Entry, mine: Servers, candidates: Set[Identity | None]) -> Identity | None:
    """The server that the other side added under the name that one was added under here."""
    (own,) = identities([entry.server])
    known = {other.origin for other in mine.entries}
    found = (one for one in candidates if one and one not in known and replace(one, nth=0) == own)
    return min(found, key=lambda one: one.nth, default=None)


def _content(entry: Entry, held: McpServer) -> McpServer:
    """What a row that both have holds: theirs where it was not edited here."""
    return held if entry.removed or entry.server == entry.was else entry.server


def _is_gone(entry: Entry, held: McpServer | None) -> bool:
    """Whether nothing is left of a row: the other side deleted it, and here it was untouched or deleted too."""
    return held is None and entry.was is not None and (entry.removed or entry.server == entry.was)


def _disagree(entry: Entry, held: McpServer | None) -> bool:
    if entry.removed:
        return held != entry.was
    return entry.server != entry.was and held != entry.was and held != entry.server
