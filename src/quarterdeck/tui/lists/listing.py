"""What a list holds: its rows by id, which of them a person lets through, and in which order they stand."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence, Set
from datetime import datetime
from time import monotonic
from typing import Any, Generic, NamedTuple, TypeVar

from quarterdeck.fleet.bulk import NamedRow
from quarterdeck.fleet.filters import Filter, Grammar, Kind, parse
from quarterdeck.fleet.news import About
from quarterdeck.fleet.order import Order, Rank
from quarterdeck.fleet.sandboxes import SandboxRow
from quarterdeck.fleet.session import Session
from quarterdeck.fleet.watch import Watch
from quarterdeck.tui.cells import Cell
from quarterdeck.tui.copying import Copyable
from quarterdeck.tui.lists.folding import Folding
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.table_layout import Column

R = TypeVar("R", bound=NamedRow)


class Contents(NamedTuple, Generic[R]):
    """What a list is of: where its rows come from, and what is said and may be done with one."""

    about: About
    """The news that is about these rows; the value is what several of them are called."""
    none_yet: Shown
    """What the reader of an empty list can do."""
    status: str
    """The token of the filter that looks at the word of a row."""
    grammar: Grammar[R]
    columns: Sequence[Column[R]]
    watch: Callable[[Session], Watch[Any]]
    """What reads them."""
    ids: Callable[[Session], Iterable[str]]
    """The ids of all rows, in the server's order."""
    row: Callable[[Session, str], R | None]
    """The row of an id as it is now; None when it is no row."""
    rank: Callable[[R, datetime], Rank]
    """The place of a row in the default order: what needs a look first."""
    word: Callable[[R, datetime], str]
    """The word a row is counted by."""
    passing: Callable[[R], bool]
    """Whether the word or the rank of a row may change as time passes."""
    detail: Callable[[Session, R, datetime], list[Cell]]
    """Everything known about a row."""
    title: Callable[[R], Shown]
    """What a row is called."""
    copies: Callable[[R], Sequence[Copyable]]
    """What can be copied of a row."""
    sandbox: Callable[[Session, R], SandboxRow | None]
    """The sandbox that is paused when a row is."""
    conversation: Callable[[R], str | None]
    """The conversation that is watched when a row is."""
    why_not: Callable[[Session, str, R, datetime], str | None]
    """Why a command of that name can't be done with a row."""
    parent: Callable[[R], str | None] = lambda row: None
    """The id of the row that it is folded under."""


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


class Listing(Generic[R]):
    """The rows of a list, kept up to date at the cost of what changed."""

    def __init__(self, contents: Contents[R], clock: Callable[[], datetime]) -> None:
        self.rows: dict[str, R] = {}
        """Every one, let through or not."""
        self.folding = Folding(self.rows)
        self.passing: set[str] = set()
        """Those whose word or rank may change as time passes."""
        self.view = View()
        self.filter = Filter()
        self.contents = contents
        self._clock = clock
        self._words: dict[str, str] = {}
        """The word that each row is counted by."""
        self._order = Order()
        self._sorts = {column.key: column.sort for column in contents.columns if column.sort is not None}
        self._passed: set[str] = set()
        """The ids that the filter lets through, while there is one."""

    @property
    def ids(self) -> list[str]:
        """The ids that the filter lets through, in order."""
        if not self.filter:
            return self._order.ids
        return [row_id for row_id in self._order.ids if row_id in self._passed]

    @property
    def shown(self) -> list[str]:
        """The same with families together, as far as they are open."""
        return self.folding.arranged(self.ids, filtered=bool(self.filter), by_attention=self.view.sort is None)

    @property
    def counts(self) -> Counter[str]:
        """How many rows are called by which word."""
        return Counter(self._words.values())

    # What is read, and the passing of time

    def update(self, session: Session, ids: Iterable[str]) -> tuple[Set[str], Set[str], bool]:
        """Make these rows anew.

        Gives the ids of those that show something else and of those that went, and whether other rows are shown now,
        or in another order.
        """
        now, contents = self._clock(), self.contents
        ranks: dict[str, Rank] = {}
        gone: set[str] = set()
        for row_id in ids:
            row = contents.row(session, row_id)
            if row is None:
                if self.rows.pop(row_id, None) is not None:
                    del self._words[row_id]
                    self.passing.discard(row_id)
                    gone.add(row_id)
                continue
            word = contents.word(row, now)
            if row == self.rows.get(row_id) and word == self._words[row_id]:
                continue
            self.rows[row_id], self._words[row_id] = row, word
            ranks[row_id] = self._rank(row, now)
            (self.passing.add if contents.passing(row) else self.passing.discard)(row_id)
            if (parent := contents.parent(row)) is not None:
                self.folding.parents[row_id] = parent
        for successor in ranks.keys() & set(map(session.became, gone)):  # where the cursor goes from a start
            ranks[successor] = ranks[successor]._replace(urgent=True)
        moved = self._order.take(ranks, gone, monotonic())
        return ranks.keys(), gone, self._sift(ranks, gone) or moved

    def pass_time(self, *, aged: bool) -> bool:
        """Put into their places what waits, as time has passed; whether others are shown, or in another order.

        `aged` says that durations are to be looked at again.
        """
        moved = self._order.settle(monotonic())
        durations = aged and any(term.kind is Kind.DURATION for term in self.filter.terms)
        return (durations and self._sift(self.rows)) or moved

    def clear(self) -> None:
        """Forget all rows: they are of another server."""
        self.rows.clear()
        self._words.clear()
        self.passing.clear()
        self.put_in_order()

    # How a person arranges them

    def hold(self) -> None:
        """Let rows stay where they are for a while: the cursor moved."""
        self._order.moved(monotonic())

    def put_in_order(self) -> None:
        """Put all rows into their places, at once."""
        now = self._clock()
        ranks = ((row_id, self._rank(row, now)) for row_id, row in self.rows.items())
        self._order.fill(ranks, reverse=self.view.reverse)
        self._passed = self._let_through(self.rows)

    def filter_by(self, words: str) -> None:
        """Let only rows through that match what was typed."""
        self.view = self.view._replace(filter=words)
        self.filter = parse(words, self.contents.grammar)
        self._passed = self._let_through(self.rows)

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
        return self.contents.rank(row, now) if self.view.sort is None else Rank(self._sorts[self.view.sort](row))

    def _sift(self, changed: Collection[str], gone: Collection[str] = ()) -> bool:
        """Have the filter look at what changed; whether it lets other rows through than before."""
        before = self._passed
        self._passed = before.difference(changed, gone) | self._let_through(changed)
        return self._passed != before

    def _let_through(self, ids: Iterable[str]) -> set[str]:
        if not self.filter:
            return set()
        now, grammar = self._clock(), self.contents.grammar
        return {row_id for row_id in ids if self.filter.matches(self.rows[row_id], now, grammar)}
