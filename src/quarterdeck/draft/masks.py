"""What may be shown of texts that can carry a secret: addresses with user info or a query, and command arguments."""

import re
from collections.abc import Iterable, Iterator
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


def holds_mask(text: str) -> bool:
    """Whether a part of a text stands for something hidden."""
    return MASK in text


def is_telling(name: str) -> bool:
    """Whether the name of a value says that it is secret."""
    return bool(_TELLING.search(name))


def _named(pair: str) -> str:
    name, equals, _ = pair.partition("=")
    return f"{name}={MASK}" if equals else MASK
