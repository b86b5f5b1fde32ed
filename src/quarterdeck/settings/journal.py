"""What saves changed, kept so that the last one can be undone: without any secret.

A secret is told of only as stored before, replaced or cleared. What may be secret inside other values is masked, and an
undo takes it from what the server holds now, or leaves it to be typed.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, JsonValue

from quarterdeck.client.models.mcp import McpServer
from quarterdeck.client.models.settings import Settings
from quarterdeck.settings import words
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.fields import Control
from quarterdeck.settings.mcp import Entry, Servers
from quarterdeck.settings.mcp_merge import there_and_here
from quarterdeck.settings.mcp_server import bare, filled, identities, missing, transport_of, typed_anew
from quarterdeck.settings.plain_values import KeptServer, Rows, fits, hides, holds, label_of, plain
from quarterdeck.settings.review import Line, lines

MOST_SAVES = 50
MOST_BYTES = 256 * 1024
"""How much of a journal is kept; the last save is, however large."""
LONGEST = 200
"""Letters of a value in a line for people."""


class _Kept(BaseModel):
    model_config = ConfigDict(frozen=True)


class FieldChange(_Kept):
    """What a save made of a field; of a `secret` only whether one was `stored` before, and whether it was `cleared`."""

    old: JsonValue = None
    new: JsonValue = None
    secret: bool = False
    stored: bool | None = None
    cleared: bool = False


class ServerChange(_Kept):
    """What a save made of one MCP server; None is nowhere, `here` says that this machine keeps it and not the server.

    One of the two is there.
    """

    old: KeptServer | None
    old_here: bool
    new: KeptServer | None
    new_here: bool
    lost: tuple[str, ...]
    """Which secrets of the old one the new one does not have."""
    nth: int | None
    """Which one the old one was of those of its transport that the server held."""

    @property
    def title(self) -> str:
        """Transport and name."""
        server = self.old or self.new
        return "" if server is None else words.server_title(server)


class Saved(_Kept):
    """One save: when it was, and what it changed, also in lines for people, from old to new."""

    when: AwareDatetime
    release: str
    lines: tuple[str, ...]
    fields: dict[str, FieldChange]
    servers: tuple[ServerChange, ...]


class Journal(_Kept):
    """The saves to one server, the newest last."""

    kind: ClassVar[str] = "journal"
    version: Literal[1] = 1
    saves: tuple[Saved, ...]


@dataclass(frozen=True)
class Undo:
    """A draft that takes a save back as far as that can be done."""

    draft: Draft
    cannot: tuple[str, ...] = ()
    """Secrets that nothing here knows any more, and values with a secret in them."""
    moved: tuple[str, ...] = ()
    """What has been changed again since, and is left alone."""


def saved_of(meant: Draft, found: Settings | None, when: AwareDatetime, release: str) -> Saved:
    """What a save changed, as the server holds it after (`found`, None where that could not be read).

    What did not arrive is left out.
    """
    seen = None if found is None else Draft(found, fields=meant.fields)
    fields = {key: _field(meant, key, seen) for key in meant.edits if key != MCP}
    return Saved(
        when=when,
        release=release,
        lines=tuple(_words(line) for line in lines(meant)),
        fields={key: change for key, change in fields.items() if change is not None},
        servers=tuple(_servers(meant.servers, seen)) if MCP in meant.edits else (),
    )


def with_save(journal: Journal | None, saved: Saved) -> Journal:
    """A journal with one more save; the oldest go when there are too many, or too much of them."""
    kept = [saved]
    size = _size(saved)
    for older in reversed(journal.saves if journal is not None else ()):
        size += _size(older)
        if len(kept) == MOST_SAVES or size > MOST_BYTES:
            break
        kept.insert(0, older)
    return Journal(saves=tuple(kept))


def last(journal: Journal | None) -> Saved | None:
    """The last save of a journal; None where there is none."""
    return journal.saves[-1] if journal is not None and journal.saves else None


def undone(saved: Saved, now: Draft) -> Undo:
    """The reverse of a save on top of what the server holds now, as one change of the draft."""
    values: dict[str, Any] = {}
    cannot: list[str] = []
    moved: list[str] = []
    for key, change in saved.fields.items():
        label = label_of(now, key)
        if not _can_be_edited(now, key):
            cannot.append(label)
        elif change.secret:
            # A secret that was not there before the save can be cleared; an older one is known to nobody.
            if change.stored is False and not change.cleared and now.stored(key) is not False:
                values[key] = None
            else:
                cannot.append(label)
        elif not holds(now, key, change.new):
            moved.append(label)
        elif hides(change.old) or not fits(now.field_at(key), change.old):
            cannot.append(label)
        else:
            values[key] = change.old
    rows = _undone_rows(saved.servers, now.servers)
    if rows.servers is not now.servers:
        values[MCP] = rows.servers
    return Undo(now.set_all(values), (*cannot, *rows.left_out), (*moved, *rows.moved))


def _field(meant: Draft, key: str, seen: Draft | None) -> FieldChange | None:
    """From old to new; None where the server still holds the old."""
    if meant.field_at(key).secret:
        return FieldChange(secret=True, stored=meant.stored(key), cleared=meant.edits[key] is None)
    old = plain(key, meant.was(key))
    new = plain(key, meant.edits[key] if seen is None else seen.was(key))
    arrived = seen is None or not holds(seen, key, old) or hides(new)
    return FieldChange(old=old, new=new) if arrived else None


def _servers(meant: Servers, seen: Draft | None) -> Iterator[ServerChange]:
    """Each edited row that arrived."""
    stored = {entry.origin: entry.server for entry in seen.servers.entries} if seen is not None else None
    left = meant.left
    places = dict(zip((entry.row for entry in left), identities(entry.server for entry in left), strict=True))
    for entry in meant.edited:
        new = None if entry.removed else entry.server
        if stored is not None and entry.stays:
            new = stored.get(places[entry.row])
            if new is None or new == entry.was:
                continue
        elif stored is not None and entry.origin in stored.keys() - places.values():
            continue
        old = entry.before
        yield ServerChange(
            old=None if old is None else bare(old),
            old_here=entry.was is None and old is not None,
            new=None if new is None else bare(new),
            new_here=entry.disabled and new is not None,
            lost=() if old is None else typed_anew(old, new),
            nth=_nth(entry, meant),
        )


def _nth(row: Entry, servers: Servers) -> int | None:
    if row.was is None:
        return None
    transport = transport_of(row.was)
    alike = (one.row for one in servers.entries if one.was is not None and transport_of(one.was) is transport)
    return tuple(alike).index(row.row)


def _undone_rows(changes: Iterable[ServerChange], servers: Servers) -> Rows:
    """Secrets come from the rows of now, and what is not there any more is masked."""
    held = there_and_here(servers)
    left_out: list[str] = []
    moved: list[str] = []
    result = servers
    for change in changes:
        now = None if change.new is None else held[change.new_here].take(change.new)
        if change.new is not None and (now is None or bare(now.before or now.server) != change.new):
            moved.append(change.title)
            continue
        result, server = _back(result, change, now)
        lost = change.lost if now is not None else ()
        left_out += (f"{change.title}: {part}" for part in dict.fromkeys((*lost, *(missing(server) if server else ()))))
    return Rows(result, tuple(left_out), tuple(moved))


def _back(servers: Servers, change: ServerChange, now: Entry | None) -> tuple[Servers, McpServer | None]:
    """The list with one change taken back, and the server that is there again."""
    if change.old is None:
        return (servers if now is None else servers.remove(now.row)), None
    server = filled(change.old, None if now is None else now.before)
    row = servers.next_row if now is None else now.row
    servers = servers.add(server) if now is None else servers.edit(row, server)
    if change.old_here:
        return servers.disable(row), server
    servers = servers.enable(row)
    is_back = now is None or change.new_here
    return (servers.placed(row, change.nth) if is_back and change.nth is not None else servers), server


def _can_be_edited(now: Draft, key: str) -> bool:
    entry = now.fields.by_key.get(key)
    return entry is not None and not entry.absent and entry.control not in (Control.READ_ONLY, Control.SERVERS)


def _words(line: Line) -> str:
    change = f"{_cut(line.old)} → {_cut(line.new)}" if line.old or line.new else ""
    return " ".join(filter(None, (f"{line.label}:", line.act.value, change)))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _size(saved: Saved) -> int:
    return len(saved.model_dump_json().encode())
