"""What this machine keeps of a server's settings between runs: saves for undo, unsaved edits, disabled MCP servers.

Only disabled servers may contain secrets, if the person agreed to that.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import ClassVar, Literal

from pydantic import AwareDatetime, BaseModel

from quarterdeck.client.models.mcp import McpServer
from quarterdeck.client.models.settings import Settings
from quarterdeck.settings.changes import KeptChanges, Restored, changes_of, restored
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.mcp_server import KeptServer

MOST_SAVES = 20
MOST_RUNS = 20
"""How many ended runs are kept, the newest ones."""


class Saved(KeptChanges):
    """What one save changed, and when."""

    when: AwareDatetime
    unsure: bool = False
    """It was not found out whether it was stored."""
    lost: tuple[str, ...] = ()
    """What it lost besides, in words."""


class Journal(BaseModel, frozen=True):
    """The saves to one server, the newest last, for undo."""

    kind: ClassVar[str] = "journal"
    version: Literal[1] = 1
    saves: tuple[Saved, ...] = ()

    def with_save(
        self, meant: Draft, found: Settings | None, when: AwareDatetime, lost: tuple[str, ...] = ()
    ) -> "Journal":
        """Add what the save of that moment changes, in place of what was noted of it before.

        `found` is what was read back, None if nothing was (yet). Changes that were not stored are left out.
        """
        changes = changes_of(meant, None if found is None else Draft(found, fields=meant.fields), sent=True)
        saved = Saved(when=when, unsure=found is None, lost=lost, **dict(changes))
        return Journal(saves=(*self.without_save(when).saves, saved)[-MOST_SAVES:])

    def without_save(self, when: AwareDatetime) -> "Journal":
        """Remove the save of that moment, because nothing was stored."""
        return Journal(saves=tuple(saved for saved in self.saves if saved.when != when))

    def last_save(self, now: Draft) -> tuple[Saved, Restored] | None:
        """Return the last save and its reverse applied to the current record; None if there is none.

        Values that were changed again are left alone. A save of which nothing is stored does not count.
        """
        for saved in reversed(self.saves):
            back = restored(saved.back, now, over_others=False)
            if _seems_stored(saved, back, now) if saved.unsure else saved.count:
                return saved, replace(back, left_out=(*back.left_out, *saved.lost))
        return None


def _seems_stored(saved: Saved, back: Restored, now: Draft) -> bool:
    """Whether what a save changed is not as it was before, or what it only added is there."""
    adds = any(change.old is None for change in saved.servers)
    return bool(restored(saved, now, over_others=False).moved) or (adds and not back.moved)


class Run(KeptChanges):
    """The edits of one run of the deck."""

    at: AwareDatetime
    process: str
    """The process that made them, empty once it has ended."""


class UnsavedEdits(BaseModel, frozen=True):
    """The edits for one server, run by run, so that they survive a crash and several decks do not conflict.

    An entry belongs to its process until that ends; afterwards the next run offers to restore it.
    """

    kind: ClassVar[str] = "unsaved"
    version: Literal[1, 2] = 2
    runs: dict[str, Run] = {}

    def with_run(self, name: str, draft: Draft, at: AwareDatetime, process: str) -> "UnsavedEdits":
        """Store a run's edits, replacing its previous ones; only the newest runs are kept."""
        runs = {**self.runs, name: Run(at=at, process=process, **dict(changes_of(draft)))}
        newest = sorted(runs, key=lambda each: runs[each].at)[-MOST_RUNS:]
        return UnsavedEdits(runs={each: runs[each] for each in newest})

    def without_run(self, name: str) -> "UnsavedEdits":
        """Remove a run's edits."""
        return UnsavedEdits(runs={other: run for other, run in self.runs.items() if other != name})

    def ended(self, name: str) -> "UnsavedEdits":
        """Note that a run has ended."""
        done = {"process": ""}
        runs = {each: run.model_copy(update=done) if each == name else run for each, run in self.runs.items()}
        return UnsavedEdits(runs=runs)

    def left_behind(self, is_running: Callable[[str], bool]) -> tuple[tuple[str, Run], ...]:
        """Return (name, edits) of ended runs, newest first; without runs whose process is alive."""
        found = (each for each in self.runs.items() if not is_running(each[1].process))
        return tuple(sorted(found, key=lambda each: each[1].at, reverse=True))


class DisabledServers(BaseModel, frozen=True):
    """The MCP servers kept on this machine instead of the server; secrets that must not be kept are masked."""

    kind: ClassVar[str] = "disabled"
    version: Literal[1] = 1
    servers: tuple[KeptServer, ...] = ()

    def with_replaced(self, gone: Iterable[McpServer], new: Iterable[McpServer]) -> "DisabledServers":
        """Keep `new`, and each of `gone` no longer; what another deck keeps, or has made of it, is left alone."""
        servers = list(self.servers)
        for server in gone:
            if server in servers:
                servers.remove(server)
        return DisabledServers(servers=(*servers, *new))
