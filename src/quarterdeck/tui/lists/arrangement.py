"""Which rows of a list are shown, and in which order: the filter and the sorting that a person chose."""

from collections.abc import Collection, Mapping
from datetime import datetime
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

    def __init__(self, source: Source[R]) -> None:
        self.view = View()
        self.filter = Filter()
        self.order = Order()
        self._source = source
        self._sorts = {column.key: column.sort for column in source.columns if column.sort is not None}
        self._passed: set[str] = set()
        """The ids that the filter lets through, while there is one."""

    @property
    def ids(self) -> list[str]:
        """The ids that the filter lets through, in order."""
        if not self.filter:
            return self.order.ids
        return [row_id for row_id in self.order.ids if row_id in self._passed]

    def take(self, changed: Mapping[str, R], gone: Collection[str], now: datetime, moment: float) -> bool:
        """Take what changed in the rows; whether others are shown now, or in another order."""
        moved = self.order.take({row_id: self._rank_of(row, now) for row_id, row in changed.items()}, gone, moment)
        return self._sift(changed, gone, now) or moved

    def put_in_order(self, now: datetime) -> None:
        """Put all rows into their places, at once."""
        self.order.fill(
            ((row_id, self._rank_of(row, now)) for row_id, row in self._source.rows.items()), reverse=self.view.reverse
        )

    # The filter

    def filter_by(self, words: str, now: datetime) -> None:
        """Let only rows through that match what was typed."""
        self.view = self.view._replace(filter=words)
        self.filter = parse(words, self._source.grammar)
        self.look_at_all(now)

    def look_at_all(self, now: datetime) -> bool:
        """Have the filter look at every row again; whether it lets other ones through than before."""
        before = self._passed
        rows = kept(self._source.rows.values(), self.filter, now, self._source.grammar) if self.filter else ()
        self._passed = {row.id for row in rows}
        return self._passed != before

    @property
    def passes_with_time(self) -> bool:
        """Whether the filter may let other rows through as time passes."""
        return any(term.kind is Kind.DURATION for term in self.filter.terms)

    def _sift(self, changed: Mapping[str, R], gone: Collection[str], now: datetime) -> bool:
        """Have the filter look at what changed; whether rows come or go."""
        if not self.filter:
            return False
        before = len(self._passed)
        self._passed.difference_update(gone)
        through = {row_id for row_id, row in changed.items() if self.filter.matches(row, now, self._source.grammar)}
        other = len(self._passed) != before or through != self._passed & changed.keys()
        self._passed = self._passed - (changed.keys() - through) | through if other else self._passed
        return other

    # The order

    def sort_by(self, column: str | None, now: datetime, *, reverse: bool) -> None:
        """Sort by a column, at once; one that cannot be sorted by stands for the default order."""
        self.view = self.view._replace(sort=column if column in self._sorts else None, reverse=reverse)
        self.put_in_order(now)

    @property
    def next_column(self) -> str | None:
        """The column after the one sorted by; after the last one the default order comes back."""
        keys = [None, *self._sorts]
        return keys[(keys.index(self.view.sort) + 1) % len(keys)]

    def _rank_of(self, row: R, now: datetime) -> Rank:
        return self._source.rank(row, now) if self.view.sort is None else Rank(self._sorts[self.view.sort](row))
