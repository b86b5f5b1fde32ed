"""Requests and answers as plain data: quoted and written exactly, read with care."""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any, NamedTuple
from urllib.parse import quote

from httpx import Headers
from pydantic import SecretStr

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError

Query = tuple[tuple[str, str], ...]
UNKNOWN_RELEASE = "The server may be of a release not known here."
WRONG_ADDRESS = "Check the address: this may be another service, or a part of its path is missing."


class KeyHeader(StrEnum):
    """How the key is sent; servers take either."""

    SESSION = "X-Session-API-Key"
    BEARER = "Authorization"


class Request(NamedTuple):
    """A request; `path` is quoted already, `body` is None or what JSON can hold, with secrets still as `SecretStr`."""

    method: str
    path: str
    query: Query = ()
    body: Any = None
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

    @property
    def reads(self) -> bool:
        """Whether it changes nothing."""
        return self.method == "GET"

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


class Response(NamedTuple):
    """An answer that arrived whole; `body` is unpacked and within the size limit."""

    request: Request
    status: int
    body: bytes = b""
    headers: Mapping[str, str] = Headers()

    @property
    def is_html(self) -> bool:
        """Whether this is a web page and not data."""
        return "html" in self.headers.get("Content-Type", "").lower() or self.body[:64].lstrip()[:1] == b"<"

    def json(self) -> Any:
        """Read JSON, whatever its depth, encoding and numbers.

        Raises ServiceError: BROKEN for one that stops in the middle, WRONG_API for anything else that is not JSON.
        """
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            text = self.body.strip()
        if text[:1] in _CLOSING and text[-1:] != _CLOSING[text[:1]]:
            raise self.error(ErrorKind.BROKEN, "The answer stops in the middle.", "Read again.")
        raise self.wrong_api("The server answered something that is not JSON.")

    def json_or_none(self) -> Any:
        """Read what JSON there is, None where there is none."""
        try:
            return self.json()
        except ServiceError:
            return None

    def error(self, kind: ErrorKind, words: str, advice: str) -> ServiceError:
        """Make an error about this answer."""
        return ServiceError(kind, words, advice, request=str(self.request), status=self.status)

    def wrong_shape(self, words: str) -> ServiceError:
        """Make the error for an answer of the service that cannot be read."""
        return self.error(ErrorKind.SHAPE, words, UNKNOWN_RELEASE)

    def wrong_api(self, words: str) -> ServiceError:
        """Make the error for an answer that the service would not give."""
        return self.error(ErrorKind.WRONG_API, words, WRONG_ADDRESS)


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


def http_date(text: str) -> datetime | None:
    """Read a date of a header (RFC 9110 section 5.6.7); None for what is none."""
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def segment(value: str) -> str:
    """Quote one id as one segment of a path.

    Raises ServiceError(INVALID) for an empty id and for "." and "..": on their way they would turn into another path.
    """
    if value in ("", ".", ".."):
        raise _refused("An empty id or one of dots only cannot be asked for.")
    return _quoted(value)


def query_text(query: Iterable[tuple[str, str]]) -> str:
    """Write a query with its leading "?", or nothing when there is nothing to ask; raises ServiceError(INVALID)."""
    text = "&".join(f"{_quoted(name)}={_quoted(value)}" for name, value in query)
    return f"?{text}" if text else ""


def _quoted(text: str) -> str:
    try:
        return quote(text, safe="")
    except UnicodeEncodeError:
        raise _refused("An id holds half a character and cannot be sent.") from None


def _refused(words: str) -> ServiceError:
    return ServiceError(ErrorKind.INVALID, words, "Read the list again.", outcome=Outcome.NOT_SENT)


_CLOSING = {b"{": b"}", b"[": b"]"}


def encoded(body: Any) -> bytes:
    """Write a body as JSON; only here does a secret become text."""
    return json.dumps(body, default=_revealed, allow_nan=False).encode()


def _revealed(value: object) -> str:
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    raise TypeError(f"{type(value).__name__} cannot be sent")
