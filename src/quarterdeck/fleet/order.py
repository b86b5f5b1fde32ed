"""Ids in an order that does not jump: equal keys stand by id, unknown values last whichever way.

A change costs what it moves, whatever the length of the list.
"""

from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import Any, Protocol


class Comparable(Protocol):
    """Anything that can be put in order among its own kind."""

    def __lt__(self, other: Any, /) -> bool: ...


def ordered(keys: Mapping[str, Comparable | None], *, reverse: bool = False) -> list[str]:
    """Sort ids by their keys; `reverse` turns the keys round, not the ids nor the place of ids whose key is None."""
    ids = sorted(keys)
    known = [(key, row_id) for row_id in ids if (key := keys[row_id]) is not None]
    known.sort(key=itemgetter(0), reverse=reverse)
    return [row_id for _, row_id in known] + [row_id for row_id in ids if keys[row_id] is None]


_NEW = object()
"""The sort key of an id that was not put into its place yet."""


class Places:
    """Every id of a list, each with the key it was put into its place by; equal keys are kept once."""

    def __init__(self) -> None:
        self.order: Sequence[str] = []
        """The ids in order; what was given out does not change any more."""
        self._keys: dict[str, Any] = {}
        self._reverse = False

    def __contains__(self, row_id: str) -> bool:
        return row_id in self._keys

    def fill(self, keys: Iterable[tuple[str, Any]], *, reverse: bool) -> None:
        """Put all ids in order, each with its key."""
        self._keys, self._reverse = _kept_once(keys), reverse
        self.order = ordered(self._keys, reverse=reverse)

    def append(self, new: Sequence[str]) -> None:
        """Take ids that have no place yet: they stand last."""
        self._keys.update(dict.fromkeys(new, _NEW))
        self.order = [*self.order, *new]

    def drop(self, gone: Collection[str]) -> None:
        """Forget ids."""
        for row_id in gone:
            del self._keys[row_id]
        self.order = [row_id for row_id in self.order if row_id not in gone]

    def put(self, keys: Mapping[str, Any]) -> None:
        """Put ids into their places by other keys."""
        self._keys.update(_kept_once(keys.items()))
        order = [row_id for row_id in self.order if row_id not in keys]
        for row_id in keys:
            insort(order, row_id, key=self._place)
        self.order = order

    def stays(self, row_id: str, key: Any) -> bool:
        """Give an id another key if its place is right with that one too; whether it is."""
        before = self._keys[row_id]
        if before is _NEW:
            return False
        if before == key:
            return True
        at = bisect_left(self.order, self._place(row_id), key=self._place)
        beside = self.order[max(at - 1, 0) : at + 2]
        if any(self._keys[each] is _NEW for each in beside):
            return False
        self._keys[row_id] = key
        if not any(other < one for one, other in pairwise(map(self._place, beside))):
            return True
        self._keys[row_id] = before
        return False

    def _place(self, row_id: str) -> tuple[int, Any, str]:
        """What `ordered` sorts by, for one id: unknown values last whichever way, new ones behind, equal ones by id.

        All ids stand in the order this gives, but for the new ones: these have none among each other.
        """
        value = self._keys[row_id]
        if value is None or value is _NEW:
            return 1 if value is None else 2, None, row_id
        return 0, _Turned(value) if self._reverse else value, row_id


def _kept_once(keys: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """The same keys, of equal ones the first: there are thousands."""
    known: dict[Any, Any] = {}
    return {row_id: known.setdefault(key, key) for row_id, key in keys}


class _Turned:
    """A sort key that compares the other way round."""

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = value

    def __lt__(self, other: "_Turned") -> bool:
        return bool(other._value < self._value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Turned) and bool(self._value == other._value)

    def __hash__(self) -> int:
        return hash(self._value)
