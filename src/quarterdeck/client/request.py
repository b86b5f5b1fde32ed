"""Requests and responses as plain data: quoting, encoding and parsing."""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any, NamedTuple
from urllib.parse import quote

from httpx import Headers
from pydantic_core import from_json

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.models.base import T, read_as
from quarterdeck.client.redact import revealed

Query = tuple[tuple[str, str], ...]
UNKNOWN_RELEASE = "The server may be of a release not known here."
READ_AGAIN = "Read the list again."
WRONG_ADDRESS = "Check the address: this may be another service, or a part of its path is missing."


class KeyHeader(StrEnum):
    """The header that carries the key; servers accept either."""

    SESSION = "X-Session-API-Key"
    BEARER = "Authorization"

    def holding(self, key: str) -> str:
        """Return what the header holds to carry a key."""
        return f"Bearer {key}" if self is KeyHeader.BEARER else key


class Request(NamedTuple):
    """A request; `path` is already quoted, `body` is None or JSON data in which secrets are still `SecretStr`."""

    method: str
    path: str
    query: Query = ()
    body: Any = None
    item: bool = False
    """Whether the path names one record, so that "not found" means the record and not the path."""
    largest: int | None = None
    """Maximum bytes of the response, if larger than usual."""
    seconds: float | None = None
    """Total time, if different from the usual."""
    background: bool = False
    """Sent by polling, not by a person: it has lower priority and fewer retries."""
    lacking: str = ""
    """The error text if the server has no such path; the error is then NOT_OFFERED."""

    @property
    def reads(self) -> bool:
        """Whether it changes nothing."""
        return self.method == "GET"


class Response(NamedTuple):
    """A complete response; `body` is decompressed and within the size limit."""

    request: Request
    status: int
    body: bytes = b""
    headers: Mapping[str, str] = Headers()

    @property
    def is_html(self) -> bool:
        """Whether this is a web page instead of data."""
        said = self.headers.get("Content-Type", "").lower()
        return "html" in said or decoded(self.body[:64]).lstrip().startswith("<")

    def json(self) -> Any:
        """Parse JSON of any depth, encoding and numbers.

        Raises ServiceError: BROKEN if it is cut off, WRONG_API for anything else that is not JSON.
        """
        with suppress(ValueError):
            return from_json(self.body)  # makes equal texts one object: thousands of records stay in memory
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            text = decoded(self.body).strip()
        if text.startswith(("{", "[")) and not text.endswith("}" if text[0] == "{" else "]"):
            raise self.error(ErrorKind.BROKEN, "The answer stops in the middle.", "Read again.")
        raise self.wrong_api("The server answered something that is not JSON.")

    def json_or_none(self) -> Any:
        """Parse JSON, None if it is invalid."""
        try:
            return self.json()
        except ServiceError:
            return None

    def read_as(self, kind: type[T], words: str) -> T:
        """Return the record that this is; raises ServiceError(SHAPE) with these words if it is none."""
        try:
            return read_as(kind, self.json_or_none())
        except ValueError:
            raise self.wrong_shape(words) from None

    def error(self, kind: ErrorKind, words: str, advice: str) -> ServiceError:
        """Return an error about this response."""
        return ServiceError(kind, words, advice, status=self.status)

    def wrong_shape(self, words: str) -> ServiceError:
        """Return the error for a response of the service that cannot be read."""
        return self.error(ErrorKind.SHAPE, words, UNKNOWN_RELEASE)

    def wrong_api(self, words: str) -> ServiceError:
        """Return the error for a response that this service would not send."""
        return self.error(ErrorKind.WRONG_API, words, WRONG_ADDRESS)


class LoggedRequest(NamedTuple):
    """One entry of the request log, without key, query and body.

    `status` is None without a response, `error` is None without an error; if both are None, the request was abandoned.
    """

    method: str
    path: str
    status: int | None
    error: ErrorKind | None
    ms: float
    when: datetime
    """When it was sent, in UTC."""


def http_date(text: str) -> datetime | None:
    """Parse a date of a header (RFC 9110 section 5.6.7); None if it is invalid."""
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def segment(value: str) -> str:
    """Quote an id as one segment of a path.

    Raises ServiceError(INVALID) for an empty id and for "." and "..", which would become another path.
    """
    if value in ("", ".", ".."):
        raise _refused("An empty id or one of dots only cannot be asked for.", READ_AGAIN)
    return _quoted(value)


def query_text(query: Iterable[tuple[str, str]]) -> str:
    """Return a query with its leading "?", or an empty text without parameters; raises ServiceError(INVALID)."""
    text = "&".join(f"{_quoted(name)}={_quoted(value)}" for name, value in query)
    return f"?{text}" if text else ""


def _quoted(text: str) -> str:
    try:
        return quote(text, safe="")
    except UnicodeEncodeError:
        raise _refused("An id contains half a character and cannot be sent.", READ_AGAIN) from None


def _refused(words: str, advice: str) -> ServiceError:
    return ServiceError(ErrorKind.INVALID, words, advice, outcome=Outcome.NOT_SENT)


def decoded(body: bytes, errors: str = "replace") -> str:
    """Decode a body, which like all JSON may be UTF-8, UTF-16 or UTF-32, with or without a mark of that."""
    return body.decode(json.detect_encoding(body), errors)


def encoded(body: Any) -> bytes:
    """Encode a body as JSON; a secret becomes text only here. Raises ServiceError(INVALID) for a lone surrogate."""
    try:
        return json.dumps(body, default=revealed, allow_nan=False, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise _refused("A text contains half a character and cannot be sent.", "Write it as UTF-8.") from None
