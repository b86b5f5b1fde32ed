"""What may be shown of texts that can carry a secret: addresses with user info or a query, and command arguments."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from quarterdeck.client.redact import SECRET_WORD, is_secret_name

MASK = "••••"

_ASSIGNED = re.compile(rf"{SECRET_WORD}[\"']?\s*[=:]\s*(?=\S)", re.IGNORECASE)
_HEADER = re.compile(r"[A-Za-z-]+:\s+(?=\S)")
_FLAG = re.compile(r"-[A-Za-z0-9]|--.*", re.DOTALL)
_USER = re.compile(r"://[^/?#]*@")


def address(value: str) -> str:
    """An address without its user info, and with the values of its query hidden; other text as it is."""
    if "://" not in value:
        return value
    rest, hash_sign, fragment = value.partition("#")
    rest, mark, query = rest.partition("?")
    hidden = "&".join(map(_named, query.split("&"))) if query else ""
    return "".join((_USER.sub(f"://{MASK}@", rest), mark, hidden, hash_sign, MASK if fragment else ""))


def arguments(values: Iterable[str]) -> Iterator[str]:
    """Arguments with hidden values: after --token and the like, in KEY=value, in headers and in addresses."""
    asked_for = False
    for value in values:
        yield _argument(value, asked_for=asked_for)
        asked_for = value == "-H" or is_secret_name(value)


def document(value: Any, name: str, *, hidden: bool = False) -> Any:
    """A list or object as it may be shown: what is below a telling name hidden, and arguments as arguments are."""
    hidden = hidden or is_secret_name(name)
    if isinstance(value, dict):
        return {key: document(held, str(key), hidden=hidden and key != "strategy") for key, held in value.items()}
    if isinstance(value, list | tuple):
        if not hidden and all(isinstance(item, str) for item in value):
            return list(arguments(value))
        return [document(item, name, hidden=hidden) for item in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    return MASK if hidden and value else address(str(value))


def holds_mask(text: str) -> bool:
    """Whether a part of a text stands for something hidden."""
    return MASK in text


def _argument(value: str, *, asked_for: bool) -> str:
    if asked_for and value and not _FLAG.fullmatch(value):
        return MASK
    given = (_ASSIGNED.search(value) or _HEADER.match(value)) if "=" in value or ":" in value else None
    return value[: given.end()] + MASK if given else address(value)


def _named(pair: str) -> str:
    name, equals, _ = pair.partition("=")
    return f"{name}={MASK}" if equals else MASK
