"""Which row of an edited MCP list is which server of a newer one, where several may have one name or address."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

from quarterdeck.client.models.mcp import McpServer
from quarterdeck.settings.mcp.servers import Entry, EntryState, Servers, Transport, name_of, transport_of

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
