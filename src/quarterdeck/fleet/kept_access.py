"""Where the key and the addresses of a sandbox are found from reading to reading: in what told them last."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quarterdeck.client.models.sandbox import Access

_URLS: Callable[[Access], object] = attrgetter("urls")
_KEY: Callable[[Access], object] = attrgetter("key")


def kept_urls(held: Access, read: Access) -> Access:
    """What is `held`, or what was `read` when that tells other addresses."""
    return _kept(_URLS, held, read)


def kept_key(held: Access, read: Access) -> Access:
    """What is `held`, or what was `read` when that tells another key."""
    return _kept(_KEY, held, read)


def another_key(held: Access, read: Access) -> bool:
    """Whether both tell a key, and not the same one."""
    keys = (held.key, read.key)
    return None not in keys and keys[0] != keys[1]


def _kept(part: Callable[[Access], object], held: Access, read: Access) -> Access:
    if read == held:
        return read  # the record's own, so that there is one object for both
    told = part(read)
    return read if told and told != part(held) else held
