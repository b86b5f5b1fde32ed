"""Which rows of a list are shown, and in which order."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from datetime import datetime
from itertools import islice, pairwise
from typing import Any, Generic

from quarterdeck.fleet.filters import Filter, Kind, kept, parse
from quarterdeck.fleet.sort import ordered
from quarterdeck.tui.lists.listing import Listing, R
from quarterdeck.tui.lists.live_rows import RowChanges, found

SETTLES = 3.0
"""Seconds after a move of the cursor in which rows keep their places."""
CALM = 60.0
"""Seconds between two moments at which rows change places by themselves: a list that hops cannot be read."""
SOON = 30.0
"""The same where a row that needs a look is not on the screen."""
AT_ONCE = 300
"""Rows that are put into their places in one go: some ten milliseconds, for no key may wait for all of a long list."""
_NEW = object()
"""The sort key of a row that was not put into its place yet."""


class Arrangement(Generic[R]):
    """The filter and the order that a person chose for one list of `rows`; moments are monotonic, in seconds.

    All ids are kept in order, and so are those the filter lets through. A row that changes is taken out and put in
    again, so that the cost of a change does not follow the length of the list. Of a row that nobody looks at only its
    place is kept; while there is a filter, which looks at all of them, all are.
    """

    def __init__(self, listing: Listing[R], rows: Mapping[str, R]) -> None:
        self._listing = listing
        self._rows = rows
        self._sorts = {column.key: column.sort for column in listing.columns if column.sort is not None}
        self._keys: dict[str, Any] = {}
        self._all: list[str] = []
        self._through: list[str] = []
        self._sifted: dict[str, R] = {}
        """Every row while there is a filter."""
        self._passed: set[str] = set()
        self._late: set[str] = set()
        """Rows that stand where they stood although their place is another one now."""
        self.settling = False
        """Whether more of them are to be put into their places as soon as may be."""
        self._pressing = False
        """One of them needs a look and is not on the screen."""
        self._moved_at = -SETTLES
        self._settled_at = -CALM
        self.words = ""
        """The filter as it was typed."""
        self.filter = Filter()
        self.column: str | None = None
        """The column sorted by; None for the default order."""
        self.reverse = False
        self.fold: Callable[[Sequence[str]], list[str]] | None = None
        """Puts rows that belong together under one of them and leaves out what is folded away; None where none do."""

    @property
    def ids(self) -> Sequence[str]:
        """The ids to show, in order; a list that was given out does not change any more."""
        return self.matching if self.fold is None else self.fold(self.matching)

    @property
    def matching(self) -> Sequence[str]:
        """The ids that the filter lets through, in order, folded away or not."""
        return self._through if self.filter else self._all

    def fill(self, rows: Iterable[R], now: datetime) -> None:
        """Put all rows in order."""
        self._late, self._pressing, self._sifted = set(), False, {}
        self._keys = {}
        alike: dict[Any, Any] = {}
        for row in rows:
            key = self._key(row, now)
            self._keys[row.id] = alike.setdefault(key, key)
            if self.filter:
                self._sifted[row.id] = row
        self._all = ordered(self._keys, reverse=self.reverse)
        self.sift(now)

    def sift(self, now: datetime) -> bool:
        """Let the filter look at all rows again; whether it lets other ones through than before."""
        if not self.filter:
            self._through, self._passed, self._sifted = [], set(), {}
            return False
        if not self._sifted:
            self._sifted = {row.id: row for row in self._looked_up()}
        before, grammar = self._through, self._listing.grammar
        rows = kept(found(self._sifted, self._all), self.filter, now, grammar)
        self._through = [row.id for row in rows]
        self._passed = set(self._through)
        return self._through != before

    @property
    def _budding(self) -> bool:
        """Whether a word is being typed that is no condition where it lets no row through: all rows decide that."""
        return any(term.budding for term in self.filter.terms)

    @property
    def passing(self) -> bool:
        """Whether the filter may let other rows through as time passes."""
        return any(term.kind is Kind.MEASURE for term in self.filter.terms)

    def filter_by(self, words: str, now: datetime) -> None:
        """Show only rows that match what was typed."""
        self.words = words
        self.filter = parse(words, self._listing.grammar)
        self.sift(now)

    def sort_by(self, column: str | None, now: datetime, *, reverse: bool) -> None:
        """Sort by a column, at once; one that cannot be sorted by stands for the default order."""
        self.column, self.reverse = (column if column in self._sorts else None), reverse
        self._moved_at = -SETTLES
        self.fill(self._looked_up(), now)

    @property
    def next_column(self) -> str | None:
        """The column after the one sorted by; after the last one the default order comes back."""
        keys = [None, *self._sorts]
        return keys[(keys.index(self.column) + 1) % len(keys)]

    def moved(self, moment: float) -> None:
        """Note that the cursor was moved."""
        self._moved_at = moment

    @property
    def held(self) -> bool:
        """Whether rows stand where they stood although their place is another one now."""
        return bool(self._late)

    def take(self, changes: RowChanges[R], now: datetime, moment: float, visible: Collection[str] = ()) -> bool:
        """Take what changed in the rows; whether other rows are shown now, or in another order.

        Rows keep their places for a while, as `settle` says, and new ones stand last while the cursor is moving.
        `visible` are the ids on the screen.
        """
        moves = self._drop(changes.gone)
        new = [row_id for row_id in changes.changed if row_id not in self._keys]
        self._keys.update(dict.fromkeys(new, _NEW))
        self._all = self._all + new if new else self._all
        moves |= bool(new)
        alike: dict[Any, Any] = {}
        for row_id, row in changes.changed.items():
            key = self._key(row, now)
            if self._keys[row_id] != key and not self._keep_place(row_id, alike.setdefault(key, key)):
                self._late.add(row_id)
                self._pressing |= row_id not in visible and self._presses(row, now)
            moves |= self._let_through(row_id, row, now)
        if moves:
            self._settled_at = -CALM
        moves |= self.settle(now, moment)
        return self.sift(now) or moves if self._budding else moves

    def settle(self, now: datetime, moment: float) -> bool:
        """Put rows into their places, `AT_ONCE` of them; whether any moved.

        They wait until the cursor has not been moved for a while. What only changes places waits for the next calm
        moment besides; where rows come or go the list moves anyway.
        """
        calm = SOON if self._pressing else CALM
        if not self._late or moment - self._moved_at < SETTLES or moment - self._settled_at < calm:
            self.settling = False
            return False
        placed = set(islice(self._late, AT_ONCE))
        self._late -= placed
        self.settling = bool(self._late)
        if not self._late:
            self._pressing, self._settled_at = False, moment
        alike: dict[Any, Any] = {}
        for row_id in placed:
            row = self._rows.get(row_id)
            key = None if row is None else self._key(row, now)
            self._keys[row_id] = alike.setdefault(key, key)
        self._all = self._placed(self._all, placed)
        self._through = [row_id for row_id in self._all if row_id in self._passed] if self._passed else []
        return True

    def _keep_place(self, row_id: str, key: Any) -> bool:
        """Give a row another sort key if its place is right with that one too; whether it is."""
        before = self._keys[row_id]
        if row_id in self._late or before is _NEW:
            return False
        at = bisect_left(self._all, self._place(row_id), key=self._place)
        beside = self._all[max(at - 1, 0) : at + 2]
        if any(self._keys[each] is _NEW for each in beside):
            return False
        self._keys[row_id] = key
        if not any(other < one for one, other in pairwise(map(self._place, beside))):
            return True
        self._keys[row_id] = before
        return False

    def _placed(self, order: list[str], moving: Set[str]) -> list[str]:
        """The same ids with these in their places."""
        order = [row_id for row_id in order if row_id not in moving]
        for row_id in moving:
            insort(order, row_id, key=self._place)
        return order

    def _drop(self, gone: Iterable[str]) -> bool:
        lost = self._keys.keys() & set(gone)
        if lost:
            for row_id in lost:
                del self._keys[row_id]
                self._sifted.pop(row_id, None)
            self._late -= lost
            self._passed -= lost
            self._all = [row_id for row_id in self._all if row_id not in lost]
            self._through = [row_id for row_id in self._through if row_id not in lost]
        return bool(lost)

    def _looked_up(self) -> Iterator[R]:
        return found(self._rows, list(self._rows))

    def _let_through(self, row_id: str, row: R, now: datetime) -> bool:
        """Have the filter look at a row that changed; whether it comes or goes."""
        if not self.filter:
            return False
        self._sifted[row_id] = row
        if self._budding:
            return False
        passes = self.filter.matches(row, now, self._listing.grammar)
        if passes is (row_id in self._passed):
            return False
        if passes:
            self._passed.add(row_id)
            self._through = [*self._through, row_id]
            self._late.add(row_id)
        else:
            self._passed.discard(row_id)
            self._through = [each for each in self._through if each != row_id]
        return True

    def _presses(self, row: R, now: datetime) -> bool:
        return self.column is None and self._listing.pressing(row, now)

    def _key(self, row: R, now: datetime) -> Any:
        if self.column is not None:
            return self._sorts[self.column](row)
        return self._listing.attention(row, now)

    def _place(self, row_id: str) -> tuple[int, Any, str]:
        """What `ordered` sorts by, for one row: unknown values last whichever way, new rows behind, equal ones by id.

        All ids stand in the order this gives, but for the new ones: these have none among each other.
        """
        value = self._keys[row_id]
        if value is None or value is _NEW:
            return 1 if value is None else 2, None, row_id
        return 0, _Turned(value) if self.reverse else value, row_id


class _Turned:
    """A sort key that compares the other way round."""

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = value

    def __lt__(self, other: _Turned) -> bool:
        return bool(other._value < self._value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Turned) and bool(self._value == other._value)

    def __hash__(self) -> int:
        return hash(self._value)
