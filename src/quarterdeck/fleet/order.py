"""Ids in an order that does not jump: equal keys stand by id, unknown values last whichever way."""

from collections.abc import Mapping
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
