"""Edits noted down while they are not saved, so that they outlive a crash: without secrets."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.fields import Control, Field
from quarterdeck.settings.kept import unsaved_rows
from quarterdeck.settings.kept.plain_values import fits, hides, holds, label_of, plain


@dataclass(frozen=True)
class Restored:
    """A draft with the noted edits on it."""

    draft: Draft
    left_out: tuple[str, ...] = ()
    """What was edited and cannot be had back, because it may be secret: labels, and parts of MCP servers."""
    moved: tuple[str, ...] = ()
    """Labels of edited fields that have since been changed on the server."""


def to_note(draft: Draft) -> dict[str, Any] | None:
    """Note the edits of a draft; None when there are none."""
    if not draft.edited:
        return None
    fields = {key: _noted(draft, key) for key in draft.edits if key != MCP}
    rows = unsaved_rows.noted(draft.servers) if MCP in draft.edits else []
    return {"fields": fields, "servers": rows}


def from_note(note: Any, draft: Draft) -> Restored:
    """Put the noted edits on a draft, as one change; what makes no sense is left out without a word."""
    told = note if isinstance(note, dict) else {}
    fields = told.get("fields")
    known = dict(_known(draft, fields)) if isinstance(fields, dict) else {}
    rows = unsaved_rows.restored(told.get("servers"), draft.servers)
    values = {key: edit["value"] for key, edit in known.items() if "value" in edit}
    if rows.servers is not draft.servers:
        values[MCP] = rows.servers
    hidden = (label_of(draft, key) for key, edit in known.items() if "value" not in edit)
    moved = (
        label_of(draft, key) for key, edit in known.items() if "was" in edit and not holds(draft, key, edit["was"])
    )
    return Restored(draft.set_all(values), (*hidden, *rows.left_out), (*moved, *rows.moved))


def _noted(draft: Draft, key: str) -> dict[str, Any]:
    """One edit: its value and what it was, or that it cannot be told."""
    value = draft.edits[key]
    if draft.field_at(key).secret:
        return {"value": None} if value is None else {}
    shown = plain(key, value)
    return {} if hides(shown) else {"value": shown, "was": plain(key, draft.was(key))}


def _known(draft: Draft, fields: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The edits of settings that this server has."""
    for key, edit in fields.items():
        entry = draft.fields.by_key.get(key)
        if entry is not None and isinstance(edit, dict) and _fits(entry, edit):
            yield key, edit


def _fits(entry: Field, edit: Mapping[str, Any]) -> bool:
    if entry.control in (Control.SERVERS, Control.READ_ONLY):
        return False
    return edit.get("value") is None if entry.secret else fits(entry, edit.get("value"))
