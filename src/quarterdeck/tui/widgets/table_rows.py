"""The rows of a table with a cursor and marks that hold on to ids, not to line numbers."""

from collections.abc import Collection, Mapping, Sequence
from typing import Generic

from quarterdeck.tui.widgets.table_layout import R

Anchor = tuple[str, int]
"""A row that keeps its place on the screen while the list changes: its id and its line below the top one."""


class TableRows(Generic[R]):
    """Rows in display order.

    The cursor follows its id; where that is gone it stays on the same line. Marks are ids and outlive their rows, so
    that a filter does not lose them.
    """

    def __init__(self) -> None:
        self._rows: list[R] = []
        self._numbers: dict[str, int] | None = None
        self._held: str | None = None
        self.cursor = 0
        self.marks: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, number: int) -> R:
        return self._rows[number]

    @property
    def all(self) -> Sequence[R]:
        """Every row."""
        return self._rows

    @property
    def cursor_row(self) -> R | None:
        """The row under the cursor."""
        return self._rows[self.cursor] if self._rows else None

    def ids(self, start: int, stop: int) -> tuple[str, ...]:
        """Ids of a range of rows."""
        return tuple(row.id for row in self._rows[start:stop])

    def number(self, row_id: str, *, near: int = 0) -> int | None:
        """The line of an id, looked for at `near` first."""
        if near < len(self._rows) and self._rows[near].id == row_id:
            return near
        if self._numbers is None:
            self._numbers = {row.id: number for number, row in enumerate(self._rows)}
        return self._numbers.get(row_id)

    def replace(self, rows: Sequence[R]) -> None:
        """Take a whole new list."""
        self._rows = list(rows)
        self._numbers = None
        if not self._rows:
            self.cursor = 0
            return
        found = None if self._held is None else self.number(self._held, near=self.cursor)
        self.move(self.cursor if found is None else found)

    def patch(self, rows: Mapping[str, R]) -> None:
        """Take new versions of some rows; ids that are not in the table are passed over."""
        for row_id, row in rows.items():
            number = self.number(row_id)
            if number is not None:
                self._rows[number] = row

    def move(self, number: int) -> None:
        """Put the cursor on a line, or on the nearest there is."""
        if self._rows:
            self.cursor = max(0, min(number, len(self._rows) - 1))
            self._held = self._rows[self.cursor].id

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
        return (self._rows[top + line].id, line) if top + line < len(self._rows) else None

    def holding(self, anchor: Anchor | None, top: int, page: int) -> int:
        """The top row with which the anchor is where it was.

        A screen at the top of the list stays there for as long as that shows the cursor, so that new rows are seen.
        """
        if anchor is not None and self._rows:
            row_id, line = anchor
            if top > 0:
                number = self.number(row_id, near=top + line)
                top = top if number is None else number - line
            elif row_id == self._held:
                top = self.revealing(top, page)
        return max(0, min(top, len(self._rows) - page))
