"""Which rows of a list are shown, and in which order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Generic

from quarterdeck.fleet.filters import Filter, kept, parse
from quarterdeck.fleet.sort import ordered
from quarterdeck.tui.lists.listing import Listing, R

SETTLES = 3.0
"""Seconds after a move of the cursor in which rows keep their places."""


class Arrangement(Generic[R]):
    """The filter and the order that a person chose for one list; moments are monotonic, in seconds."""

    def __init__(self, listing: Listing[R]) -> None:
        self._listing = listing
        self._columns = {column.key: column.sort for column in listing.columns if column.sort is not None}
        self.filter = Filter()
        self.column: str | None = None
        """The column sorted by; None for the default order."""
        self.reverse = False
        self._moved_at = -SETTLES

    def filter_by(self, words: str) -> None:
        """Show only rows that match what was typed."""
        self.filter = parse(words, self._listing.fields)

    def sort_by(self, column: str | None, *, reverse: bool) -> None:
        """Sort by a column, at once."""
        self.column, self.reverse = column, reverse
        self._moved_at = -SETTLES

    @property
    def next_column(self) -> str | None:
        """The column after the one sorted by; after the last one the default order comes back."""
        keys = [None, *self._columns]
        return keys[(keys.index(self.column) + 1) % len(keys)]

    def moved(self, moment: float) -> None:
        """Note that the cursor was moved."""
        self._moved_at = moment

    def key(self, row: R, now: datetime) -> Any:
        """The sort key of a row."""
        if self.column is not None:
            return self._columns[self.column](row)
        return self._listing.attention(row, now)

    def arrange(self, rows: Iterable[R], shown: Sequence[R], now: datetime, moment: float) -> Sequence[R]:
        """The rows to show, in order; while the cursor is moving those that are shown keep their places."""
        through = kept(rows, self.filter, lambda row: row.haystack, self._listing.fields)
        in_order = ordered(through, lambda row: self.key(row, now), reverse=self.reverse)
        if moment - self._moved_at >= SETTLES:
            return in_order
        held = {row.id: at for at, row in enumerate(shown)}
        return sorted(in_order, key=lambda row: held.get(row.id, len(held)))
