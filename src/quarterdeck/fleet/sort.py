"""Rows in an order that does not jump: equal keys stand by id, unknown values last whichever way."""

from collections.abc import Callable, Iterable
from operator import attrgetter, itemgetter
from typing import Any, Protocol, TypeVar

from quarterdeck.fleet.records import Identified


class Comparable(Protocol):
    """Anything that can be put in order among its own kind."""

    def __lt__(self, other: Any, /) -> bool: ...


R = TypeVar("R", bound=Identified)
_id = attrgetter("id")
_first = itemgetter(0)


def ordered(rows: Iterable[R], key: Callable[[R], Comparable | None], *, reverse: bool = False) -> list[R]:
    """Sort rows by a key; `reverse` turns the key round, not the ids nor the place of rows whose key is None."""
    known: list[tuple[Comparable, R]] = []
    unknown: list[R] = []
    for row in sorted(rows, key=_id):
        value = key(row)
        if value is None:
            unknown.append(row)
        else:
            known.append((value, row))
    known.sort(key=_first, reverse=reverse)
    return [row for _, row in known] + unknown
