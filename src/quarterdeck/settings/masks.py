"""What may be shown of texts that can carry a secret: addresses with user info or a query, and command arguments."""

import re
from collections.abc import Iterable
from typing import Any

from quarterdeck.client.redact import is_secret_name, replace_secrets

MASK = "••••"

_USER = re.compile(r"://[^/?#]*@")


def address(value: str) -> str:
    """An address without its user info, and with the values of its query hidden; other text as it is."""
    if "://" not in value:
        return value
    rest, hash_sign, fragment = value.partition("#")
    rest, mark, query = rest.partition("?")
    hidden = "&".join(map(_named, query.split("&"))) if query else ""
    return "".join((_USER.sub(f"://{MASK}@", rest), mark, hidden, hash_sign, MASK if fragment else ""))


def arguments(values: Iterable[str]) -> list[str]:
    """Arguments with hidden values: after --token and the like, in KEY=value, in headers and in addresses."""
    shown: list[str] = document(list(values), "")
    return shown


def document(value: Any, name: str) -> Any:
    """A value as it may be shown: what is below a telling name hidden, of addresses and arguments the secret parts."""
    return replace_secrets(value, lambda *_: MASK, (name,), is_secret_name(name), partly=_in_part)


def _in_part(text: str, begins: int) -> str:
    return text[:begins] + MASK if begins else address(text)


def _named(pair: str) -> str:
    name, equals, _ = pair.partition("=")
    return f"{name}={MASK}" if equals else MASK
