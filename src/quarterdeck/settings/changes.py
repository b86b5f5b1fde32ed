"""What was changed in the settings, as it is kept between runs: made again on a draft, or taken back, without secrets.

Of a secret is kept only whether it was stored before, and whether it was replaced or cleared. What may be secret inside
other values is masked; when a change is made again it is taken from what the server holds now, or left to be typed.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, JsonValue, model_validator

from quarterdeck.client.models.mcp import McpServer
from quarterdeck.settings import masks, words
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.fields import Control, Field, Unreadable, typed
from quarterdeck.settings.mcp import Entry, Servers
from quarterdeck.settings.mcp_server import (
    KeptServer,
    Version,
    bare,
    filled,
    holds_hidden,
    identities,
    missing,
    paired,
    transport_of,
    typed_anew,
)


class FieldChange(BaseModel):
    """From old to new; of a `secret` only whether one was `stored` before, and whether it was `cleared`."""

    model_config = ConfigDict(frozen=True)
    old: JsonValue = None
    new: JsonValue = None
    secret: bool = False
    stored: bool | None = None
    cleared: bool = False

    @property
    def back(self) -> "FieldChange":
        """The change that takes this one back."""
        return FieldChange(
            old=self.new, new=self.old, secret=self.secret, stored=not self.cleared, cleared=self.stored is False
        )

    @model_validator(mode="before")
    @classmethod
    def _of_version_1(cls, data: Any) -> Any:
        """An edit in the first version of the file of unsaved ones."""
        match data:
            case {"value": value, "was": was, "secret": secret, "hidden": hidden}:
                new = masks.MASK if hidden and not secret else value
                return {"old": was, "new": new, "secret": secret, "cleared": not hidden}
            case _:
                return data


class ServerChange(BaseModel):
    """What became of one MCP server: None is nowhere, `here` says that this machine keeps it and not the server.

    `nth` is its place among those of its transport, there or here.
    """

    model_config = ConfigDict(frozen=True)
    old: KeptServer | None
    old_here: bool
    nth: int | None = None
    lost: tuple[str, ...] = ()
    """Which secrets of the old one the new one does not have, in words."""
    new: KeptServer | None
    new_here: bool
    new_nth: int | None = None
    typed: tuple[str, ...] = ()
    """Which secrets of the new one the old one does not have."""

    @property
    def back(self) -> "ServerChange":
        """The change that takes this one back."""
        return ServerChange(
            old=self.new,
            old_here=self.new_here,
            nth=self.new_nth,
            lost=self.typed,
            new=self.old,
            new_here=self.old_here,
            new_nth=self.nth,
            typed=self.lost,
        )

    @model_validator(mode="before")
    @classmethod
    def _of_version_1(cls, data: Any) -> Any:
        """An edited row in the first version of the file of unsaved ones."""
        match data:
            case {"before": old, "here": here, "server": new, "parked": new_here, "removed": removed, "typed": typed}:
                new = None if removed else new
                return {"old": old, "old_here": here, "new": new, "new_here": new_here, "typed": typed}
            case _:
                return data


class Changes(BaseModel):
    """Changed fields by key, and changed MCP servers."""

    model_config = ConfigDict(frozen=True)
    fields: dict[str, FieldChange]
    servers: tuple[ServerChange, ...]

    @property
    def back(self) -> "Changes":
        """The changes that take these back."""
        fields = {key: change.back for key, change in self.fields.items()}
        return Changes(fields=fields, servers=tuple(change.back for change in self.servers))


@dataclass(frozen=True)
class Restored:
    """A draft with changes made again."""

    draft: Draft
    left_out: tuple[str, ...] = ()
    """What cannot be had back, for it may be secret, or is nothing this server takes: labels, parts of MCP servers."""
    moved: tuple[str, ...] = ()
    """What has been changed to something else since."""


def field_changes(draft: Draft, seen: Draft | None = None) -> dict[str, FieldChange]:
    """The edited fields of a draft; of one that was saved as the server holds them after, without what did not arrive.

    `seen` is what was read back, None where nothing was.
    """
    found: dict[str, FieldChange] = {}
    for key, edit in draft.edits.items():
        if key == MCP:
            continue
        if draft.field_at(key).secret:
            found[key] = FieldChange(secret=True, stored=draft.stored(key), cleared=edit is None)
            continue
        old, new = plain(key, draft.was(key)), plain(key, edit if seen is None else seen.was(key))
        if seen is None or not holds(seen, key, old) or hides(new):
            found[key] = FieldChange(old=old, new=new)
    return found


def server_changes(draft: Draft, seen: Draft | None = None) -> Iterator[ServerChange]:
    """The edited MCP servers of a draft; `seen` as for the fields."""
    servers = draft.servers
    stored = {entry.origin: entry.server for entry in seen.servers.entries} if seen is not None else None
    left = {entry.row: entry.server for entry in servers.left}
    places = dict(zip(left, identities(left.values()), strict=True))
    before = {here: {one.key: one.nth for one in _versions(_held(servers, here=here))} for here in (False, True)}
    after = {one.key: one.nth for one in _versions(left.items())}
    for entry in servers.edited:
        new = None if entry.removed else entry.server
        if stored is not None and entry.stays:
            new = stored.get(places[entry.row])
            if new is None or new == entry.was:
                continue
        elif stored is not None and entry.origin in stored.keys() - places.values():
            continue
        old = entry.before
        here = entry.was is None and old is not None
        yield ServerChange(
            old=None if old is None else bare(old),
            old_here=here,
            nth=before[here].get(entry.row),
            lost=() if old is None else typed_anew(old, new),
            new=None if new is None else bare(new),
            new_here=entry.disabled and new is not None,
            new_nth=after.get(entry.row),
            typed=() if new is None else typed_anew(new, old),
        )


def restored(changes: Changes, draft: Draft, *, over_others: bool = True) -> Restored:
    """Make changes again, as one change of the draft.

    What somebody has changed to something else since is changed all the same, or (not `over_others`) left alone.
    """
    values: dict[str, Any] = {}
    left_out: list[str] = []
    moved: list[str] = []
    for key, change in changes.fields.items():
        entry = draft.fields.by_key.get(key)
        label = entry.label if entry is not None else key
        if entry is None or not _takes(entry, change):
            left_out.append(label)
            continue
        is_moved = not change.secret and not holds(draft, key, change.old)
        if is_moved and not over_others:
            moved.append(label)
        elif not change.cleared if change.secret else hides(change.new) or not fits(entry, change.new):
            left_out.append(label)
        else:
            values[key] = change.new
            moved += [label] if is_moved else []
    values[MCP] = _restored_servers(changes.servers, draft.servers, left_out, moved, over_others=over_others)
    return Restored(draft.set_all(values), tuple(left_out), tuple(moved))


def plain(key: str, value: Any) -> Any:
    """A field's value as JSON, masks in place of what may be secret in it; text that means nothing may be one whole."""
    return masks.MASK if isinstance(value, Unreadable) else masks.document(value, key)


def hides(value: Any) -> bool:
    """Whether something was left out of what `plain` made, so that the value cannot be had back from it."""
    return holds_hidden(value)


def holds(draft: Draft, key: str, value: Any) -> bool:
    """Whether the record below a draft holds what `plain` made of it; servers treat empty text as not set."""
    held = plain(key, draft.was(key))
    held, value = (None if each == "" else each for each in (held, value))
    return bool(held == value) and isinstance(held, bool) is isinstance(value, bool)


def fits(entry: Field, value: Any) -> bool:
    """Whether a value is of the kind that a setting takes: some servers store any, and break by it."""
    if value is None:
        return entry.can_unset
    is_switch = entry.control in (Control.SWITCH, Control.THREE_WAY)
    if isinstance(value, bool) or is_switch:
        return isinstance(value, bool) and is_switch
    read = entry.reads(typed(value))
    return not isinstance(read, Unreadable) and isinstance(read, str) is isinstance(value, str)


def _takes(entry: Field, change: FieldChange) -> bool:
    editable = not entry.absent and entry.control not in (Control.READ_ONLY, Control.SERVERS)
    return editable and entry.secret is change.secret


def _held(servers: Servers, *, here: bool) -> list[tuple[int, McpServer]]:
    """(row, server) of what the server holds, or of what only this machine keeps."""
    entries = (entry for entry in servers.entries if (entry.was is None) is here)
    return [(entry.row, entry.before) for entry in entries if entry.before is not None]


def _versions(servers: Iterable[tuple[int, McpServer]]) -> Iterator[Version]:
    """Each server without its secrets, and which one it is of those with its transport."""
    seen = Counter[str]()
    for row, server in servers:
        yield Version(row, bare(server), seen[transport_of(server)])
        seen[transport_of(server)] += 1


def _restored_servers(
    changes: Sequence[ServerChange], servers: Servers, left_out: list[str], moved: list[str], *, over_others: bool
) -> Servers:
    """The list with changes made again; secrets come from the rows of now."""
    rows = _rows(changes, servers)
    places: list[tuple[int, int]] = []
    for number, change in enumerate(changes):
        now = rows.get(number)
        if change.old is not None and (now is None or now.before is None or bare(now.before) != change.old):
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
        row = servers.next_row if now is None else now.row
        servers = servers.add(server) if now is None else servers.edit(row, server)
        servers = servers.disable(row) if change.new_here else servers.enable(row)
        if change.new_nth is not None and (now is None or change.old_here):
            places.append((change.new_nth, row))
    for nth, row in sorted(places):
        servers = servers.placed(row, nth)
    return servers


def _rows(changes: Sequence[ServerChange], servers: Servers) -> dict[int, Entry]:
    """Number of a change -> the row that it is about now."""
    rows: dict[int, int] = {}
    for here in (False, True):
        wanted = (
            Version(number, change.old, change.nth)
            for number, change in enumerate(changes)
            if change.old is not None and change.old_here is here
        )
        rows |= paired(wanted, _versions(_held(servers, here=here)))
    return {number: entry for number, row in rows.items() if (entry := servers.entry(row)) is not None}
