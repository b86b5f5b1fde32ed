"""From what was typed to a value: text that cannot be read is kept as it is, so that nothing typed is lost."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_WHOLE = re.compile(r"[+-]?\d{1,18}")
_NUMBER = re.compile(r"[+-]?(\d{1,15}([.,]\d*)?|[.,]\d+)")


@dataclass(frozen=True)
class Unreadable:
    """What was typed where a number was wanted."""

    text: str


Reader = Callable[[str], Any]
"""Typed text -> value; None when the text is empty, `Unreadable` when it means nothing."""


def as_text(typed: str) -> str | None:
    """Read a line of text without the blanks around it."""
    return typed.strip() or None


def as_whole(typed: str) -> int | Unreadable | None:
    """Read a whole number of at most 18 digits."""
    text = typed.strip().replace("_", "")
    if not text:
        return None
    return int(text) if _WHOLE.fullmatch(text) else Unreadable(typed.strip())


def as_number(typed: str) -> float | Unreadable | None:
    """Read a plain number; a comma counts as the decimal point."""
    text = typed.strip().lstrip("$").strip()
    if not text:
        return None
    if not _NUMBER.fullmatch(text):
        return Unreadable(typed.strip())
    return float(text.replace(",", "."))


def typed(value: object) -> str:
    """Write a value as it would be typed; the opposite of the readers."""
    if value is None:
        return ""
    if isinstance(value, Unreadable):
        return value.text
    if isinstance(value, float):
        return f"{value:.15g}" if math.isfinite(value) else str(value)
    return str(value)
