"""Which rows of a list are shown, and in which order: the filter and the sorting that a person chose."""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from time import monotonic
from typing import ClassVar, Generic, NamedTuple

from quarterdeck.fleet.filters import Filter, Kind, kept, parse
from quarterdeck.fleet.kept import KeptModel
from quarterdeck.fleet.order import Order, Rank
from quarterdeck.tui.lists.source import R, Source


class View(NamedTuple):
    """How a person wants one list shown: its columns, its order, its filter."""

    columns: tuple[str, ...] | None = None
    """The columns shown, in their order; None for the ones there is room for."""
    sort: str | None = None
    """The column sorted by; None for the default order."""
    reverse: bool = False
    filter: str = ""
    """As it was typed."""

    def among(self, columns: Collection[str]) -> "View":
        """The same without columns that are not there (any more)."""
        chosen = None if self.columns is None else tuple(name for name in self.columns if name in columns)
        return self._replace(columns=chosen or None, sort=self.sort if self.sort in columns else None)


class KeptViews(KeptModel):
    """The views of one server by the list they are of."""

    kind: ClassVar[str] = "views"
    views: dict[str, View] = {}


class Arrangement(Generic[R]):
    """The order of all rows of a source, and which of them the filter lets through."""

    def __init__(self, source: Source[R], clock: Callable[[], datetime]) -> None:
        self.view = View()
        self.filter = Filter()
        self._source = source
        self._clock = clock
        self._order = Order()
        self._sorts = {column.key: column.sort for column in source.columns if column.sort is not None}
        self._passed: set[str] = set()
        """The ids that the filter lets through, while there is one."""

    @property
    def ids(self) -> list[str]:
        """The ids that the filter lets through, in order."""
        if not self.filter:
            return self._order.ids
        return [row_id for row_id in self._order.ids if row_id in self._passed]

    def take(self, changed: Mapping[str, R], gone: Collection[str]) -> bool:
        """Take what changed in the rows; whether others are shown now, or in another order."""
        now = self._clock()
        moved = self._order.take({each: self._rank(row, now) for each, row in changed.items()}, gone, monotonic())
        return self._sift(changed, gone, now) or moved

    def pass_time(self, *, aged: bool) -> bool:
        """Put into their places what waits, as time has passed; whether others are shown, or in another order.

        `aged` says that durations are to be looked at again.
        """
        moved = self._order.settle(monotonic())
        durations = aged and any(term.kind is Kind.DURATION for term in self.filter.terms)
        return (durations and self._look_at_all()) or moved

    def hold(self) -> None:
        """Let rows stay where they are for a while: the cursor moved."""
        self._order.moved(monotonic())

    def put_in_order(self) -> None:
        """Put all rows into their places, at once."""
        now = self._clock()
        ranks = ((row_id, self._rank(row, now)) for row_id, row in self._source.rows.items())
        self._order.fill(ranks, reverse=self.view.reverse)
        self._look_at_all()

    def filter_by(self, words: str) -> None:
        """Let only rows through that match what was typed."""
        self.view = self.view._replace(filter=words)
        self.filter = parse(words, self._source.grammar)
        self._look_at_all()

    def sort_by(self, column: str | None, *, reverse: bool) -> None:
        """Sort by a column, at once; one that cannot be sorted by stands for the default order."""
        self.view = self.view._replace(sort=column if column in self._sorts else None, reverse=reverse)
        self.put_in_order()

    @property
    def next_column(self) -> str | None:
        """The column after the one sorted by; after the last one the default order comes back."""
        keys = [None, *self._sorts]
        return keys[(keys.index(self.view.sort) + 1) % len(keys)]

    def _rank(self, row: R, now: datetime) -> Rank:
        return self._source.rank(row, now) if self.view.sort is None else Rank(self._sorts[self.view.sort](row))

    def _look_at_all(self) -> bool:
        """Have the filter look at every row again; whether it lets other ones through than before."""
        before, source = self._passed, self._source
        rows = kept(source.rows.values(), self.filter, self._clock(), source.grammar) if self.filter else ()
        self._passed = {row.id for row in rows}
        return self._passed != before

    def _sift(self, changed: Mapping[str, R], gone: Collection[str], now: datetime) -> bool:
        """Have the filter look at what changed; whether rows come or go."""
        if not self.filter:
            return False
        before = self._passed
        through = {row_id for row_id, row in changed.items() if self.filter.matches(row, now, self._source.grammar)}
        if through == {each for each in changed if each in before} and before.isdisjoint(gone):
            return False
        self._passed = (before - changed.keys()).difference(gone) | through
        return True
