"""What this machine keeps of the settings of a server between runs: what saves changed, edits that are not saved, and
disabled MCP servers. Only the last may hold secrets, where the person said yes to that.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict

from quarterdeck.client.models.mcp import McpServer
from quarterdeck.client.models.settings import Settings
from quarterdeck.settings.changes import Changes, Restored, changes_of, restored
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.mcp_server import KeptServer, place_of

MOST_SAVES = 20
MOST_RUNS = 20
"""Entries of ended runs that are kept, the newest ones."""


class Saved(Changes):
    """What one save changed, and when it was."""

    when: AwareDatetime


class Journal(BaseModel):
    """The saves to one server, the newest last, so that it can be undone."""

    model_config = ConfigDict(frozen=True)
    kind: ClassVar[str] = "journal"
    version: Literal[1] = 1
    saves: tuple[Saved, ...] = ()


def with_save(kept: Journal | None, meant: Draft, found: Settings | None, when: AwareDatetime) -> Journal:
    """Note what a save changed, as the server holds it after (`found`, None where that could not be read).

    What did not arrive is left out.
    """
    changes = changes_of(meant, None if found is None else Draft(found, fields=meant.fields))
    saved = Saved(when=when, fields=changes.fields, servers=changes.servers)
    return Journal(saves=(*(kept.saves if kept is not None else ()), saved)[-MOST_SAVES:])


def last(kept: Journal | None) -> Saved | None:
    """The last save of a journal; None where there is none."""
    return kept.saves[-1] if kept is not None and kept.saves else None


def undone(saved: Saved, now: Draft) -> Restored:
    """The reverse of a save on top of what the server holds now; what has been changed again since is left alone."""
    return restored(saved.back, now, over_others=False)


class Run(Changes):
    """What one run of the deck edits, or left behind."""

    at: AwareDatetime
    edits: int
    """How many things are edited."""
    process: str
    """The process that writes it, empty once that has ended."""


class UnsavedEdits(BaseModel):
    """The edits for one server, run by run, so that they outlive a crash and two decks never fight.

    An entry belongs to the process that writes it until that ends; what it leaves behind is offered to the next one.
    """

    model_config = ConfigDict(frozen=True)
    kind: ClassVar[str] = "unsaved"
    version: Literal[1, 2] = 2
    runs: dict[str, Run]


def with_run(kept: UnsavedEdits | None, name: str, draft: Draft, at: AwareDatetime, process: str) -> UnsavedEdits:
    """Put in a run's edits, in place of those it had."""
    changes = changes_of(draft)
    run = Run(at=at, edits=draft.count, process=process, fields=changes.fields, servers=changes.servers)
    return _of_runs({**_runs(kept), name: run})


def without_run(kept: UnsavedEdits | None, name: str) -> UnsavedEdits | None:
    """Take out a run's edits; None when no others are left."""
    left = {other: run for other, run in _runs(kept).items() if other != name}
    return UnsavedEdits(runs=left) if left else None


def ended(kept: UnsavedEdits | None, name: str) -> UnsavedEdits | None:
    """Say that a run has ended."""
    runs = _runs(kept)
    return _of_runs({**runs, name: runs[name].model_copy(update={"process": ""})}) if name in runs else kept


def left_behind(kept: UnsavedEdits | None, is_running: Callable[[str], bool]) -> tuple[tuple[str, Run], ...]:
    """(name, edits) of ended runs, newest first; not what a living process still works on."""
    found = (each for each in _runs(kept).items() if not is_running(each[1].process))
    return tuple(sorted(found, key=lambda each: each[1].at, reverse=True))


def _of_runs(runs: Mapping[str, Run]) -> UnsavedEdits:
    newest = sorted(runs, key=lambda name: runs[name].at)[-MOST_RUNS:]
    return UnsavedEdits(runs={name: runs[name] for name in newest})


def _runs(kept: UnsavedEdits | None) -> Mapping[str, Run]:
    return kept.runs if kept is not None else {}


class DisabledServers(BaseModel):
    """The MCP servers that are kept here and not on the server, without the secrets that are not to be (masks)."""

    model_config = ConfigDict(frozen=True)
    kind: ClassVar[str] = "disabled"
    version: Literal[1] = 1
    servers: tuple[KeptServer, ...] = ()


def disabled_in(kept: DisabledServers | None) -> tuple[McpServer, ...]:
    """The servers that are kept."""
    return kept.servers if kept is not None else ()


def exchanged(
    kept: DisabledServers | None, gone: Iterable[McpServer], new: Iterable[McpServer]
) -> DisabledServers | None:
    """Some servers in place of others, by transport and name; what another deck keeps stays."""
    new = tuple(new)
    moved = set(map(place_of, (*gone, *new)))
    servers = (*(server for server in disabled_in(kept) if place_of(server) not in moved), *new)
    return DisabledServers(servers=servers) if servers else None
