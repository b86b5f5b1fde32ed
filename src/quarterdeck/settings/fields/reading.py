"""From what was typed to a value: text that cannot be read is kept as it is, so that nothing typed is lost."""

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_WHOLE = re.compile(r"[+-]?\d{1,18}")
_NUMBER = re.compile(r"[+-]?(\d{1,15}([.,]\d*)?|[.,]\d+)([eE][+-]?\d{1,2})?")


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


def as_json(kind: type[list[Any]] | type[dict[str, Any]]) -> Reader:
    """Make a reader of JSON that has to be a list, or an object; nested too deep for reading it means nothing."""

    def read(typed: str) -> Any:
        if not typed.strip():
            return None
        try:
            value = json.loads(typed)
        except (ValueError, RecursionError):
            return Unreadable(typed.strip())
        return value if isinstance(value, kind) else Unreadable(typed.strip())

    return read


def typed(value: object) -> str:
    """Write a value as it would be typed; the opposite of the readers."""
    if value is None:
        return ""
    if isinstance(value, Unreadable):
        return value.text
    if isinstance(value, list | tuple | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    if isinstance(value, float):
        return f"{value:.15g}" if math.isfinite(value) else str(value)
    return str(value)
