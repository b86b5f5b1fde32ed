"""Three-way merge: what was loaded, what was edited here, and what the server has now (base, mine, theirs).

Unchanged fields stay, a change on one side is taken, and if both sides changed the same thing there is a conflict. MCP
servers are merged one by one: row ids connect base and mine, the identity at load connects base and theirs. If a server
was disabled here and edited there, or edited here and enabled there, both happen.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import count, product
from typing import Any

from quarterdeck.client.models.mcp import McpServer
from quarterdeck.client.models.settings import Settings
from quarterdeck.settings.draft import MCP, Draft, Edits, is_same
from quarterdeck.settings.mcp import Entry, EntryState, Servers
from quarterdeck.settings.mcp_server import Version, paired, place_of, versions


class Side(StrEnum):
    """Whose change is kept in a conflict."""

    MINE = "mine"
    THEIRS = "theirs"


@dataclass(frozen=True)
class Conflict:
    """A field, or the MCP server at `row` of the merged draft, that both sides changed. None: it does not exist."""

    key: str
    base: Any
    mine: Any
    theirs: Any
    row: int | None = None


@dataclass(frozen=True)
class Merged:
    """The draft based on what the server has now; conflicts have my values until they are settled."""

    draft: Draft
    conflicts: tuple[Conflict, ...] = ()
    arrived: tuple[str, ...] = ()
    """Fields that changed on the server since they were loaded and were not edited here."""


def merge(draft: Draft, theirs: Settings | None, kept_here: Sequence[McpServer] | None = None) -> Merged:
    """Base a draft on a newer record and on what this machine keeps now, including its undo steps."""
    kept = draft.disabled if kept_here is None else tuple(kept_here)
    fresh = Draft(theirs, fields=draft.fields, disabled=kept)
    fresh = replace(fresh, listed=_with_rows_of(draft, fresh.stored_servers))
    conflicts: list[Conflict] = []
    moved = changed(draft, fresh)
    merged = replace(
        fresh,
        edits=_rebased(draft, draft.edits, fresh, moved, conflicts),
        past=tuple(_rebased(draft, step, fresh, moved, []) for step in draft.past),
        future=tuple(_rebased(draft, step, fresh, moved, []) for step in draft.future),
    )
    return Merged(merged, tuple(conflicts), tuple(key for key in moved if key not in draft.edits))


def except_for(keys: Collection[str], newer: Settings, older: Settings) -> Settings:
    """Return a newer record with the older values of some settings."""
    told = {key for key in keys if "." not in key} | {f"{key}_set" for key in keys} & Settings.model_fields.keys()
    leaves = {place: value for place, value in newer.leaves.items() if place not in keys}
    leaves |= {place: value for place, value in older.leaves.items() if place in keys}
    return newer.model_copy(update={name: getattr(older, name, None) for name in told} | {"leaves": leaves})


def changed(before: Draft, after: Draft) -> tuple[str, ...]:
    """Return the keys of settings that changed on the server, as far as it tells, in the order of the form."""
    return tuple(key for key in after.fields.by_key if not is_same(before.known(key), after.known(key)))


def is_another(loaded: Settings | None, found: Settings | None) -> bool:
    """Whether a record may belong to another person than the loaded one: another e-mail, or nothing in common."""
    if loaded is None:
        return False
    if found is not None and loaded.email and found.email:
        return loaded.email != found.email
    usual, there = Settings(), found or Settings()
    values = [name for name in Settings.model_fields if name != "leaves" and not name.endswith("_set")]
    own = [name for name in values if getattr(loaded, name) != getattr(usual, name)]
    return bool(own) and all(getattr(loaded, name) != getattr(there, name) for name in own)


def settle(draft: Draft, conflict: Conflict, side: Side) -> Draft:
    """Settle a conflict of a merged draft: "mine" is the merged value already, "theirs" discards the edit."""
    return draft if side is Side.MINE else draft.revert(conflict.key, conflict.row)


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
    """Return their list in their order with my changes, then what only I have; rows keep my ids."""
    theirs = fresh.stored_servers
    mine = _enabled_along(mine, theirs)
    stored, here = (_pairs(mine, theirs, here=here) for here in (False, True))
    merged: dict[int, Entry] = {}
    others: list[Entry] = []
    for entry in mine.entries:
        held, kept = stored.get(entry.row), here.get(entry.row)
        if held is not None and kept is not None and kept.server not in (entry.kept, _on_top(entry, held, kept).server):
            kept, apart = None, here.pop(entry.row)  # a row has one content: that here stays beside what the server has
            removed = (each for each in mine.entries if each.removed and each.kept == apart.server)
            here |= {each.row: apart for each in removed if each.row not in here}
        there = held or kept
        if _disagree(entry, held, kept):
            contested = None if entry.removed else entry.server
            conflicts.append(Conflict(MCP, entry.before, contested, None if there is None else there.server, entry.row))
        if there is not None:
            merged[there.row] = _on_top(entry, held, kept)
        elif entry.before is None or entry.state not in (EntryState.KEPT, EntryState.REMOVED):
            others.append(_on_top(entry, None, None))
    taken = {entry.row for entry in here.values()}
    rows = count(mine.next_row)
    left = (entry for entry in theirs.entries if entry.row in merged or entry.row not in taken)
    in_order = [merged.get(entry.row) or replace(entry, row=next(rows)) for entry in left]
    return Servers((*in_order, *others), theirs.unknown)


def _enabled_along(mine: Servers, theirs: Servers) -> Servers:
    """Return my list, in which a server kept here and edited is on the server if another deck enabled it meanwhile."""
    stored, here = (_pairs(mine, theirs, here=here) for here in (False, True))
    new = [entry for entry in theirs.entries if entry.was is not None and entry not in stored.values()]

    def enabled(entry: Entry) -> Entry:
        gone = entry.was is None and entry.state is EntryState.EDITED and entry.row not in here
        at = next((each for each in new if gone and each.server == entry.kept), None)
        if at is None:
            return entry
        new.remove(at)
        return replace(entry, was=at.was, nth=at.nth, kept=None, disabled=False)

    return replace(mine, entries=tuple(map(enabled, mine.entries)))


def _with_rows_of(draft: Draft, theirs: Servers) -> Servers:
    """Return their list with the row ids of a draft: of what it is based on, then of what is added or renamed there."""
    known: dict[int, int] = {}
    for mine, here in product((draft.stored_servers, _enabled_along(draft.servers, theirs)), (False, True)):
        for row, there in _pairs(mine, theirs, here=here).items():
            if there.row not in known and row not in known.values():
                known[there.row] = row
    free = count(max(draft.stored_servers.next_row, draft.servers.next_row))
    entries = (replace(entry, row=known[entry.row] if entry.row in known else next(free)) for entry in theirs.entries)
    return replace(theirs, entries=tuple(entries))


def _pairs(mine: Servers, theirs: Servers, *, here: bool) -> dict[int, Entry]:
    """Return, by row of `mine`, its entry in `theirs`: on the server, or kept on this machine if `here`.

    Unchanged rows choose first, removed ones last: if two people each delete one of two equal servers, one is left. A
    row that is added there, or renamed, is paired with the entry of that name. Of several of one kind and name that
    changed, none is paired: nobody can tell which became which, and which is new.
    """
    there = {entry.row: entry for entry in theirs.entries if (entry.was is None) is here}
    wanted = list(_versions_of(mine, here=here))
    pairs = paired(wanted, versions((row, entry.server) for row, entry in there.items()))
    same = {one.key for one in wanted if one.key in pairs and there[pairs[one.key]].server == one.server}
    before = Counter(place for row, place in {(one.key, place_of(one.server)) for one in wanted} if row not in same)
    now = Counter(place_of(there[at].server) for at in there.keys() - {pairs[row] for row in same})
    found = ((row, there[at], place_of(there[at].server)) for row, at in pairs.items())
    return {row: entry for row, entry, place in found if row in same or before[place] == now[place] == 1}


def _versions_of(mine: Servers, *, here: bool) -> Iterator[Version]:
    """Yield what each row was there and what it becomes there: unchanged rows first, those that leave last."""
    nth = {row: nth for row, _, nth in versions((e.row, e.kept) for e in mine.entries if e.kept is not None)}
    was = {entry.row: entry.kept if here else entry.was for entry in mine.entries}
    comes = {entry.row for entry in mine.entries if entry.disabled is here and not entry.removed}
    for entry in sorted(mine.entries, key=lambda entry: (entry.row not in comes, entry.server != was[entry.row])):
        if (before := was[entry.row]) is not None:
            yield Version(entry.row, before, nth[entry.row] if here else entry.nth)
        if entry.row in comes and entry.server != before:
            yield Version(entry.row, entry.server)


def _on_top(entry: Entry, held: Entry | None, kept: Entry | None) -> Entry:
    """Return a row based on their versions of it; its content is theirs unless it was edited here."""
    was, nth = (held.was, held.nth) if held is not None else (None, None)
    now = replace(entry, was=was, nth=nth, kept=kept.kept if kept is not None else None)
    untouched = entry.removed or entry.server == entry.before
    return replace(now, server=now.before or entry.server) if untouched else now


def _disagree(entry: Entry, held: Entry | None, kept: Entry | None) -> bool:
    """Whether both sides changed a row, and not to the same."""
    edited = entry.removed or entry.server != entry.before
    if kept is not None and edited and kept.server not in (entry.kept, entry.was, entry.server):
        return True
    if held is None:
        return entry.was is not None and entry.stays and entry.server != entry.was
    if entry.removed:
        return held.server != entry.was
    return entry.server != entry.was and held.server not in (entry.was, entry.server)


def changed_rows(old: Draft, merged: Merged) -> Iterator[tuple[str, int | None]]:
    """Yield what a merge changed in fields that were not edited here: keys, and rows of MCP servers."""
    yield from ((key, None) for key in merged.arrived if key != MCP)
    before = {entry.row: entry.was for entry in old.stored_servers.entries}
    for entry in merged.draft.servers.entries:
        if entry.was is not None and before.get(entry.row) != entry.was:
            yield MCP, entry.row
