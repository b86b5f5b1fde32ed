"""The contents of a list: its rows by id, which of them match the filter, and their order."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence, Set
from datetime import datetime
from time import monotonic
from typing import Any, Generic, NamedTuple, TypeVar

from quarterdeck.client.models.conversation import Conversation
from quarterdeck.client.models.server import Server
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
from quarterdeck.tui.widgets.table_layout import Column

R = TypeVar("R", bound=NamedRow)


class ListDefinition(NamedTuple, Generic[R]):
    """The definition of a list: where its rows come from, how they are shown, and which commands they allow."""

    about: About
    """The news about these rows; the value is also their plural noun."""
    none_yet: Callable[[Server | None], str]
    """Returns advice for the person at an empty list."""
    status: str
    """The filter token for a row's status word."""
    statuses: Collection[str]
    """The status words that are known."""
    grammar: Grammar[R]
    columns: Sequence[Column[R]]
    watch: Callable[[Session], Watch[Any]]
    """The watch that reads the rows."""
    ids: Callable[[Session], Iterable[str]]
    """Returns the ids of all rows, in the server's order."""
    row: Callable[[Session, str], R | None]
    """Returns the current row of an id; None if it is not a row."""
    word: Callable[[R, datetime], str]
    """Returns the word by which a row is counted."""
    changes_at: Callable[[Session, R, datetime], datetime | None]
    """Returns when a row's word or rank may change although nothing was read; None if it does not."""
    detail: Callable[[Session, R, datetime], list[Cell]]
    """Returns everything known about a row."""
    title: Callable[[R], str]
    """Returns the name of a row."""
    copies: Callable[[R], Sequence[Copyable]]
    """Returns what can be copied of a row."""
    sandbox: Callable[[Session, R], SandboxRow | None]
    """Returns the sandbox that the row's commands pause or resume."""
    conversation: Callable[[R], Conversation | None]
    """Returns the conversation that is watched with the row."""
    why_not: Callable[[Session, str, R, datetime], str | None]
    """Returns why a command cannot be applied to a row."""
    parent: Callable[[R], str | None] = lambda row: None
    """Returns the id of the row it is folded under."""


class View(NamedTuple):
    """How a person wants a list shown: columns, order and filter."""

    columns: tuple[str, ...] | None = None
    """The columns in their order; None for as many as fit."""
    sort: str | None = None
    """The column to sort by; None for the default order."""
    reverse: bool = False
    filter: str = ""
    """The filter as typed."""

    def among(self, columns: Collection[str]) -> "View":
        """Return the same view without columns that do not exist (any more)."""
        chosen = None if self.columns is None else tuple(name for name in self.columns if name in columns)
        return self._replace(columns=chosen or None, sort=self.sort if self.sort in columns else None)

    def over(self, theirs: "View", before: "View") -> "View":
        """Return another deck's view with what this one changed since `before`: columns, order or filter."""
        columns = theirs.columns if self.columns == before.columns else self.columns
        order = theirs if (self.sort, self.reverse) == (before.sort, before.reverse) else self
        typed = theirs.filter if self.filter == before.filter else self.filter
        return View(columns, order.sort, order.reverse, typed)


class Listing(Generic[R]):
    """The rows of a list, updated at a cost that depends on the number of changed rows."""

    def __init__(self, definition: ListDefinition[R], clock: Callable[[], datetime]) -> None:
        self.rows: dict[str, R] = {}
        """All rows, whether they match the filter or not."""
        self.folding = Folding(self.rows)
        self._changes_at: dict[str, datetime] = {}
        """When the word or rank of a row may change although nothing is read."""
        self.view = View()
        self.filter: Filter[R] = Filter()
        self.definition = definition
        self._clock = clock
        self._words: dict[str, str] = {}
        """The word by which each row is counted."""
        self._order = Order()
        self._sorts = {column.key: column.sort for column in definition.columns if column.sort is not None}
        self._passed: set[str] = set()
        """The ids that match the filter, if there is one."""

    @property
    def ids(self) -> list[str]:
        """The ids that match the filter, in order."""
        if not self.filter:
            return self._order.ids
        return [row_id for row_id in self._order.ids if row_id in self._passed]

    @property
    def shown(self) -> list[str]:
        """The same with families grouped, and folded members left out."""
        return self.folding.arranged(self.ids, filtered=bool(self.filter), by_attention=self.view.sort is None)

    @property
    def counts(self) -> Counter[str]:
        """How many rows have each word."""
        return Counter(self._words.values())

    @property
    def statuses_shown(self) -> tuple[set[str], list[str]]:
        """The words of rows that the filter's statuses let through, and what it names that no row has."""
        now = self._clock()
        asked = [term for term in self.filter.terms if term.name == self.definition.status]
        rows = self.rows.values()
        shown = {self._words[row.id] for row in rows if all(term.holds(row, now) for term in asked)}
        words = (term._replace(texts=(text,)) for term in asked if not term.inverted for text in term.texts)
        return shown, [term.texts[0] for term in words if not any(term.holds(row, now) for row in rows)]

    # Readings, and the passing of time

    def update(self, session: Session, ids: Iterable[str]) -> tuple[Set[str], Set[str], bool]:
        """Rebuild these rows.

        Returns the ids of changed rows, the ids of removed rows, and whether the visible ids or their order changed.
        """
        now, definition = self._clock(), self.definition
        ranks: dict[str, Rank] = {}
        gone: set[str] = set()
        for row_id in ids:
            row = definition.row(session, row_id)
            if row is None:
                if self.rows.pop(row_id, None) is not None:
                    del self._words[row_id]
                    self._changes_at.pop(row_id, None)
                    gone.add(row_id)
                continue
            was_due = self._changes_at.pop(row_id, now) < now
            if (at := definition.changes_at(session, row, now)) is not None:
                self._changes_at[row_id] = at
            if row == self.rows.get(row_id) and not was_due:
                continue
            self.rows[row_id], self._words[row_id] = row, definition.word(row, now)
            ranks[row_id] = self._rank(row, now)
            if (parent := definition.parent(row)) is not None:
                self.folding.parents[row_id] = parent
        for successor in self.rows.keys() & set(map(session.current_id, gone)):
            ranks[successor] = self._rank(self.rows[successor], now)._replace(urgent=True)
        moved = self._order.take(ranks, gone, monotonic())
        return ranks.keys(), gone, self._sift(ranks, gone) or moved

    def place(self, row_id: str) -> None:
        """Place a row at once, even if the cursor has just moved."""
        rank = self._rank(self.rows[row_id], self._clock())
        self._order.take({row_id: rank._replace(urgent=True)}, (), monotonic())

    def due(self) -> list[str]:
        """Return the ids of rows whose word or rank may have changed by now."""
        now = self._clock()
        return [row_id for row_id, at in self._changes_at.items() if at < now]

    def pass_time(self, *, aged: bool) -> bool:
        """Place waiting rows as time has passed; returns whether the visible ids or their order changed.

        `aged` means that conditions on durations are evaluated again.
        """
        moved = self._order.settle(monotonic())
        durations = aged and any(term.kind is Kind.DURATION for term in self.filter.terms)
        return (durations and self._sift(self.rows)) or moved

    def clear(self) -> None:
        """Forget all rows, because they belong to another server."""
        self.rows.clear()
        self._words.clear()
        self._changes_at.clear()
        self.put_in_order()

    # Arranging by a person

    def hold(self) -> None:
        """Keep rows where they are for a while, because the cursor moved."""
        self._order.moved(monotonic())

    def put_in_order(self) -> None:
        """Sort all rows at once."""
        now = self._clock()
        ranks = ((row_id, self._rank(row, now)) for row_id, row in self.rows.items())
        self._order.fill(ranks, reverse=self.view.reverse)
        self._passed = self._let_through(self.rows)

    def filter_by(self, words: str) -> None:
        """Show only rows that match the typed filter."""
        self.view = self.view._replace(filter=words)
        self.filter = parse(words, self.definition.grammar, is_text=self._is_text)
        self._passed = self._let_through(self.rows)

    def _is_text(self, word: str) -> bool:
        now = self._clock()
        return any(word in row.haystack(now).casefold() for row in self.rows.values())

    def sort_by(self, column: str | None, *, reverse: bool) -> None:
        """Sort by a column at once; one that is hidden or cannot be sorted by means the default order."""
        self.view = self.view._replace(sort=column if column in self._sortable else None, reverse=reverse)
        self.put_in_order()

    @property
    def _sortable(self) -> list[str]:
        chosen = self.view.columns
        return [key for key in self._sorts if chosen is None or key in chosen]

    @property
    def next_column(self) -> str | None:
        """The column after the one sorted by; after the last one comes the default order."""
        keys = [None, *self._sortable]
        return keys[(keys.index(self.view.sort) + 1) % len(keys)]

    def _rank(self, row: R, now: datetime) -> Rank:
        usual = row.rank(now)
        if self.view.sort is not None:
            return Rank(self._sorts[self.view.sort](row), usual.then)
        return usual._replace(then=-usual.then) if self.view.reverse else usual

    def _sift(self, changed: Collection[str], gone: Collection[str] = ()) -> bool:
        """Apply the filter to changed rows; returns whether other rows match than before."""
        before = self._passed
        self._passed = before.difference(changed, gone) | self._let_through(changed)
        if self.filter.problems or (before and not self._passed):  # which words are text of a row may have changed
            self.filter_by(self.view.filter)
        return self._passed != before

    def _let_through(self, ids: Iterable[str]) -> set[str]:
        if not self.filter:
            return set()
        now = self._clock()
        return {row_id for row_id in ids if self.filter.matches(self.rows[row_id], now)}
