"""The filter as a line of words: what a menu puts in and takes out of it."""

from __future__ import annotations

import re
from collections.abc import Collection

_WORDS = r'(?:[^\s"]|"[^"]*"?)+'


def statuses_in(words: str, token: str) -> tuple[str, ...]:
    """The values of the status token in a filter as it was typed, case folded."""
    found = [word for word in re.findall(_WORDS, words.casefold()) if word.startswith(f"{token}:")]
    values = [value for word in found for value in word.removeprefix(f"{token}:").replace('"', "").split(",")]
    return tuple(value for value in values if value)


def with_statuses(words: str, token: str, statuses: Collection[str]) -> str:
    """A filter with these statuses in place of the ones it asks for; with none it asks for no status."""
    rest = [word for word in re.findall(_WORDS, words) if not word.casefold().startswith(f"{token}:")]
    if statuses:
        value = ",".join(status.casefold().replace('"', "") for status in statuses)
        rest.append(f'{token}:"{value}"' if " " in value else f"{token}:{value}")
    return " ".join(rest)
