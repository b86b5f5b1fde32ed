"""Reading records out of what JSON holds, member by member, and writing one for a person.

Lists hold ten thousands of records, and the first of them is what a person waits for: they are named tuples that
functions read, for a pydantic model takes thrice the room and its import longer than the first answer. A dataclass is
no better: defining one takes a millisecond, and there are some thirty before the first row.
Each of these takes a value as it came and raises a ValueError for one of another kind.
"""

import sys
from collections.abc import Callable, Container
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar, runtime_checkable

from pydantic import SecretStr

V = TypeVar("V")
Read = Callable[[object], V]


@runtime_checkable
class Record(Protocol):
    """A named tuple, or what tells its members as one does."""

    def _asdict(self) -> dict[str, Any]: ...


_FLAGS: dict[object, bool] = {False: False, True: True, "false": False, "true": True}


class ShapeError(ValueError):
    """A value is of another kind than it has to be."""


def members(value: object) -> dict[str, Any]:
    """An object's members."""
    if not isinstance(value, dict):
        raise ShapeError("not an object")
    return value


def text(value: object) -> str:
    """A text."""
    if not isinstance(value, str):
        raise ShapeError("not a text")
    return value


def word(value: object) -> str:
    """A text that many records share, kept once."""
    return sys.intern(text(value))


def secret(value: object) -> SecretStr:
    """A text that is not shown."""
    return SecretStr(text(value))


def whole(value: object) -> int:
    """A whole number, also one written as a text or with an empty fraction."""
    if not isinstance(value, int | float | str) or (isinstance(value, float) and not value.is_integer()):
        raise ShapeError("not a whole number")
    return int(value)


def number(value: object) -> float:
    """A number, also one written as a text."""
    if not isinstance(value, int | float | str):
        raise ShapeError("not a number")
    try:
        return float(value)
    except OverflowError:
        raise ShapeError("too large a number") from None


def flag(value: object) -> bool:
    """True or false, also as a word or as 1 or 0."""
    if not isinstance(value, int | str) or value not in _FLAGS:
        raise ShapeError("neither true nor false")
    return _FLAGS[value]


def moment(value: object) -> datetime | None:
    """Read a server's time as UTC: a zone-less one means UTC (contract T21), an unreadable one is None."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    if value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    try:
        return value.astimezone(UTC)
    except OverflowError:
        return None


def optional(read: Read[V], value: object) -> V | None:
    """What may be null or missing."""
    return None if value is None else read(value)


def every(read: Read[V], value: object) -> tuple[V, ...]:
    """A list that has to be there."""
    if not isinstance(value, list):
        raise ShapeError("not a list")
    return tuple([read(item) for item in value])


def several(read: Read[V], value: object) -> tuple[V, ...]:
    """A list; null or missing means that there is nothing in it."""
    return () if value is None else every(read, value)


def as_json(record: Record, *, without: Container[str] = ()) -> dict[str, Any]:
    """Write a record as JSON can hold it, without these members; of a secret only stars are left."""
    return {name: _plain(value) for name, value in record._asdict().items() if name not in without}


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return as_json(value)
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return str(value) if isinstance(value, SecretStr) else value
