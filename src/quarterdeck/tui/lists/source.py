"""What is listed: which rows there are, how they look, and in which order they stand by default."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from quarterdeck.fleet.filters import Grammar, Searchable
from quarterdeck.fleet.news import About
from quarterdeck.fleet.order import Rank
from quarterdeck.fleet.session import Session
from quarterdeck.fleet.watch import Watch
from quarterdeck.tui.cells import Cell
from quarterdeck.tui.widgets.table_layout import Column, Keyed


class Row(Keyed, Searchable, Protocol):
    """A row of a list: it has an id, and text that a filter looks into."""


R = TypeVar("R", bound=Row)


class Source(ABC, Generic[R]):
    """The rows of a list; `rows` holds every one, filtered out or not, and is kept up to date by the list."""

    about: ClassVar[About]
    noun: ClassVar[str]
    """What several rows are called."""
    status: ClassVar[str]
    """The token of the filter that looks at the word of a row."""
    grammar: Grammar[R]
    columns: Sequence[Column[R]]

    def __init__(self) -> None:
        self.rows: dict[str, R] = {}

    @abstractmethod
    def watch(self, session: Session) -> Watch[Any]:
        """What reads them."""

    @abstractmethod
    def row(self, session: Session, row_id: str) -> R | None:
        """The row of an id as it is now; None when it is no row."""

    @abstractmethod
    def rank(self, row: R, now: datetime) -> Rank:
        """The place of a row in the default order: what needs a look first."""

    @abstractmethod
    def word(self, row: R, now: datetime) -> str:
        """The word a row is counted by."""

    @abstractmethod
    def detail(self, session: Session, row: R, now: datetime) -> list[Cell]:
        """Everything known about a row."""

    def ids(self, session: Session) -> Iterable[str]:
        """The ids of all rows, in the server's order."""
        return self.watch(session).records

    def passing(self, session: Session, now: datetime) -> Iterable[str]:
        """The ids of rows whose word or rank may change as time passes."""
        return ()

    def arranged(self, ids: list[str], *, filtered: bool, by_attention: bool) -> list[str]:
        """The ids to show out of those that the filter lets through."""
        return ids

    def reveal(self, row_id: str) -> None:
        """Have a row shown that `arranged` may leave out."""
