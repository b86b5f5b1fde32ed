"""The rows of one list by id, made anew only where there is news."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Generic, NamedTuple

from quarterdeck.tui.lists.listing import Listing, R

if TYPE_CHECKING:
    from quarterdeck.tui.live.session import Session


class RowChanges(NamedTuple, Generic[R]):
    """What became of some rows."""

    changed: Mapping[str, R]
    """Rows that are new or show something else, by id."""
    gone: frozenset[str]

    def __bool__(self) -> bool:
        return bool(self.changed or self.gone)


class LiveRows(Generic[R]):
    """What a listing lists, filtered out or not, and how many rows are called by which word."""

    def __init__(self, listing: Listing[R]) -> None:
        self._listing = listing
        self._by_id: dict[str, R] = {}
        self._words: dict[str, str] = {}
        self.counts: Counter[str] = Counter()

    @property
    def by_id(self) -> Mapping[str, R]:
        """Every row; the same mapping for as long as this lives."""
        return self._by_id

    def fill(self, session: Session | None, now: datetime) -> None:
        """Make all rows anew."""
        before, listing = dict(self._by_id), self._listing
        self._by_id.clear()
        for row_id in listing.ids(session) if session is not None else ():
            row = listing.row(session, row_id, now, before.get(row_id)) if session is not None else None
            if row is not None:
                self._by_id[row_id] = row
        self._words = {row_id: listing.word(row, now) for row_id, row in self._by_id.items()}
        self.counts = Counter(self._words.values())

    def update(self, session: Session, ids: Iterable[str], now: datetime) -> RowChanges[R]:
        """Make these rows anew; one whose word moved on with time counts as changed too."""
        changed: dict[str, R] = {}
        gone: set[str] = set()
        for row_id in ids:
            before = self._by_id.get(row_id)
            row = self._listing.row(session, row_id, now, before)
            if row is None:
                if before is not None:
                    del self._by_id[row_id]
                    gone.add(row_id)
                    self._count(row_id, None)
            elif self._count(row_id, self._listing.word(row, now)) or row is not before:
                self._by_id[row_id] = changed[row_id] = row
        return RowChanges(changed, frozenset(gone))

    def _count(self, row_id: str, word: str | None) -> bool:
        """Count a row by its word, None for one that is gone; whether that is another word than before."""
        before = self._words.pop(row_id, None)
        if word is not None:
            self._words[row_id] = word
        if word == before:
            return False
        for each, step in ((before, -1), (word, 1)):
            if each is not None:
                self.counts[each] += step
        return True
