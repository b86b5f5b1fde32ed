"""The order of the ids in a list, which stays stable while a person moves in it.

A row moves when its rank changes, never because time passes; for a while after the cursor moved, only urgent rows move.
Equal ranks are sorted by id; ids without a value come last in either direction. The cost of a change depends on how
many ids move.
"""

from bisect import insort
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

HOLD = 3.0
"""Seconds after a cursor move during which only urgent rows move."""


class Rank(NamedTuple):
    """The sort rank of a row; a row whose `value` is None comes last."""

    value: Any
    """A row moves when this changes."""
    then: Any = 0
    """Orders rows of the same value, in either direction; a change of this alone does not move a row."""
    urgent: bool = False
    """The row needs a person and moves at once."""


class Order:
    """The ids of a list, sorted by rank; moments are monotonic, in seconds."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        """The ids in order, new ones that are not placed yet last; each change replaces the list and never mutates it.
        """
        self._placed: dict[str, tuple[Any, Any]] = {}
        """The part of its rank that each id was last sorted by."""
        self._waiting: dict[str, Rank] = {}
        """The ids that must still be moved or placed, with their new rank."""
        self._reverse = False
        self._moved_at = -HOLD
        self._rested = True
        """Whether everything is placed since the cursor moved last; the row that it left was kept on its line."""

    def fill(self, ranks: Iterable[tuple[str, Rank]], *, reverse: bool = False) -> None:
        """Sort all ids at once."""
        self._placed, self._waiting, self._reverse = {each: rank[:2] for each, rank in ranks}, {}, reverse
        self.ids = sorted(self._placed, key=self._key)

    def moved(self, moment: float) -> None:
        """Note that the cursor moved."""
        self._moved_at, self._rested = moment, False

    def take(self, ranks: Mapping[str, Rank], gone: Collection[str], moment: float) -> bool:
        """Apply the ranks of new and changed rows; returns whether ids were added, removed or moved."""
        leaving = {each for each in gone if each in self._placed or each in self._waiting}
        for row_id in leaving:
            self._placed.pop(row_id, None)
            self._waiting.pop(row_id, None)
        coming = [each for each in ranks if each not in self._placed and each not in self._waiting]
        for row_id, rank in ranks.items():
            if row_id in self._placed and self._placed[row_id][0] == rank.value:
                self._waiting.pop(row_id, None)
            else:
                self._waiting[row_id] = rank
        if moment - self._moved_at >= HOLD:
            placing = dict(self._waiting)
        else:
            placing = {each: rank for each, rank in ranks.items() if rank.urgent and each in self._waiting}
        if not (placing or leaving or coming):
            return False
        moving = {*leaving, *placing}
        ids = [each for each in self.ids if each not in moving] + [each for each in coming if each not in placing]
        for row_id, rank in placing.items():
            del self._waiting[row_id]
            self._placed[row_id] = rank[:2]
            insort(ids, row_id, key=self._key)
        self.ids = ids
        return True

    def settle(self, moment: float) -> bool:
        """Place all waiting ids, once the cursor has rested long enough; returns whether rows may have moved."""
        if moment - self._moved_at < HOLD:
            return False
        rested, self._rested = self._rested, True
        return self.take({}, (), moment) or not rested

    def _key(self, row_id: str) -> tuple[int, Any, str]:
        """The sort key of an id; ids that are not placed yet come last and have no order among each other."""
        placed = self._placed.get(row_id)
        if placed is None:
            return 2, None, row_id
        value, then = placed
        if value is None:
            return 1, then, row_id
        return 0, (_Turned(value) if self._reverse else value, then), row_id


@dataclass(frozen=True, slots=True)
class _Turned:
    """A sort key for descending order."""

    value: Any

    def __lt__(self, other: "_Turned") -> bool:
        return bool(other.value < self.value)


def held(ids: list[str], before: Sequence[str], cursor: int, top: int, page: int) -> tuple[list[str], int]:
    """Arrange `ids` so that the cursor's row stays on its line of the screen; returns the list and its top line.

    The other rows move around it. If the screen showed the top of the list, it still does; otherwise it stays with most
    of its rows. `before` is the list shown so far, `cursor` and `top` are indexes in it, and `page` is the number of
    rows on the screen.
    """
    seen = list(before[top : top + page])
    line = cursor - top
    under_cursor = seen.pop(line) if 0 <= line < len(seen) else None
    if top:
        places = {row_id: at for at, row_id in enumerate(row_id for row_id in ids if row_id != under_cursor)}
        tops = sorted(places[row_id] - at for at, row_id in enumerate(seen) if row_id in places)
        top = tops[len(tops) // 2] if tops else top
    top = max(0, min(top, len(ids) - page))
    if under_cursor is None or ids[top + line : top + line + 1] == [under_cursor] or under_cursor not in ids:
        return ids, top
    around = [row_id for row_id in ids if row_id != under_cursor]
    around.insert(top + line, under_cursor)
    return around, top
