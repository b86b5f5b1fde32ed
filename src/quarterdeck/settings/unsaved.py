"""Edits kept on this machine while they are not saved, so that they outlive a crash: without secrets.

Each run of the deck has an entry of its own, so that two decks never fight. It belongs to the process that writes it
until that ends; what it leaves behind is offered to the next one.
"""

from collections.abc import Callable, Mapping
from typing import ClassVar, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict

from quarterdeck.settings.changes import Changes, field_changes, server_changes
from quarterdeck.settings.draft import Draft

MOST_RUNS = 20
"""Entries of ended runs that are kept, the newest ones."""


class Run(Changes):
    """What one run of the deck edits, or left behind."""

    at: AwareDatetime
    edits: int
    """How many things are edited."""
    process: str
    """The process that writes it, empty once that has ended."""


class UnsavedEdits(BaseModel):
    """The edits for one server, run by run."""

    model_config = ConfigDict(frozen=True)
    kind: ClassVar[str] = "unsaved"
    version: Literal[1, 2] = 2
    runs: dict[str, Run]


def to_keep(draft: Draft, at: AwareDatetime, process: str) -> Run:
    """The edits of a draft as they are kept."""
    fields, servers = field_changes(draft), tuple(server_changes(draft))
    return Run(at=at, edits=draft.count, process=process, fields=fields, servers=servers)


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


def _runs(kept: UnsavedEdits | None) -> Mapping[str, Run]:
    return kept.runs if kept is not None else {}
