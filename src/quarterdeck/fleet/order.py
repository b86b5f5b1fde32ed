"""Ids in an order that holds still for whoever moves in it.

A row moves when its rank changed, never because time passes; for a while after the cursor moved only what is urgent
does. Equal ranks stand by id, those without a value last in either direction. A change costs what it moves.
"""

from bisect import insort
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

HOLD = 3.0
"""Seconds after a move of the cursor in which only what is urgent moves."""


class Rank(NamedTuple):
    """Where a row belongs; one whose `value` is None stands last."""

    value: Any
    """A row moves when this is another one."""
    then: Any = 0
    """Where it is put among rows of the same value; it does not move when only this changed."""
    urgent: bool = False
    """It needs a person, so that it moves at once."""


class Order:
    """The ids of a list, each where its rank put it; moments are monotonic, in seconds."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        """In order, new ones that wait for their place last; a list that was given out does not change any more."""
        self._placed: dict[str, tuple[Any, Any]] = {}
        """What each id was put into its place by: the value of its rank, and what follows it."""
        self._waiting: dict[str, Rank] = {}
        """Ids that belong elsewhere by now, and those that have no place yet."""
        self._reverse = False
        self._moved_at = -HOLD

    def fill(self, ranks: Iterable[tuple[str, Rank]], *, reverse: bool = False) -> None:
        """Put all ids in order, at once."""
        self._placed, self._waiting, self._reverse = {each: rank[:2] for each, rank in ranks}, {}, reverse
        self.ids = sorted(self._placed, key=self._key)

    def moved(self, moment: float) -> None:
        """Note that the cursor was moved."""
        self._moved_at = moment

    def take(self, ranks: Mapping[str, Rank], gone: Collection[str], moment: float) -> bool:
        """Take the ranks of rows that are new or have changed; whether ids come, go or move."""
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
        self._arrange(placing, leaving, coming)
        return bool(placing or leaving or coming)

    def settle(self, moment: float) -> bool:
        """Put into their places all ids that wait, once the cursor has rested; whether there were any."""
        return moment - self._moved_at >= HOLD and self.take({}, (), moment)

    def _arrange(self, placing: Mapping[str, Rank], leaving: Collection[str], coming: Sequence[str]) -> None:
        """Take ids out of the list, put others into their places, and new ones without a place last."""
        moving = {*leaving, *placing}.difference(coming)
        ids = [each for each in self.ids if each not in moving] if moving else list(self.ids)
        ids += [each for each in coming if each not in placing]
        for row_id, rank in placing.items():
            del self._waiting[row_id]
            self._placed[row_id] = rank[:2]
            insort(ids, row_id, key=self._key)
        self.ids = ids

    def _key(self, row_id: str) -> tuple[int, Any, str]:
        """What ids are sorted by; those without a place have no order among each other yet."""
        placed = self._placed.get(row_id)
        if placed is None:
            return 2, None, row_id
        if placed[0] is None:
            return 1, None, row_id
        return 0, _Turned(placed) if self._reverse else placed, row_id


@dataclass(frozen=True, slots=True)
class _Turned:
    """A sort key that compares the other way round."""

    value: Any

    def __lt__(self, other: "_Turned") -> bool:
        return bool(other.value < self.value)


def held(ids: list[str], before: Sequence[str], cursor: int, top: int, page: int) -> tuple[list[str], int]:
    """Show `ids` in place of the list `before` so that the row of the cursor stays on its line of the screen.

    The rest moves around it; gives the list as it is shown, and the row at the top of the screen. A screen that stands
    at the top of the list stays there, any other stays with most of its rows. `cursor` and `top` are lines of the list
    before, `page` is how many rows the screen has.
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
