"""Which rows of a list are shown, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, Generic

from quarterdeck.fleet.filters import Filter, Kind, kept, parse
from quarterdeck.fleet.order import Places
from quarterdeck.tui.lists.listing import Listing, R
from quarterdeck.tui.lists.live_rows import RowChanges, found

SETTLES = 3.0
"""Seconds after a move of the cursor in which rows keep their places."""
CALM = 120.0
"""Seconds between two moments at which rows change places by themselves: a list that hops cannot be read."""
SOON = 60.0
"""The same where a row that needs a look is not on the screen."""
AT_ONCE = 300
"""Rows that are put into their places in one go: some ten milliseconds, for no key may wait for all of a long list."""


class Arrangement(Generic[R]):
    """The filter and the order that a person chose for one list of `rows`; moments are monotonic, in seconds.

    All ids are kept in order, and so are those the filter lets through. Of a row that nobody looks at only its place
    is kept; while there is a filter, which looks at all of them, all are.
    """

    def __init__(self, listing: Listing[R], rows: Mapping[str, R]) -> None:
        self._listing = listing
        self._rows = rows
        self._sorts = {column.key: column.sort for column in listing.columns if column.sort is not None}
        self._places = Places()
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
        return self._through if self.filter else self._places.order

    def fill(self, rows: Iterable[R], now: datetime) -> None:
        """Put all rows in order."""
        self._late, self._pressing, self._sifted = set(), False, {}
        self._places.fill(((row.id, self._key(row, now)) for row in self._noted(rows)), reverse=self.reverse)
        self.sift(now)

    def sift(self, now: datetime) -> bool:
        """Let the filter look at all rows again; whether it lets other ones through than before."""
        if not self.filter:
            self._through, self._passed, self._sifted = [], set(), {}
            return False
        if not self._sifted:
            self._sifted = {row.id: row for row in self._looked_up()}
        before, grammar = self._through, self._listing.grammar
        rows = kept(found(self._sifted, self._places.order), self.filter, now, grammar)
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

    def let_go(self) -> None:
        """Have rows put into their places at the next occasion, whenever that was done last."""
        self._moved_at, self._settled_at = -SETTLES, -CALM

    @property
    def held(self) -> bool:
        """Whether rows stand where they stood although their place is another one now."""
        return bool(self._late)

    def take(
        self,
        changes: RowChanges[R],
        now: datetime,
        moment: float,
        *,
        visible: Collection[str] = (),
        cursor: str | None = None,
    ) -> bool:
        """Take what changed in the rows; whether other rows are shown now, or in another order.

        Rows keep their places for a while, as `settle` says, and new ones stand last while the cursor is moving.
        `visible` are the ids on the screen, `cursor` is the one under the cursor.
        """
        moves = self._drop(changes.gone)
        if new := [row_id for row_id in changes.changed if row_id not in self._places]:
            self._places.append(new)
            moves = True
        for row_id, row in changes.changed.items():
            if row_id not in self._late and not self._places.stays(row_id, self._key(row, now)):
                self._late.add(row_id)
            if row_id in self._late and row_id not in visible:
                self._pressing |= self._presses(row, now)
            moves |= self._let_through(row_id, row, now)
        if moves:
            self._settled_at = -CALM
        moves |= self.settle(now, moment, cursor=cursor)
        return self.sift(now) or moves if self._budding else moves

    def settle(self, now: datetime, moment: float, *, cursor: str | None = None) -> bool:
        """Put rows into their places, `AT_ONCE` of them; whether any moved.

        They wait until the cursor has not been moved for a while. What only changes places waits for the next calm
        moment besides; where rows come or go the list moves anyway. The row under the cursor keeps its place for as
        long as it is there: it would take the screen along, away from all that was on it.
        """
        calm = SOON if self._pressing else CALM
        is_time = moment - self._moved_at >= SETTLES and moment - self._settled_at >= calm
        late = self._late - {cursor} if is_time else set()
        if not late:
            self.settling = False
            return False
        placed = set(islice(late, AT_ONCE))
        self._late -= placed
        self.settling = len(placed) < len(late)
        if not self.settling:
            self._pressing, self._settled_at = False, moment
        rows = {row_id: self._rows.get(row_id) for row_id in placed}
        self._places.put({row_id: None if row is None else self._key(row, now) for row_id, row in rows.items()})
        self._through = [row_id for row_id in self._places.order if row_id in self._passed] if self._passed else []
        return True

    def _drop(self, gone: Iterable[str]) -> bool:
        lost = {row_id for row_id in gone if row_id in self._places}
        if lost:
            self._places.drop(lost)
            for row_id in lost:
                self._sifted.pop(row_id, None)
            self._late -= lost
            self._passed -= lost
            self._through = [row_id for row_id in self._through if row_id not in lost]
        return bool(lost)

    def _noted(self, rows: Iterable[R]) -> Iterator[R]:
        """The same rows, remembered where there is a filter to look at them."""
        for row in rows:
            if self.filter:
                self._sifted[row.id] = row
            yield row

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
