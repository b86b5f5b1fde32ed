"""Changes of the settings as they are kept between runs, without secrets: applied again to a draft, or reversed.

Of a secret, only this is kept: whether it was stored before, and whether it was replaced or cleared. Possible secrets
inside other values are masked; when a change is applied again, they are taken from the server's current values or must
be typed.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, JsonValue, model_validator

from quarterdeck.client.models.mcp import McpServer, listed
from quarterdeck.client.nested import AGENT_KIND, gone_along, gone_with_condenser
from quarterdeck.client.nested_mcp import stored_auth
from quarterdeck.settings import masks, words
from quarterdeck.settings.draft import MCP, Draft, is_same
from quarterdeck.settings.fields import Control, Field, Unreadable, typed
from quarterdeck.settings.mcp import Entry, Servers, held_of
from quarterdeck.settings.mcp_server import (
    KeptServer,
    Version,
    bare,
    filled,
    holds_hidden,
    members,
    missing,
    paired,
    place_of,
    typed_anew,
    versions,
)


class FieldChange(BaseModel, frozen=True):
    """From old to new; for a `secret` only whether one was `stored` before, and whether it was `cleared`."""

    old: JsonValue = None
    new: JsonValue = None
    secret: bool = False
    stored: bool | None = None
    cleared: bool = False

    @property
    def back(self) -> "FieldChange":
        """The reverse of this change."""
        return FieldChange(
            old=self.new, new=self.old, secret=self.secret, stored=not self.cleared, cleared=self.stored is False
        )

    @model_validator(mode="before")
    @classmethod
    def _of_version_1(cls, data: Any) -> Any:
        """Convert an edit from version 1 of the file of unsaved edits."""
        match data:
            case {"value": value, "was": was, "secret": secret, "hidden": hidden}:
                new = masks.MASK if hidden and not secret else value
                return {"old": was, "new": new, "secret": secret, "cleared": not hidden}
            case _:
                return data


class ServerChange(BaseModel, frozen=True):
    """A change of one MCP server: None means that it does not exist, `here` that only this machine keeps it."""

    old: KeptServer | None
    old_here: bool
    nth: int | None = None
    """Its number among those with its transport and name."""
    lost: tuple[str, ...] = ()
    """Secrets of the old version that the new one lacks, in words."""
    new: KeptServer | None
    new_here: bool
    typed: tuple[str, ...] = ()
    """Secrets of the new version that the old one lacks, in words."""
    new_nth: int | None = None
    """The number of the new version, as the server has it."""

    @property
    def back(self) -> "ServerChange":
        """The reverse of this change."""
        return ServerChange(
            old=self.new,
            old_here=self.new_here,
            nth=self.new_nth,
            new_nth=self.nth,
            lost=self.typed,
            new=self.old,
            new_here=self.old_here,
            typed=self.lost,
        )

    @model_validator(mode="before")
    @classmethod
    def _of_version_1(cls, data: Any) -> Any:
        """Convert an edited row from version 1 of the file of unsaved edits."""
        match data:
            case {"before": old, "here": here, "server": new, "parked": new_here, "removed": removed, "typed": typed}:
                new = None if removed else new
                return {"old": old, "old_here": here, "new": new, "new_here": new_here, "typed": typed}
            case _:
                return data


class KeptChanges(BaseModel, frozen=True):
    """Changed fields by key, and changed MCP servers."""

    fields: dict[str, FieldChange]
    servers: tuple[ServerChange, ...]

    @property
    def count(self) -> int:
        """The number of changes: fields, and MCP servers one by one."""
        return len(self.fields) + len(self.servers)

    @property
    def back(self) -> "KeptChanges":
        """The reverse of these changes."""
        fields = {key: change.back for key, change in self.fields.items()}
        return KeptChanges(fields=fields, servers=tuple(change.back for change in self.servers))


def changes_of(draft: Draft, seen: Draft | None = None, *, sent: bool = False) -> KeptChanges:
    """Return the edits of a draft; after a save only what was stored, as the server has it (`seen` was read back).

    If they were `sent`, also what went along with them; if nothing was read back, as a server without it would tell it.
    """
    return KeptChanges(fields=dict(_field_changes(draft, seen, sent=sent)), servers=tuple(_server_changes(draft, seen)))


def _field_changes(draft: Draft, seen: Draft | None, *, sent: bool) -> Iterator[tuple[str, FieldChange]]:
    gone = gone_along(draft.base, draft.edits) if sent else ()
    after = Draft(fields=draft.fields) if seen is None else seen
    for key in (*draft.edits, *(key for key in gone if key in draft.fields.by_key)):
        if key == MCP:
            continue
        edit = draft.edits.get(key)
        if draft.field_at(key).secret:
            yield key, FieldChange(secret=True, stored=draft.stored(key), cleared=edit is None)
            continue
        is_meant = seen is None and key in draft.edits
        old, new = masked(key, draft.was(key)), masked(key, edit if is_meant else after.was(key))
        if seen is None or not holds(seen, key, old) or holds_hidden(new):
            yield key, FieldChange(old=old, new=new)


def _server_changes(draft: Draft, seen: Draft | None) -> Iterator[ServerChange]:
    there = listed(seen.base.mcp_config) if seen is not None and seen.base is not None else ()
    held, after = held_of(draft.servers, there), tuple(versions(enumerate(map(bare, there))))
    others = Counter(map(place_of, there)) - Counter(map(place_of, held.values()))
    before = _versions(draft.servers, here=False) | _versions(draft.servers, here=True)
    for entry in draft.servers.edited:
        old, new = entry.before, None if entry.removed else entry.server
        if seen is not None and entry.stays:
            new = held.get(entry.row)
            if new is None or new == entry.was:
                continue
        elif seen is not None and entry.was is not None and place_of(entry.was) in others:
            continue
        yield ServerChange(
            old=None if old is None else bare(old),
            old_here=old is not None and entry.was is None,
            nth=before[entry.row].nth if entry.row in before else None,
            lost=() if old is None else typed_anew(old, new),
            new=None if new is None else bare(new),
            new_here=entry.disabled and new is not None,
            typed=() if new is None else typed_anew(new, old),
            new_nth=next((version.nth for version, each in zip(after, there, strict=True) if each is new), None),
        )


def not_stored(changes: KeptChanges, draft: Draft) -> KeptChanges:
    """Return the changes that the record of a draft does not have, as far as it tells: not of every secret."""
    fields = {key: change for key, change in changes.fields.items() if not _is_stored(key, change, draft)}
    entries = draft.servers.entries
    there = {
        False: [bare(entry.was) for entry in entries if entry.was is not None],
        True: [bare(entry.kept) for entry in entries if entry.kept is not None],
    }
    servers = (
        change
        for change in changes.servers
        if (change.new is not None and change.new not in there[change.new_here])
        or (change.old is not None and change.old in there[change.old_here])
    )
    return KeptChanges(fields=fields, servers=tuple(servers))


def _is_stored(key: str, change: FieldChange, draft: Draft) -> bool:
    if key not in draft.fields.by_key or holds_hidden(change.new):
        return False
    return change.cleared and draft.stored(key) is False if change.secret else holds(draft, key, change.new)


@dataclass(frozen=True)
class Restored:
    """A draft with changes applied again."""

    draft: Draft
    left_out: tuple[str, ...] = ()
    """What could not be restored, because it may be secret or is not accepted: labels and parts of servers."""
    moved: tuple[str, ...] = ()
    """What was changed to something else since."""

    @property
    def not_undone(self) -> Iterator[str]:
        """Sentences about what stays as it is, if the changes were those of an undo."""
        if self.left_out:
            yield f"Cannot be brought back, for it is not kept: {'; '.join(self.left_out)}."
        if self.moved:
            yield f"Changed again since, and left alone: {'; '.join(self.moved)}."


def restored(changes: KeptChanges, draft: Draft, *, over_others: bool = True) -> Restored:
    """Apply changes again, as one change of the draft.

    Values that somebody has changed since are overwritten, or left alone if `over_others` is false.
    """
    values: dict[str, Any] = {}
    left_out: list[str] = []
    moved: list[str] = []
    gone = gone_with_condenser(draft.base, {key: change.new for key, change in changes.fields.items()})
    for key, change in changes.fields.items():
        if key in gone:  # another kind of condenser takes it along by itself
            continue
        entry = draft.fields.by_key.get(key)
        label = entry.label if entry is not None else key
        if entry is None or not _takes(entry, change):
            left_out.append(label)
            continue
        is_moved = not change.secret and not holds(draft, key, change.old)
        if is_moved and not over_others:
            moved.append(label)
        elif not _can_be_made(entry, change):
            left_out.append(label)
        else:
            values[key] = change.new
            moved += [label] if is_moved else []
    if AGENT_KIND in values and not over_others:
        left_out.append("All other settings that its agents had")
    values[MCP] = _restored_servers(changes.servers, draft, left_out, moved, over_others=over_others)
    return Restored(draft.set_all(values), tuple(left_out), tuple(moved))


def masked(key: str, value: Any) -> Any:
    """Return a field's value as JSON with secrets masked; unreadable text is masked completely."""
    return masks.MASK if isinstance(value, Unreadable) else masks.document(value, key)


def holds(draft: Draft, key: str, value: Any) -> bool:
    """Whether the draft's record has a value that `masked` returned."""
    return is_same(masked(key, draft.was(key)), value)


def fits(entry: Field, value: Any) -> bool:
    """Whether a value has the right type for a setting: some servers store any value, and then fail."""
    if value is None:
        return entry.can_unset
    read = entry.parse(typed(value))
    same_type = all(isinstance(read, kind) is isinstance(value, kind) for kind in (str, bool))
    return same_type and not isinstance(read, Unreadable)


def _can_be_made(entry: Field, change: FieldChange) -> bool:
    """Whether the new value is known: of a secret only that it was cleared."""
    if change.secret:
        return change.cleared
    return not holds_hidden(change.new) and fits(entry, change.new)


def _takes(entry: Field, change: FieldChange) -> bool:
    editable = not entry.absent and entry.control not in (Control.READ_ONLY, Control.SERVERS)
    return editable and entry.secret is change.secret


def _restored_servers(
    changes: Sequence[ServerChange], draft: Draft, left_out: list[str], moved: list[str], *, over_others: bool
) -> Servers:
    """Return the list with changes applied again; secrets come from the current rows.

    Where the server tells no secrets, no change of them is seen, and what comes back may have had some.
    """
    servers, hidden = draft.servers, draft.fields.nested
    rows = _rows(changes, servers)
    for number, change in enumerate(changes):
        now = rows.get(number)
        before = None if now is None or now.before is None else _told(now.before, hidden=hidden)
        if change.old is not None and before != _told(change.old, hidden=hidden):
            if not over_others or now is not None or change.new is not None:
                moved.append(words.server_title(change.old))
            if not over_others:
                continue
        if change.new is None:
            servers = servers if now is None else servers.remove(now.row)
            continue
        server = filled(change.new, None if now is None else now.before)
        title = words.server_title(change.new)
        left_out += (f"{title}: {part}" for part in dict.fromkeys((*change.typed, *missing(server))))
        comes_back = (now is None or now.was is None) and not change.new_here
        if hidden and comes_back and stored_auth(server) is None:  # how it signs in is not sent without its secret
            told = {name: value for name, value in members(server).items() if name != "auth"}
            server = type(server).model_validate(told)
        if hidden and comes_back and not over_others and not words.holds_secret(server):
            left_out.append(f"{title}: its key and hidden values, if it had any")
        row = servers.next_row if now is None else now.row
        servers = servers.add(server) if now is None else servers.edit(row, server)
        servers = servers.disable(row) if change.new_here else servers.enable(row)
    return servers


def _told(server: McpServer, *, hidden: bool) -> dict[str, Any]:
    """Return a server without secrets; if the service hides them, also without their names."""
    return bare(server).model_dump(exclude={"api_key", "env", "headers"} if hidden else None)


def _rows(changes: Sequence[ServerChange], servers: Servers) -> dict[int, Entry]:
    """Return, by the number of a change, the row it is about now: on the server, or kept on this machine."""
    rows: dict[int, int] = {}
    for here in (False, True):
        wanted = (
            Version(number, change.old, change.nth)
            for number, change in enumerate(changes)
            if change.old is not None and change.old_here is here
        )
        rows |= paired(wanted, _versions(servers, here=here).values())
    return {number: entry for number, row in rows.items() if (entry := servers.entry(row)) is not None}


def _versions(servers: Servers, *, here: bool) -> dict[int, Version]:
    """Return, by row, the server's version or the one that only this machine keeps, without secrets."""
    entries = ((entry.row, entry.before) for entry in servers.entries if (entry.was is None) is here)
    # Counted without secrets: two addresses that differ only by a token have the same name in a file.
    held = versions((row, bare(server)) for row, server in entries if server is not None)
    return {version.key: version for version in held}
