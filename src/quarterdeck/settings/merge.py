"""Three-way merge: what was loaded, what was edited here, what the server holds now (base, mine, theirs).

Fields nobody changed stay, each single-sided change is taken, and where both sides changed the same thing there is a
conflict. MCP servers merge one by one: a row joins base and mine, its identity when loaded joins base and theirs. What
is disabled here and edited there does both.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import count
from typing import Any

from quarterdeck.client.models.mcp import McpServer
from quarterdeck.client.models.settings import Settings
from quarterdeck.settings.draft import MCP, Draft, Edits, is_same
from quarterdeck.settings.mcp import Entry, EntryState, Servers
from quarterdeck.settings.mcp_server import Identity, Version, paired


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


def merge(draft: Draft, theirs: Settings | None, kept_here: Sequence[McpServer] | None = None) -> Merged:
    """Put a draft on top of a newer record, and of what this machine keeps now; its undo steps come along."""
    fresh = Draft(theirs, fields=draft.fields, disabled=draft.disabled if kept_here is None else tuple(kept_here))
    conflicts: list[Conflict] = []
    moved = changed(draft, fresh)
    merged = replace(
        fresh,
        edits=_rebased(draft, draft.edits, fresh, moved, conflicts),
        past=tuple(_rebased(draft, step, fresh, moved, []) for step in draft.past),
        future=tuple(_rebased(draft, step, fresh, moved, []) for step in draft.future),
    )
    return Merged(merged, tuple(conflicts), tuple(key for key in moved if key not in draft.edits))


def changed(before: Draft, after: Draft) -> tuple[str, ...]:
    """Keys of the settings that are told to be others on the server than they were, in the order of the form."""
    return tuple(key for key in after.fields.by_key if not is_same(before.known(key), after.known(key)))


def is_another(loaded: Settings | None, found: Settings | None) -> bool:
    """Whether a record may be another person's than the one that was loaded: other e-mail, or nothing in common."""
    if loaded is None:
        return False
    if found is not None and loaded.email and found.email:
        return loaded.email != found.email
    usual, there = Settings(), found or Settings()
    values = [name for name in Settings.model_fields if name != "leaves" and not name.endswith("_set")]
    own = [name for name in values if getattr(loaded, name) != getattr(usual, name)]
    return bool(own) and all(getattr(loaded, name) != getattr(there, name) for name in own)


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
        return draft.change_servers(Servers.remove, entry.row)
    return draft.set(MCP, draft.servers.enable(entry.row).edit(entry.row, entry.was))


def _rebased(
    old: Draft, edits: Edits, fresh: Draft, moved: Collection[str], conflicts: list[Conflict]
) -> Mapping[str, Any]:
    merged: dict[str, Any] = {}
    for key, mine in edits.items():
        if isinstance(mine, Servers):
            servers = _merge_servers(mine, fresh, conflicts) if key in moved else mine
            if servers.edited:
                merged[key] = servers
        elif key in fresh.set(key, mine).edits:
            merged[key] = mine
            if key in moved:
                conflicts.append(Conflict(key, old.known(key), mine, fresh.known(key)))
    return merged


def _merge_servers(mine: Servers, fresh: Draft, conflicts: list[Conflict]) -> Servers:
    """Their list in their order with the changes of mine on it, then what only mine has; rows keep the ids of mine."""
    theirs = fresh.stored_servers
    pairs = _pairs(mine, theirs)
    merged: dict[int, Entry] = {}
    others: list[Entry] = []
    for entry in mine.entries:
        there = pairs.get(entry.row)
        held = None if there is None else there.server
        if _disagree(entry, held):
            conflicts.append(Conflict(MCP, entry.was, None if entry.removed else entry.server, held, entry.row))
        if there is not None:
            merged[there.row] = _on_top(entry, there)
        elif entry.was is None:
            others.append(entry)
        elif not _is_gone(entry):
            others.append(replace(entry, was=None, origin=None))
    rows = count(mine.next_row)
    stored = (entry for entry in theirs.entries if entry.was is not None)
    in_order = [merged.get(entry.row) or replace(entry, row=next(rows)) for entry in stored]
    return _with_kept(Servers((*in_order, *others), theirs.unknown), fresh.disabled)


def _pairs(mine: Servers, theirs: Servers) -> dict[int, Entry]:
    """Row of `mine` -> its entry in `theirs`, for each that has one.

    Untouched rows choose first, last those that leave: two people who each delete one of two equal servers leave one. A
    row that is new here, or has another name, joins what is there by that name.
    """
    rows = sorted(mine.entries, key=lambda entry: (not entry.stays, entry.state is not EntryState.KEPT))
    wanted: list[Version] = []
    for entry in rows:
        if entry.was is not None:
            wanted.append(Version(entry.row, entry.was, entry.nth))
        if entry.stays and entry.server != entry.was:
            wanted.append(Version(entry.row, entry.server))
    held = {entry.row: entry for entry in theirs.entries if entry.was is not None}
    versions = [Version(row, entry.server, entry.nth) for row, entry in held.items()]
    return {row: held[other] for row, other in paired(wanted, versions).items()}


def _on_top(entry: Entry, there: Entry) -> Entry:
    """A row that both have: with their content where it was not edited here."""
    if entry.was == there.server and entry.origin == there.origin:
        return entry
    server = there.server if entry.removed or entry.server == entry.was else entry.server
    return replace(entry, server=server, was=there.server, origin=there.origin)


def _is_gone(entry: Entry) -> bool:
    """Whether nothing is left of a row that the other side deleted: here it was untouched or deleted too."""
    return entry.removed or (entry.server == entry.was and not entry.disabled)


def _disagree(entry: Entry, held: McpServer | None) -> bool:
    if held is None:
        return entry.was is not None and entry.stays and entry.server != entry.was
    if entry.removed:
        return held != entry.was
    return entry.server != entry.was and held not in (entry.was, entry.server)


def _with_kept(servers: Servers, disabled: Iterable[McpServer]) -> Servers:
    """An edited list in which the rows know what is kept here of them; one of which nothing is kept has a new row.

    A row that was kept here, is no more, and was not edited is gone.
    """
    kept = dict(enumerate(disabled))
    # One that finds nothing goes, so the untouched rows choose first, and what was kept before what is to be.
    rows = sorted(servers.entries, key=lambda entry: (entry.server != entry.kept, entry.removed, not entry.disabled))
    before = [Version(entry.row, entry.kept) for entry in rows if entry.kept is not None]
    to_be = [Version(entry.row, entry.server) for entry in rows if entry.disabled]
    held = paired((*before, *to_be), (Version(key, server) for key, server in kept.items()))
    found = {row: kept.pop(key) for row, key in held.items()}
    joined = (_joined(entry, found.get(entry.row)) for entry in servers.entries)
    new = (Entry(row, server, disabled=True, kept=server) for row, server in enumerate(kept.values(), servers.next_row))
    return replace(servers, entries=(*(entry for entry in joined if entry is not None), *new))


def _joined(entry: Entry, kept: McpServer | None) -> Entry | None:
    if kept == entry.kept:
        return entry
    if kept is not None:
        return replace(entry, server=kept if entry.server == entry.kept else entry.server, kept=kept)
    gone = entry.was is None and (entry.removed or (entry.disabled and entry.server == entry.kept))
    return None if gone else replace(entry, kept=None)


def news_of(old: Draft, merged: Merged) -> Iterator[str | Identity]:
    """What a merge brought to a draft that was not edited there: keys of fields, identities of MCP servers."""
    yield from (key for key in merged.arrived if key != MCP)
    before = {entry.origin: entry.was for entry in old.stored_servers.entries}
    for entry in merged.draft.stored_servers.entries:
        if entry.origin is not None and before.get(entry.origin) != entry.was:
            yield entry.origin
