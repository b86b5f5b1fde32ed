"""The rows of one list by id, made when they are asked for: of most rows of a long list only a word is kept."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Generic, NamedTuple

from quarterdeck.tui.lists.listing import Listing, R

if TYPE_CHECKING:
    from quarterdeck.fleet.session import Session

REMEMBERED = 256
"""Rows that are kept once they were made: more than a screen shows."""
LONG_AGO = datetime.min.replace(tzinfo=UTC)


class RowChanges(NamedTuple, Generic[R]):
    """What became of some rows."""

    changed: Mapping[str, R]
    """Rows that are new or may show something else, by id."""
    gone: frozenset[str]

    def __bool__(self) -> bool:
        return bool(self.changed or self.gone)


class LiveRows(Mapping[str, R]):
    """What a listing lists, filtered out or not, and how many rows are called by which word.

    Which rows there are and what they are counted by is as it was when they were last filled or updated; a row that is
    looked up is as its session knows it, and none (KeyError) when it went away and no update told of that yet.
    """

    def __init__(self, listing: Listing[R]) -> None:
        self._listing = listing
        self._session: Session | None = None
        self._now = LONG_AGO
        self._words: dict[str, str] = {}
        self._made: dict[str, R] = {}
        self.counts: Counter[str] = Counter()
        self.unseen: set[str] = set()
        """The rows of which there is news that nobody looked at."""

    def __len__(self) -> int:
        return len(self._words)

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __contains__(self, row_id: object) -> bool:
        return row_id in self._words

    def __getitem__(self, row_id: str) -> R:
        row = self._made.get(row_id)
        if row is None:
            row = self._make(row_id) if row_id in self._words else None
            if row is None:
                raise KeyError(row_id)
            if len(self._made) >= REMEMBERED:
                self._made.clear()
            self._made[row_id] = row
        return row

    def fill(self, session: "Session | None", now: datetime) -> Iterator[R]:
        """Make all rows anew, one after the other; they are known once the last one was taken."""
        self._session, self._now = session, now
        self._words, self.counts, self.unseen = {}, Counter(), set()
        before, self._made = self._made, {}
        for row_id in self._listing.ids(session) if session is not None else ():
            row = self._make(row_id, before.get(row_id))
            if row is not None:
                self._count(row_id, row)
                if row_id in before:
                    self._made[row_id] = row
                yield row

    def update(self, session: "Session", ids: Iterable[str], now: datetime) -> RowChanges[R]:
        """Make these rows anew; one whose word moved on with time counts as changed too."""
        self._session, self._now = session, now
        changed: dict[str, R] = {}
        gone: set[str] = set()
        for row_id in ids:
            before = self._made.pop(row_id, None)
            row = self._make(row_id, before)
            if row is None:
                if row_id in self._words:
                    self._forget(row_id)
                    gone.add(row_id)
                continue
            if before is not None:
                self._made[row_id] = row
            if self._count(row_id, row) or row is not before:
                changed[row_id] = row
        return RowChanges(changed, frozenset(gone))

    def _make(self, row_id: str, before: R | None = None) -> R | None:
        return None if self._session is None else self._listing.row(self._session, row_id, self._now, before)

    def _count(self, row_id: str, row: R) -> bool:
        """Count a row by its word; whether that is another word than before."""
        before, word = self._words.get(row_id), self._listing.word(row, self._now)
        if self._listing.unseen(row):
            self.unseen.add(row_id)
        else:
            self.unseen.discard(row_id)
        if word == before:
            return False
        if before is not None:
            self.counts[before] -= 1
        self.counts[word] += 1
        self._words[row_id] = word
        return True

    def _forget(self, row_id: str) -> None:
        self.counts[self._words.pop(row_id)] -= 1
        self.unseen.discard(row_id)


def found(rows: Mapping[str, R], ids: Iterable[str]) -> Iterator[R]:
    """The rows of these ids, without those that went away and of which no update told yet."""
    return (row for row_id in ids if (row := rows.get(row_id)) is not None)
