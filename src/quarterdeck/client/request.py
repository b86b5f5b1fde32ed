"""Requests and answers as plain data: quoted and written exactly, read with care, and when one is sent once more."""

import json
import math
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any, NamedTuple
from urllib.parse import quote

from httpx import Headers
from pydantic import SecretStr

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError

Query = tuple[tuple[str, str], ...]
LONGEST_QUERY = 60_000


class KeyHeader(StrEnum):
    """How the key is sent; servers take either."""

    SESSION = "X-Session-API-Key"
    BEARER = "Authorization"


Settle = Callable[[], Awaitable[Outcome]]
"""Reads back whether a write whose answer got lost was done: APPLIED, NOT_APPLIED, or UNKNOWN when it cannot tell."""


class Request(NamedTuple):
    """A request; `path` is quoted already, `body` is None or what JSON can hold, with secrets still as `SecretStr`."""

    method: str
    path: str
    query: Query = ()
    body: Any = None
    settle: Settle | None = None
    """Of a write that can be read back: it is repeated once, after a reading that shows it not done."""
    once: bool = False
    """Of a read: it is not repeated."""
    item: bool = False
    """Whether the path names one record, so that "not found" means the record and not the interface."""
    largest: int | None = None
    """Bytes of the answer where more than usual are expected."""
    seconds: float | None = None
    """Time for the whole of it where the usual does not fit."""
    background: bool = False
    """Asked by the watch, not by a person: it waits behind those who are, and the watch asks again by itself."""
    lacking: str = ""
    """What to say where the server has no such path: the error is NOT_OFFERED then."""

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


class Response(NamedTuple):
    """An answer that arrived whole; `body` is decoded and within the size limit."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = Headers()

    @property
    def is_html(self) -> bool:
        """Whether this is a web page and not data."""
        return "html" in self.headers.get("Content-Type", "").lower() or self.body[:64].lstrip()[:1] == b"<"


class LoggedRequest(NamedTuple):
    """One request for the request log, without key, query and body.

    `status` is None without an answer, `error` is None without a fault; neither: it was abandoned.
    """

    method: str
    path: str
    status: int | None
    error: ErrorKind | None
    ms: float
    when: datetime
    """When it was sent, UTC."""
    attempt: int = 1
    """Which try of the same request it was, counted from 1."""


def segment(value: str) -> str:
    """Quote one id as one segment of a path.

    Raises ServiceError(INVALID) for an empty id and for "." and "..": on their way they would turn into another path.
    """
    if value in ("", ".", ".."):
        raise _refused("An empty id or one of dots only cannot be asked for.")
    return _short_enough(_quoted(value))


def query_text(query: Iterable[tuple[str, str]]) -> str:
    """Write a query with its leading "?", or nothing when there is nothing to ask; raises ServiceError(INVALID)."""
    text = _short_enough("&".join(f"{_quoted(name)}={_quoted(value)}" for name, value in query))
    return f"?{text}" if text else ""


def _quoted(text: str) -> str:
    try:
        return quote(text, safe="")
    except UnicodeEncodeError:
        raise _refused("An id holds half a character and cannot be sent.") from None


def _short_enough(text: str) -> str:
    if len(text) > LONGEST_QUERY:
        raise _refused("An id is too long to be asked for.")
    return text


def _refused(words: str) -> ServiceError:
    return ServiceError(ErrorKind.INVALID, words, "Read the list again.", outcome=Outcome.NOT_SENT)


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


def json_or_none(body: bytes) -> Any:
    """Read what JSON a body holds, None where it is none."""
    try:
        return read_json(body)
    except ServiceError:
        return None


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


def wrong_shape(words: str, request: str, status: int | None = None) -> ServiceError:
    """Make the error for an answer of the service that cannot be read."""
    advice = "The server may be of a release not known here."
    return ServiceError(ErrorKind.SHAPE, words, advice, request=request, status=status)


def wrong_api(words: str, request: str = "", status: int | None = None) -> ServiceError:
    """Make the error for an answer that the service would not give."""
    advice = "Check the address: this may be another service, or a part of its path is missing."
    return ServiceError(ErrorKind.WRONG_API, words, advice, request=request, status=status)


NEVER_OPENED = frozenset({ErrorKind.DNS, ErrorKind.UNREACHABLE, ErrorKind.CONNECT_TIMEOUT})
"""No connection came about, so no server has seen the request."""
LOST = frozenset({ErrorKind.STALLED, ErrorKind.BROKEN})
"""The answer did not arrive whole."""
FAILED = 500
"""The status of a server's own failure; 502 to 504 may come from what stands before it."""
PASSING = frozenset({502, 503, 504})
"""Server errors that are worth asking twice."""
LONGEST_WAIT = 30.0
"""Seconds of a server's Retry-After that a read waits out."""
USUAL_WAIT = 1.0
"""Seconds to wait on "too many requests" without a Retry-After."""
MOST_REPEATS = 2
"""Of a read; a write is repeated once at most."""


def again(request: Request, error: ServiceError, repeats: int) -> float | None:
    """Say in how many seconds at least a request is sent again after so many repeats; None means it is not.

    Where no connection came about people want to know at once: a read that has waited for one in vain is not
    repeated, nor is any that the watch asks, for it asks again by itself.
    """
    kind, unopened = error.kind, error.kind in NEVER_OPENED
    if request.method != "GET":
        seen = request.settle is not None and (kind in LOST or kind is ErrorKind.SERVER)
        return 0.0 if repeats == 0 and (unopened or seen) else None
    if request.once or repeats >= MOST_REPEATS:
        return None
    if unopened:
        return None if request.background or kind is ErrorKind.CONNECT_TIMEOUT else 0.0
    if kind is ErrorKind.RATE:
        wait = USUAL_WAIT if error.retry_after is None else error.retry_after
    elif kind in LOST or error.status in PASSING or (error.status == FAILED and repeats == 0):
        wait = error.retry_after or 0.0
    else:
        return None
    return wait if wait <= LONGEST_WAIT else None


def seconds_to_wait(header: str | None, now: datetime | None = None) -> float | None:
    """Read a Retry-After header, seconds or a date; None for none, for nonsense and for a moment that is over."""
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        seconds = _seconds_until(header, now or datetime.now(UTC))
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _seconds_until(date: str, now: datetime) -> float:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return math.nan
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - now).total_seconds()
