"""Edited MCP lists on top of what this machine keeps: disabled servers join by type and name or address."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from quarterdeck.client.models.mcp import McpServer
from quarterdeck.settings.mcp import Entry, EntryState, Servers
from quarterdeck.settings.mcp_server import Transport, bare, name_of, transport_of

Name = tuple[Transport, str]


def paired(mine: Servers, theirs: Servers) -> Mapping[int, Entry]:
    """Row of `mine` -> its entry in `theirs`, for each that has one.

    Of several with one name those that did not change there join first, and of the rows here first the untouched ones,
    last those that leave: so two people who each delete one of two equal servers leave one. Then the n-th joins the
    n-th, then what is left in order; last a row that is new here joins what is new there.
    """
    rows = _by_name((entry for entry in mine.entries if entry.was is not None), lambda entry: entry.was or entry.server)
    held = _by_name((entry for entry in theirs.entries if entry.was is not None), lambda entry: entry.server)
    added = _by_name((entry for entry in mine.entries if entry.was is None and entry.stays), lambda entry: entry.server)
    pairs: dict[int, Entry] = {}
    for name, free in held.items():
        known = rows.get(name, ())
        if len(known) == len(free) == 1:
            pairs[known[0].row] = free[0]
            continue
        for turn in (_is_untouched, _is_edited, _leaves):
            wanted = [row for row in known if turn(row)]
            _join(pairs, wanted, free, lambda row, entry: _unchanged(row, entry) and _nth(row, entry))
            _join(pairs, wanted, free, _unchanged)
        _join(pairs, known, free, _nth)
        _join(pairs, known, free, _any)
        _join(pairs, added.get(name, ()), free, _any)
    return pairs


def _join(
    pairs: dict[int, Entry], rows: Iterable[Entry], free: list[Entry], same: Callable[[Entry, Entry], bool]
) -> None:
    """Give each row without a partner the first free one that is the same, and take that from the free ones."""
    for row in rows:
        found = None if row.row in pairs else next((entry for entry in free if same(row, entry)), None)
        if found is not None:
            pairs[row.row] = found
            free.remove(found)


def _is_untouched(row: Entry) -> bool:
    return row.state is EntryState.KEPT


def _is_edited(row: Entry) -> bool:
    return row.stays and not _is_untouched(row)


def _leaves(row: Entry) -> bool:
    return not row.stays


def _unchanged(row: Entry, entry: Entry) -> bool:
    return row.was == entry.server


def _nth(row: Entry, entry: Entry) -> bool:
    return row.origin == entry.origin


def _any(_row: Entry, _entry: Entry) -> bool:
    return True


def _by_name(entries: Iterable[Entry], server_of: Callable[[Entry], McpServer]) -> dict[Name, list[Entry]]:
    named: dict[Name, list[Entry]] = defaultdict(list)
    for entry in entries:
        server = server_of(entry)
        named[transport_of(server), name_of(server)].append(entry)
    return named


def with_kept(servers: Servers, kept: Iterable[McpServer]) -> Servers:
    """An edited list in which the rows know what is kept here of them; one of which nothing is kept has a new row.

    A row that was kept here, is no more, and was not edited is gone.
    """
    waiting = list(kept)
    held = _found(servers, waiting)
    joined = (_joined(entry, held.get(entry.row)) for entry in servers.entries)
    new = (Entry(row, server, disabled=True, kept=server) for row, server in enumerate(waiting, servers.next_row))
    return replace(servers, entries=(*(entry for entry in joined if entry is not None), *new))


def _found(servers: Servers, waiting: list[McpServer]) -> dict[int, McpServer]:
    """Row -> what is kept of it, taken from those waiting: what is just the same joins before what only has the name,
    and what was kept before what is to be. Untouched rows come first: one that finds nothing goes, so no other may
    have taken what was its own.
    """
    entries = sorted(servers.entries, key=lambda entry: (entry.server != entry.kept, entry.removed, not entry.disabled))
    before = [(entry.row, entry.kept) for entry in entries if entry.kept is not None]
    to_be = [(entry.row, entry.server) for entry in entries if entry.disabled]
    held: dict[int, McpServer] = {}
    for is_same in (_equal, _of_one_name):
        for row, version in (*before, *to_be):
            found = None if row in held else next((one for one in waiting if is_same(one, version)), None)
            if found is not None:
                held[row] = found
                waiting.remove(found)
    return held


def _equal(one: McpServer, other: McpServer) -> bool:
    return one == other


def _of_one_name(one: McpServer, other: McpServer) -> bool:
    return (transport_of(one), name_of(one)) == (transport_of(other), name_of(other))


def _joined(entry: Entry, held: McpServer | None) -> Entry | None:
    if held == entry.kept:
        return entry
    if held is not None:
        untouched = entry.kept is not None and entry.server == entry.kept
        return replace(entry, server=held if untouched else entry.server, kept=held)
    gone = entry.was is None and (entry.removed or (entry.disabled and entry.server == entry.kept))
    return None if gone else replace(entry, kept=None)


class HeldRows:
    """Rows by a version of their server; each is found once."""

    def __init__(self, versions: Iterable[tuple[Entry, McpServer]]) -> None:
        self._free: dict[tuple[Transport, str], list[tuple[Entry, McpServer]]] = defaultdict(list)
        self.nth: dict[int, int] = {}
        """Row -> which one it is of those with its name or address."""
        for entry, server in versions:
            hidden = bare(server)
            same = self._free[transport_of(hidden), name_of(hidden)]
            self.nth[entry.row] = len(same)
            same.append((entry, hidden))

    def take(self, told: McpServer, nth: int = 0) -> Entry | None:
        """The row of a bare server: of several with its name or address one just like it, or else the first.

        Where several are just like it, which only their secrets tell apart, the `nth` is preferred.
        """
        free = self._free[transport_of(told), name_of(told)]
        if not free:
            return None
        alike = [at for at, (_, hidden) in enumerate(free) if hidden == told]
        return free.pop(next((at for at in alike if self.nth[free[at][0].row] == nth), alike[0] if alike else 0))[0]


def there_and_here(servers: Servers) -> dict[bool, HeldRows]:
    """What the server holds (False), and what only this machine keeps (True)."""
    return {
        False: HeldRows((entry, entry.was) for entry in servers.entries if entry.was is not None),
        True: HeldRows(
            (entry, entry.kept) for entry in servers.entries if entry.was is None and entry.kept is not None
        ),
    }
