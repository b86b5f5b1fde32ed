"""Quantities as they are typed: `30m`, `1h30m`, `2d`; `1.5`, `$2`."""

import operator
import re
from collections.abc import Callable, Mapping
from enum import Enum

COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_AMOUNT = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_PART = rf"({_AMOUNT})([smhdw])"
_DURATION = rf"(?:{_AMOUNT}[smhdw])+"
_HALF_DURATION = rf"(?:{_AMOUNT}[smhdw])*(?:{_AMOUNT}|\.)?"
_NUMBER = rf"\$?({_AMOUNT})"
_HALF_NUMBER = r"\$?\.?"


class Unit(Enum):
    """What a quantity is counted in."""

    DURATION = "duration"
    """Seconds; typed with the letters s, m, h, d or w."""
    NUMBER = "number"


def quantity(typed: str, unit: Unit) -> float | None:
    """The quantity typed; None while it is half typed, as a duration without its letter is; ValueError for none."""
    if unit is Unit.NUMBER:
        if (number := re.fullmatch(_NUMBER, typed)) is not None:
            return float(number[1])
        half = _HALF_NUMBER
    else:
        if re.fullmatch(_DURATION, typed):
            return sum(float(amount) * _SECONDS[letter] for amount, letter in re.findall(_PART, typed))
        half = _HALF_DURATION
    if re.fullmatch(half, typed):
        return None
    raise ValueError(typed)


def example(unit: Unit) -> str:
    """How to write one."""
    return "30m, 2h or 1d" if unit is Unit.DURATION else "2 or 1.5"
