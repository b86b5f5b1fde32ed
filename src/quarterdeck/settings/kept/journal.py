"""What saves changed, noted down so that the last one can be undone: without any secret.

A secret is told of only as stored before, replaced or cleared. What may be secret inside other values is masked, and an
undo takes it from what the server holds now, or leaves it to be typed.
"""

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from quarterdeck.client.models.members import moment
from quarterdeck.client.models.settings import Settings
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.fields import Control
from quarterdeck.settings.kept import saved_rows
from quarterdeck.settings.kept.plain_values import fits, hides, holds, label_of, plain
from quarterdeck.settings.review import Line, lines

KIND = "journal"
"""The kind of note that a journal is."""
MOST_SAVES = 50
MOST_BYTES = 256 * 1024
"""How much of a journal is kept; the last save is, however large."""
LONGEST = 200
"""Letters of a value in a line for people."""


@dataclass(frozen=True)
class Saved:
    """One save: when it was, and what it changed in lines for people, from old to new."""

    when: datetime | None
    release: str
    lines: tuple[str, ...]
    note: dict[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Undo:
    """A draft that takes a save back as far as that can be done."""

    draft: Draft
    cannot: tuple[str, ...] = ()
    """Secrets that nothing here knows any more, and values with a secret in them."""
    moved: tuple[str, ...] = ()
    """What has been changed again since, and is left alone."""


def note_of(meant: Draft, found: Settings | None, when: datetime, release: str) -> dict[str, Any]:
    """Note one save: what it changed, as the server holds it after (`found`, None where that could not be read).

    What did not arrive is not noted.
    """
    seen = None if found is None else Draft(found, fields=meant.fields)
    fields = {key: _field(meant, key, seen) for key in meant.edits if key != MCP}
    return {
        "when": when.isoformat(),
        "release": release,
        "lines": [_words(line) for line in lines(meant)],
        "fields": {key: change for key, change in fields.items() if change is not None},
        "servers": saved_rows.noted(meant.servers, None if seen is None else seen.servers)
        if MCP in meant.edits
        else [],
    }


def add_to(journal: Any, note: dict[str, Any]) -> dict[str, Any]:
    """A journal with one more save; the oldest go when there are too many, or too much of them."""
    kept = [note]
    size = _size(note)
    for older in reversed(_saves(journal)):
        size += _size(older)
        if len(kept) == MOST_SAVES or size > MOST_BYTES:
            break
        kept.insert(0, older)
    return {"saves": kept}


def last(journal: Any) -> Saved | None:
    """The last save of a journal; None where there is none, or none that makes sense."""
    saves = _saves(journal)
    if not saves:
        return None
    note = saves[-1]
    said = note.get("lines")
    return Saved(
        moment(note.get("when")),
        str(note.get("release") or ""),
        tuple(map(str, said)) if isinstance(said, list) else (),
        note,
    )


def undone(saved: Saved, now: Draft) -> Undo:
    """The reverse of a save on top of what the server holds now, as one change of the draft."""
    values: dict[str, Any] = {}
    cannot: list[str] = []
    moved: list[str] = []
    fields = saved.note.get("fields")
    for key, change in (fields if isinstance(fields, dict) else {}).items():
        if not isinstance(change, dict) or not _can_be_edited(now, key):
            cannot.append(label_of(now, key))
        elif "stored" in change:
            values |= _secret_back(now, key, change, cannot)
        elif not holds(now, key, change.get("new")):
            moved.append(label_of(now, key))
        elif hides(change.get("old")) or not fits(now.field_at(key), change.get("old")):
            cannot.append(label_of(now, key))
        else:
            values[key] = change.get("old")
    rows = saved_rows.undone(saved.note.get("servers"), now.servers)
    if rows.servers is not now.servers:
        values[MCP] = rows.servers
    return Undo(now.set_all(values), (*cannot, *rows.left_out), (*moved, *rows.moved))


def _field(meant: Draft, key: str, seen: Draft | None) -> dict[str, Any] | None:
    """From old to new; None where the server still holds the old."""
    if meant.field_at(key).secret:
        return {"stored": meant.stored(key), "cleared": meant.edits[key] is None}
    old = plain(key, meant.was(key))
    new = plain(key, meant.edits[key] if seen is None else seen.was(key))
    arrived = seen is None or not holds(seen, key, old) or hides(new)
    return {"old": old, "new": new} if arrived else None


def _secret_back(now: Draft, key: str, change: dict[str, Any], cannot: list[str]) -> dict[str, Any]:
    """A secret that was not there before the save can be cleared; an older one is known to nobody."""
    if change["stored"] is False and not change.get("cleared") and now.stored(key) is not False:
        return {key: None}
    cannot.append(label_of(now, key))
    return {}


def _can_be_edited(now: Draft, key: str) -> bool:
    entry = now.fields.by_key.get(key)
    return entry is not None and not entry.absent and entry.control not in (Control.READ_ONLY, Control.SERVERS)


def _words(line: Line) -> str:
    change = f"{_cut(line.old)} → {_cut(line.new)}" if line.old or line.new else ""
    return " ".join(filter(None, (f"{line.label}:", line.act.value, change)))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _saves(journal: Any) -> list[dict[str, Any]]:
    saves = journal.get("saves") if isinstance(journal, dict) else None
    return [save for save in saves if isinstance(save, dict)] if isinstance(saves, list) else []


def _size(note: dict[str, Any]) -> int:
    return len(json.dumps(note, ensure_ascii=False).encode())
