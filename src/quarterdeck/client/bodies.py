"""Bodies as bytes: unpacking within a size, and reading JSON that nobody vouches for."""

import json
import zlib
from typing import Any

from pydantic import SecretStr

from quarterdeck.client.errors import ErrorKind, ServiceError

_CLOSING = {b"{": b"}", b"[": b"]"}


class Unpacker:
    """Undoes a body's compression piece by piece and never makes more of it than `most` bytes and one.

    Raises zlib.error for a body that is not what its header says, and ValueError for a compression nobody asked for.
    """

    def __init__(self, encoding: str, most: int) -> None:
        self.body = bytearray()
        self._most = most
        self._zlib = None if encoding in ("", "identity") else zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
        if encoding not in ("", "identity", "gzip", "deflate"):
            raise ValueError(encoding)

    def feed(self, piece: bytes) -> bool:
        """Add a piece; False as soon as the body is larger than it may be."""
        room = self._most + 1 - len(self.body)
        self.body += piece[:room] if self._zlib is None else self._zlib.decompress(piece, room)
        return len(self.body) <= self._most


def read_json(body: bytes, request: str = "", status: int | None = None) -> Any:
    """Read JSON, whatever its depth, encoding and numbers.

    Raises ServiceError: BROKEN for one that stops in the middle, WRONG_API for anything else that is not JSON.
    """
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        text = body.strip()
        if text[:1] in _CLOSING and text[-1:] != _CLOSING[text[:1]]:
            raise ServiceError(
                ErrorKind.BROKEN, "The answer stops in the middle.", "Read again.", request=request, status=status
            ) from None
        raise wrong_api("The server answered something that is not JSON.", request, status) from None


def encoded(body: Any) -> bytes:
    """Write a body as JSON; only here does a secret become text."""
    return json.dumps(body, default=_revealed, allow_nan=False).encode()


def _revealed(value: object) -> str:
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    raise TypeError(f"{type(value).__name__} cannot be sent")


def nested_deeper(value: Any, levels: int) -> bool:
    """Whether JSON is nested deeper than so many levels."""
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels == 0 or any(nested_deeper(member, levels - 1) for member in members)


def wrong_api(words: str, request: str = "", status: int | None = None) -> ServiceError:
    """Make the error for an answer that the service would not give."""
    advice = "Check the address: this may be another service, or a part of its path is missing."
    return ServiceError(ErrorKind.WRONG_API, words, advice, request=request, status=status)
