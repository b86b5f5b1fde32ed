"""Secrets inside what is sent and what comes back: finding them, hiding them, and knowing a mask from a value."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from pydantic import SecretStr

Location = tuple[str | int, ...]
SHORTEST = 4
"""Letters below which a secret is not looked for in other text: it would blot out half of it."""

# Texts, not patterns: these are compiled when a secret is first looked for, which opening a deck need not wait for.
_MASK = r"(?i)[*•●∙·]+|<hidden>|<redacted>"
_TELLING_NAME = r"(?i)secret|token|passw|auth|header|cookie|credential|key$|^env$"
_TELLING_FLAG = r"(?i)-{0,2}[\w-]*(token|key|secret|passw)[\w-]*(=.+)?"


def is_mask(text: str) -> bool:
    """Whether a text stands for a hidden value: servers would store it as the value itself (contract T8)."""
    return re.fullmatch(_MASK, text.strip()) is not None


def scrub(text: str, secrets: Iterable[str]) -> str:
    """Take known secrets out of a text; the longest first, since one may hold another."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= SHORTEST:
            text = text.replace(secret, "…")
    return text


def secrets_in(body: Any) -> tuple[str, ...]:
    """Every secret text in a body."""
    found: list[str] = []

    def note(_: Location, secret: str) -> str:
        found.append(secret)
        return secret

    replace_secrets(body, note)
    return tuple(found)


def replace_secrets(
    value: Any, replace: Callable[[Location, str], object], at: Location = (), hidden: bool = False
) -> Any:
    """Copy a body with each secret text replaced by what `replace` makes of its place and text.

    Secret is a `SecretStr`, every text below a member named like one, an address with a user name or query, and an
    argument that follows a word like "--token".
    """
    if isinstance(value, SecretStr):
        return replace(at, value.get_secret_value())
    if isinstance(value, Mapping):
        return {
            name: replace_secrets(member, replace, (*at, name), hidden or re.search(_TELLING_NAME, name) is not None)
            for name, member in value.items()
        }
    if isinstance(value, list | tuple):
        after = (None, *value)
        return [
            replace_secrets(item, replace, (*at, place), hidden or _asks_for_secret(before) or _assigns_secret(item))
            for place, (item, before) in enumerate(zip(value, after, strict=False))
        ]
    if isinstance(value, str) and value and (hidden or _address_with_secret(value)):
        return replace(at, value)
    return value


def _asks_for_secret(item: object) -> bool:
    return isinstance(item, str) and "=" not in item and re.fullmatch(_TELLING_FLAG, item) is not None


def _assigns_secret(item: object) -> bool:
    return isinstance(item, str) and "=" in item and re.fullmatch(_TELLING_FLAG, item) is not None


def _address_with_secret(text: str) -> bool:
    if "://" not in text:
        return False
    try:
        parts = urlsplit(text)
    except ValueError:
        return True
    return "@" in parts.netloc or bool(parts.query)
