"""What may be shown of texts that can carry a secret: addresses with user info or a query, and command arguments."""

import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlsplit, urlunsplit

MASK = "••••"

_TELLING = re.compile(r"(token|key|secret|password|passwd|pwd|auth|bearer|credential)s?$", re.IGNORECASE)
_ASSIGNED = re.compile(r"(?P<name>[^=\s]*(token|key|secret|password|passwd|pwd|auth|credential)s?)=.+", re.IGNORECASE)
_HEADER = re.compile(r"(?P<name>[A-Za-z-]+):\s*\S.*", re.DOTALL)


def address(value: str) -> str:
    """An address without its user info, and with the values of its query hidden; other text as it is."""
    if "://" not in value:
        return value
    try:
        parts = urlsplit(value)
    except ValueError:
        return value
    host = f"{MASK}@{parts.netloc.rpartition('@')[2]}" if "@" in parts.netloc else parts.netloc
    query = "&".join(_named(pair) for pair in parts.query.split("&")) if parts.query else ""
    fragment = MASK if parts.fragment else ""
    return urlunsplit((parts.scheme, host, parts.path, query, fragment))


def arguments(values: Iterable[str]) -> Iterator[str]:
    """Arguments with hidden values: after --token and the like, in KEY=value, in headers and in addresses."""
    telling = False
    for value in values:
        if telling and not value.startswith("-"):
            yield MASK
        elif match := _ASSIGNED.fullmatch(value):
            yield f"{match['name']}={MASK}"
        elif match := _HEADER.fullmatch(value) if "://" not in value else None:
            yield f"{match['name']}: {MASK}"
        else:
            yield address(value)
        telling = bool(_TELLING.search(value)) or value in ("-H", "--header")


def document(value: Any, name: str) -> Any:
    """A list or object as it may be shown: values under a telling name hidden, and arguments as arguments are."""
    if isinstance(value, dict):
        return {key: document(held, f"{name}.{key}" if _is_carrier(name) else str(key)) for key, held in value.items()}
    if isinstance(value, list | tuple):
        texts = all(isinstance(item, str) for item in value)
        return list(arguments(value)) if texts else [document(item, name) for item in value]
    hidden = is_telling(name) or any(_is_carrier(part) for part in name.split("."))
    if value is None or isinstance(value, bool | int | float):
        return value
    return MASK if hidden and value else address(str(value))


def holds_mask(text: str) -> bool:
    """Whether a part of a text stands for something hidden."""
    return MASK in text


def is_telling(name: str) -> bool:
    """Whether the name of a value says that it is secret."""
    return bool(_TELLING.search(name))


def _is_carrier(name: str) -> bool:
    """Whether all texts in an object of that name may be secrets."""
    return name.rpartition(".")[2] in ("env", "headers", "extra_headers", "environment")


def _named(pair: str) -> str:
    name, equals, _ = pair.partition("=")
    return f"{name}={MASK}" if equals else MASK
