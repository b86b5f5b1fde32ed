"""Masks secrets in texts that may contain them: addresses with user info or a query, and command arguments."""

import re
from collections.abc import Iterable
from typing import Any

from quarterdeck.client.redact import Location, is_secret_name, replace_secrets

MASK = "••••"

_USER = re.compile(r"://[^/?#]*@")


def address(value: str) -> str:
    """Return an address without its user info and with masked query values; other text unchanged."""
    if "://" not in value:
        return value
    rest, hash_sign, fragment = value.partition("#")
    rest, mark, query = rest.partition("?")
    hidden = "&".join(map(_named, query.split("&"))) if query else ""
    return "".join((_USER.sub(f"://{MASK}@", rest), mark, hidden, hash_sign, MASK if fragment else ""))


def arguments(values: Iterable[str]) -> list[str]:
    """Return arguments with masked values: after --token and the like, in KEY=value, in headers and in addresses."""
    shown: list[str] = document(list(values), "")
    return shown


def document(value: Any, name: str) -> Any:
    """Return a value as it may be shown: masked below a secret name, and in parts of addresses and arguments."""
    return replace_secrets(value, _masked, (name,), is_secret_name(name))


def _masked(_at: Location, text: str, begins: int | None) -> str:
    if begins is None:
        return MASK
    return text[:begins] + MASK if begins else address(text)


def _named(pair: str) -> str:
    name, equals, _ = pair.partition("=")
    return f"{name}={MASK}" if equals else MASK
