"""The MCP servers being edited: one list for all three transports; the id of a row is kept by edits."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

from quarterdeck.client.models.mcp import (
    McpConfig,
    McpServer,
    ShttpServer,
    SseServer,
    StdioServer,
    free_name,
    listed,
    name_of,
)
from quarterdeck.client.redact import revealed
from quarterdeck.settings import mcp_checks
from quarterdeck.settings.fields import Problem, error, warning
from quarterdeck.settings.mcp_server import Version, bare, filled, members, paired, place_of, versions


class EntryState(StrEnum):
    """What a save does with a row."""

    KEPT = "kept"
    ADDED = "added"
    EDITED = "edited"
    REMOVED = "removed"
    DISABLED = "disabled"
    """It moves from the server to this machine."""
    ENABLED = "enabled"
    """It moves from this machine to the server."""


@dataclass(frozen=True)
class Entry:
    """One row: `was` is the server's version, the `nth` of its kind and name; None if the server has none."""

    row: int
    server: McpServer
    was: McpServer | None = None
    nth: int | None = None
    removed: bool = False
    disabled: bool = False
    """Whether after a save this machine keeps it, and the server does not have it."""
    kept: McpServer | None = None
    """The version that this machine already keeps."""

    @cached_property
    def state(self) -> EntryState:
        """What a save does with it."""
        if self.removed:
            return EntryState.REMOVED
        if self.disabled and (self.was is not None or self.kept is None):
            return EntryState.DISABLED
        if self.kept is not None and not self.disabled:
            return EntryState.ENABLED
        if self.was is None and not self.disabled:
            return EntryState.ADDED
        return EntryState.KEPT if self.server == self.before else EntryState.EDITED

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with it alone; of what is stored and not edited, only warnings, so they prevent no save."""
        return tuple(self.placed(problem, touched=self.edited) for problem in mcp_checks.problems(self.server))

    def placed(self, problem: Problem, *, touched: bool) -> Problem:
        """Return a problem at this row, which prevents a save only if that touches what is wrong."""
        return replace(problem, row=self.row, stops=problem.stops and touched)

    @property
    def before(self) -> McpServer | None:
        """The server's version, or else the one kept on this machine."""
        return self.kept if self.was is None else self.was

    @property
    def edited(self) -> bool:
        """Whether a save changes it."""
        return self.state is not EntryState.KEPT

    @property
    def stays(self) -> bool:
        """Whether the server has it after a save."""
        return not self.removed and not self.disabled

    @property
    def local(self) -> bool:
        """Whether a save concerns only this machine: the server is not involved, or already has this version."""
        if self.was is None:
            return not self.stays
        return self.state is EntryState.ENABLED and self.server == self.was


@dataclass(frozen=True)
class Servers:
    """The rows in the order shown, and the unknown members of the stored object."""

    entries: tuple[Entry, ...] = ()
    unknown: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(cls, config: McpConfig | None, disabled: Iterable[McpServer] = ()) -> "Servers":
        """Create rows for what is stored, in the order SSE, HTTP, stdio, then for what is kept on this machine."""
        stored = [Entry(number, server, server, nth) for number, server, nth in versions(enumerate(listed(config)))]
        kept = (Entry(row, server, disabled=True, kept=server) for row, server in enumerate(disabled, len(stored)))
        return cls((*stored, *kept), tuple((config.model_extra or {}).items()) if config else ())

    @cached_property
    def edited(self) -> tuple[Entry, ...]:
        """The rows that a save changes."""
        return tuple(entry for entry in self.entries if entry.edited)

    @property
    def sends(self) -> bool:
        """Whether a save would change anything on the server."""
        return any(not entry.local for entry in self.edited)

    @cached_property
    def remaining(self) -> tuple[Entry, ...]:
        """The rows that the server has after a save."""
        return tuple(entry for entry in self.entries if entry.stays)

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """All problems of the list: of each server alone, then of those with one name."""
        alone = [problem for entry in self.remaining for problem in entry.problems]
        return (*alone, *_twice(self.remaining))

    @cached_property
    def duplicates(self) -> tuple[tuple[int, ...], ...]:
        """Groups of rows with equal servers, among those that stay; the first row of each is the one to keep."""
        sharing = Counter(place_of(entry.server) for entry in self.remaining)
        alike: dict[str, list[int]] = defaultdict(list)
        for entry in self.remaining:
            if sharing[place_of(entry.server)] > 1:
                alike[json.dumps(entry.server.model_dump(), default=revealed, sort_keys=True)].append(entry.row)
        return tuple(tuple(rows) for rows in alike.values() if len(rows) > 1)

    @property
    def to_keep_here(self) -> tuple[McpServer, ...]:
        """The servers that this machine keeps after a save."""
        return tuple(entry.server for entry in self.entries if entry.disabled and not entry.removed)

    def entry(self, row: int) -> Entry | None:
        """Return the row with this id."""
        return next((entry for entry in self.entries if entry.row == row), None)

    def add(self, server: McpServer, after: int | None = None) -> "Servers":
        """Add a new row, below the row `after` or at the end."""
        new = Entry(self.next_row, server)
        place = next((at for at, entry in enumerate(self.entries, 1) if entry.row == after), len(self.entries))
        return replace(self, entries=(*self.entries[:place], new, *self.entries[place:]))

    def edit(self, row: int, server: McpServer) -> "Servers":
        """Replace the content of a row; a removed row comes back."""
        return self._with(lambda entry: replace(entry, server=server, removed=False), row)

    def remove(self, *rows: int) -> "Servers":
        """Mark rows for removal; a row that is stored nowhere yet is removed at once."""
        return self._with(lambda entry: None if entry.before is None else replace(entry, removed=True), *rows)

    def disable(self, row: int, *, with_secrets: bool = True) -> "Servers":
        """Move a row from the server to this machine; without its secrets, they must be typed again later."""

        def disabled(entry: Entry) -> Entry:
            server = entry.server if with_secrets else bare(entry.server)
            return replace(entry, server=server, disabled=True, removed=False)

        return self._with(disabled, row)

    def enable(self, row: int) -> "Servers":
        """Move a row back to the server, with the secrets that the server still has."""
        return self._with(lambda entry: replace(entry, server=filled(entry.server, entry.was), disabled=False), row)

    def restore(self, row: int) -> "Servers":
        """Discard all edits of a row; a new row is removed."""

        def restored(entry: Entry) -> Entry | None:
            if entry.before is None:
                return None
            return replace(entry, server=entry.before, removed=False, disabled=entry.was is None)

        return self._with(restored, row)

    def config(self) -> McpConfig:
        """Return what a save sends: three lists in row order, and the unknown members."""
        return McpConfig.of((entry.server for entry in self.remaining), **dict(self.unknown))

    @cached_property
    def next_row(self) -> int:
        """An unused row id."""
        return max((entry.row for entry in self.entries), default=-1) + 1

    def _with(self, change: Callable[[Entry], Entry | None], *rows: int) -> "Servers":
        """Return the list with some rows changed; None removes a row."""
        wanted = frozenset(rows)
        changed = (change(entry) if entry.row in wanted else entry for entry in self.entries)
        return replace(self, entries=tuple(entry for entry in changed if entry is not None))


def held_of(servers: Servers, there: Sequence[McpServer]) -> dict[int, McpServer]:
    """Return, by row, the server found in a record for each row that was to be stored: equal, or with the same name."""
    held = paired(
        (Version(entry.row, entry.server) for entry in servers.remaining), map(Version, range(len(there)), there)
    )
    return {row: there[number] for row, number in held.items()}


def empty_server(model: type[McpServer]) -> McpServer:
    """Return an empty server of this kind."""
    return model.model_validate({"name": "", "command": ""} if model is StdioServer else {"url": ""})


def copy_of(server: McpServer, servers: Servers) -> McpServer:
    """Return a copy with its secrets; a stdio server gets an unused name, an address must be changed by the person."""
    if not isinstance(server, StdioServer):
        return server
    taken = {name_of(entry.server) for entry in servers.entries if not entry.removed}
    return server.model_copy(update={"name": free_name(server.name, taken)})


def _twice(entries: Iterable[Entry]) -> Iterator[Problem]:
    """Yield what is wrong with servers of the same name or address."""
    by_name: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_name[name_of(entry.server)].append(entry)
    for same in by_name.values():
        kinds = [type(entry.server) for entry in same]
        for entry, own in zip(same, kinds, strict=True):
            member, word = ("name", "name") if own is StdioServer else ("url", "address")
            if kinds.count(own) > 1:
                problem = error(f"Another server has this {word}; change or delete one.")
            elif own is not StdioServer and {*kinds} - {own, StdioServer}:
                problem = warning("The same address is in the list with the other type.")
            else:
                continue
            yield entry.placed(replace(problem, member=member), touched=any(other.edited for other in same))


def without_duplicates(servers: Servers) -> Servers:
    """Return the list without duplicates."""
    return servers.remove(*(row for group in servers.duplicates for row in group[1:]))


def without_new_copies(servers: Servers) -> Servers:
    """Return the list without new servers that equal a stored one as far as they are known, which no save takes."""
    stored: dict[tuple[str, str], list[McpServer]] = defaultdict(list)
    for entry in servers.remaining:
        if entry.was is not None:
            stored[place_of(entry.server)].append(entry.server)

    def is_copy(new: McpServer) -> bool:
        return any(filled(new, each) == each for each in stored.get(place_of(new), ()))

    return servers.remove(*(each.row for each in servers.entries if each.before is None and is_copy(each.server)))


_OF_TRANSPORT = ("timeout", "transport", "type")
"""Members that belong to one transport, or name it."""


def converted(server: McpServer) -> McpServer | None:
    """Convert between SSE and streamable HTTP, with all members that both have; None for stdio."""
    if isinstance(server, StdioServer):
        return None
    shared = {name: value for name, value in members(server).items() if name not in _OF_TRANSPORT}
    return (ShttpServer if isinstance(server, SseServer) else SseServer).model_validate(shared)
