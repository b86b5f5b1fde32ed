"""Edits kept on this machine while they are not saved, so that they outlive a crash: without secrets.

Each run of the deck has an entry of its own, so that two decks never fight. It belongs to the process that writes it
until that ends; what it leaves behind is offered to the next one.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, JsonValue

from quarterdeck.settings import words
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.fields import Control
from quarterdeck.settings.mcp import Entry, EntryState, Servers
from quarterdeck.settings.mcp_merge import there_and_here
from quarterdeck.settings.mcp_server import bare, filled, typed_anew
from quarterdeck.settings.plain_values import KeptServer, Rows, fits, hides, holds, label_of, plain

MOST_RUNS = 20
"""Entries of ended runs that are kept, the newest ones."""


class _Kept(BaseModel):
    model_config = ConfigDict(frozen=True)


class FieldEdit(_Kept):
    """One edited field: its new value and what it was, or that the new one is secret and not kept."""

    value: JsonValue = None
    was: JsonValue = None
    secret: bool = False
    """Whether the field is one that the server never tells."""
    hidden: bool = False


class RowEdit(_Kept):
    """One edited row of the MCP list: `before` is what the server held of it, or this machine where `here`."""

    place: int
    """Where the row stands in the whole list."""
    nth: int
    """Which one it was of those with its name or address."""
    server: KeptServer
    before: KeptServer | None
    here: bool
    parked: bool
    removed: bool
    typed: tuple[str, ...]
    """Which of its secrets were typed, in words."""


class Run(_Kept):
    """What one run of the deck edits, or left behind."""

    at: AwareDatetime
    edits: int
    """How many things are edited."""
    process: str
    """The process that writes it, empty once that has ended."""
    fields: dict[str, FieldEdit]
    servers: tuple[RowEdit, ...]


class UnsavedEdits(_Kept):
    """The edits for one server, run by run."""

    kind: ClassVar[str] = "unsaved"
    version: Literal[1] = 1
    runs: dict[str, Run]


@dataclass(frozen=True)
class Restored:
    """A draft with kept edits on it."""

    draft: Draft
    left_out: tuple[str, ...] = ()
    """What was edited and cannot be had back, because it may be secret: labels, and parts of MCP servers."""
    moved: tuple[str, ...] = ()
    """Labels of edited fields that have since been changed on the server."""


def with_run(kept: UnsavedEdits | None, name: str, run: Run) -> UnsavedEdits:
    """Put in a run's edits, in place of those it had."""
    runs = {**_runs(kept), name: run}
    newest = sorted(runs, key=lambda each: runs[each].at, reverse=True)[:MOST_RUNS]
    return UnsavedEdits(runs={each: runs[each] for each in runs if each in newest})


def without_run(kept: UnsavedEdits | None, name: str) -> UnsavedEdits | None:
    """Take out a run's edits; None when no others are left."""
    left = {other: run for other, run in _runs(kept).items() if other != name}
    return UnsavedEdits(runs=left) if left else None


def ended(kept: UnsavedEdits | None, name: str) -> UnsavedEdits | None:
    """Say that a run has ended."""
    run = _runs(kept).get(name)
    return kept if run is None else with_run(kept, name, run.model_copy(update={"process": ""}))


def left_behind(kept: UnsavedEdits | None, is_running: Callable[[str], bool]) -> tuple[tuple[str, Run], ...]:
    """(name, edits) of ended runs, newest first; not what a living process still works on."""
    found = (each for each in _runs(kept).items() if not is_running(each[1].process))
    return tuple(sorted(found, key=lambda each: each[1].at, reverse=True))


def to_keep(draft: Draft, at: AwareDatetime, process: str) -> Run:
    """The edits of a draft as they are kept."""
    return Run(
        at=at,
        edits=draft.count,
        process=process,
        fields={key: _field(draft, key) for key in draft.edits if key != MCP},
        servers=_rows(draft.servers) if MCP in draft.edits else (),
    )


def restored(run: Run, draft: Draft) -> Restored:
    """Put kept edits on a draft, as one change; those of settings that this server lacks are left out."""
    known = {key: edit for key, edit in run.fields.items() if _fits(draft, key, edit)}
    rows = _restored_rows(run.servers, draft.servers)
    values: dict[str, Any] = {key: edit.value for key, edit in known.items() if not edit.hidden}
    if rows.servers is not draft.servers:
        values[MCP] = rows.servers
    hidden = (label_of(draft, key) for key, edit in known.items() if edit.hidden)
    plain_ones = ((key, edit) for key, edit in known.items() if not edit.hidden and not edit.secret)
    moved = (label_of(draft, key) for key, edit in plain_ones if not holds(draft, key, edit.was))
    return Restored(draft.set_all(values), (*hidden, *rows.left_out), (*moved, *rows.moved))


def _runs(kept: UnsavedEdits | None) -> Mapping[str, Run]:
    return kept.runs if kept is not None else {}


def _field(draft: Draft, key: str) -> FieldEdit:
    value = draft.edits[key]
    if draft.field_at(key).secret:
        return FieldEdit(secret=True, hidden=value is not None)
    shown = plain(key, value)
    return FieldEdit(hidden=True) if hides(shown) else FieldEdit(value=shown, was=plain(key, draft.was(key)))


def _fits(draft: Draft, key: str, edit: FieldEdit) -> bool:
    entry = draft.fields.by_key.get(key)
    if entry is None or entry.control in (Control.SERVERS, Control.READ_ONLY):
        return False
    return edit.value is None if entry.secret else edit.hidden or fits(entry, edit.value)


def _rows(servers: Servers) -> tuple[RowEdit, ...]:
    held = there_and_here(servers)
    nth = held[False].nth | held[True].nth
    return tuple(
        RowEdit(
            place=place,
            nth=nth.get(entry.row, 0),
            server=bare(entry.server),
            before=None if entry.before is None else bare(entry.before),
            here=entry.was is None,
            parked=entry.disabled,
            removed=entry.removed,
            typed=typed_anew(entry.server, entry.before),
        )
        for place, entry in enumerate(servers.entries)
        if entry.state is not EntryState.KEPT
    )


def _restored_rows(rows: Iterable[RowEdit], servers: Servers) -> Rows:
    """Secrets come from the held server of the same name or address."""
    held = there_and_here(servers)
    entries = {entry.row: entry for entry in servers.entries}
    added: list[RowEdit] = []
    left_out: list[str] = []
    moved: list[str] = []
    for row in rows:
        entry = None if row.before is None else held[row.here].take(row.before, row.nth)
        if entry is None and row.removed:
            continue
        left_out += (f"{words.server_title(row.server)}: {part}" for part in row.typed)
        if entry is None:
            added.append(row)
        else:
            server = filled(row.server, entry.before)
            entries[entry.row] = replace(entry, server=server, disabled=row.parked, removed=row.removed)
        if row.before is not None and (entry is None or bare(entry.before or entry.server) != row.before):
            moved.append(words.server_title(row.before))
    if not added and entries == {entry.row: entry for entry in servers.entries}:
        return Rows(servers, tuple(left_out), tuple(moved))
    order = list(entries.values())
    for number, row in enumerate(sorted(added, key=lambda row: row.place), servers.next_row):
        order.insert(max(row.place, 0), Entry(number, row.server, disabled=row.parked))
    return Rows(replace(servers, entries=tuple(order)), tuple(left_out), tuple(moved))
