"""Values packed into one, for what ten thousands of records hold and few of them are asked for."""

import marshal
from typing import Any

_FORM = 2
"""The form of `marshal` in which equal values are equal bytes; later ones tell shared strings from others."""


def packed(*values: Any) -> bytes:
    """Pack texts, numbers, None and tuples of them; equal ones come out equal."""
    return marshal.dumps(values, _FORM)


def unpacked(values: bytes) -> tuple[Any, ...]:
    """What was packed, made anew."""
    made: tuple[Any, ...] = marshal.loads(values)  # noqa: S302 - packed here
    return made
