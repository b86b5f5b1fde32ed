"""The rows of a table with a cursor and marks that hold on to ids, not to line numbers."""

from collections.abc import Collection, Mapping, Sequence
from typing import Generic

from quarterdeck.tui.widgets.table_layout import R

Anchor = tuple[str, int]
"""A row that keeps its place on the screen while the list changes: its id and its line below the top one."""


class TableRows(Generic[R]):
    """Rows in display order: their ids, and a mapping that has each row when it is asked for.

    The cursor follows its id; where that is gone it stays on the same line. Marks are ids and outlive their rows, so
    that a filter does not lose them.
    """

    def __init__(self) -> None:
        self._ids: Sequence[str] = ()
        self._by_id: Mapping[str, R] = {}
        self._own: dict[str, R] = {}
        """The rows where whole ones were given, for `patch`."""
        self._held: str | None = None
        self.cursor = 0
        self.marks: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self._ids)

    def __getitem__(self, number: int) -> R | None:
        return self._by_id.get(self._ids[number])

    def get(self, row_id: str) -> R | None:
        """The row of an id, None where there is none."""
        return self._by_id.get(row_id)

    @property
    def all(self) -> Sequence[R]:
        """Every row."""
        return [self._by_id[row_id] for row_id in self._ids]

    @property
    def cursor_id(self) -> str | None:
        """The id under the cursor."""
        return self._ids[self.cursor] if self._ids else None

    @property
    def cursor_row(self) -> R | None:
        """The row under the cursor; None also for one that is gone, until its list says so."""
        return self[self.cursor] if self._ids else None

    def id_at(self, number: int) -> str:
        """The id of a line."""
        return self._ids[number]

    def ids(self, start: int, stop: int) -> tuple[str, ...]:
        """Ids of a range of rows."""
        return tuple(self._ids[start:stop])

    def number(self, row_id: str, *, near: int = 0) -> int | None:
        """The line of an id, looked for at `near` first."""
        if near < len(self._ids) and self._ids[near] == row_id:
            return near
        try:
            return self._ids.index(row_id)
        except ValueError:
            return None

    def replace(self, rows: Sequence[R]) -> None:
        """Take a whole new list."""
        own = {row.id: row for row in rows}
        self.look_up(list(own), own)
        self._own = own

    def look_up(self, ids: Sequence[str], by_id: Mapping[str, R]) -> None:
        """Take a whole new list of ids, which must not change any more, and where their rows are found."""
        self._ids, self._by_id, self._own = ids, by_id, {}
        if not ids:
            self.cursor = 0
            return
        found = None if self._held is None else self.number(self._held, near=self.cursor)
        self.move(self.cursor if found is None else found)

    def patch(self, rows: Mapping[str, R]) -> None:
        """Take new versions of some rows; ids that are not in the table are passed over."""
        self._own.update({row_id: row for row_id, row in rows.items() if row_id in self._own})

    def move(self, number: int) -> None:
        """Put the cursor on a line, or on the nearest there is."""
        if self._ids:
            self.cursor = max(0, min(number, len(self._ids) - 1))
            self._held = self._ids[self.cursor]

    def toggle_mark(self, row_id: str) -> None:
        """Mark an id, or unmark it."""
        self.marks ^= {row_id}

    def set_marks(self, ids: Collection[str]) -> None:
        """Mark exactly these ids."""
        self.marks = frozenset(ids)

    def revealing(self, top: int, page: int) -> int:
        """The top row, as near to `top` as can be, with which the cursor is on a screen of `page` rows."""
        return min(max(top, self.cursor - page + 1), self.cursor)

    def anchor(self, top: int, page: int) -> Anchor | None:
        """What to hold on to on a screen: the row of the cursor, or the top one where the cursor is off the screen."""
        line = self.cursor - top if 0 <= self.cursor - top < page else 0
        return (self._ids[top + line], line) if top + line < len(self._ids) else None

    def holding(self, anchor: Anchor | None, top: int, page: int) -> int:
        """The top row with which the anchor is where it was.

        A screen at the top of the list stays there for as long as that shows the cursor, so that new rows are seen.
        """
        if anchor is not None and self._ids:
            row_id, line = anchor
            if top > 0:
                number = self.number(row_id, near=top + line)
                top = top if number is None else number - line
            elif row_id == self._held:
                top = self.revealing(top, page)
        return max(0, min(top, len(self._ids) - page))
