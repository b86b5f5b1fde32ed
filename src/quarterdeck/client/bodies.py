"""Bodies as bytes: writing JSON, and reading some that nobody vouches for."""

import json
from typing import Any

from pydantic import SecretStr

from quarterdeck.client.errors import ErrorKind, ServiceError

_CLOSING = {b"{": b"}", b"[": b"]"}


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
