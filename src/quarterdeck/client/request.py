"""One request to a server and its answer, as plain data, quoted so that a server sees exactly what was asked."""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError

Query = tuple[tuple[str, str], ...]
LONGEST_QUERY = 60_000


class KeyHeader(StrEnum):
    """How the key is sent; servers take either."""

    SESSION = "X-Session-API-Key"
    BEARER = "Authorization"


class Repeat(StrEnum):
    """How a request may be sent once more by itself."""

    READ = "read"
    """It changes nothing: repeat it when it failed on the way."""
    CHECKED = "checked"
    """It changes something that can be read back: repeat it once, after a reading that shows it not done."""
    ONCE = "once"
    """It makes something new or takes it away: repeat it only when no connection was ever opened."""


class Request(NamedTuple):
    """A request; `path` is quoted already, `body` is None or what JSON can hold, with secrets still as `SecretStr`."""

    method: str
    path: str
    query: Query = ()
    body: Any = None
    repeat: Repeat = Repeat.READ
    item: bool = False
    """Whether the path names one record, so that "not found" means the record and not the interface."""
    largest: int | None = None
    """Bytes of the answer where more than usual are expected."""
    seconds: float | None = None
    """Time for the whole of it where the usual does not fit."""
    background: bool = False
    """Asked by the watch, not by a person: it waits behind those who are, and the watch asks again by itself."""

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


class Response(NamedTuple):
    """An answer that arrived whole; `body` is decoded and within the size limit."""

    status: int
    body: bytes = b""
    content_type: str = ""
    retry_after: str | None = None
    """The header as it came."""
    location: str | None = None
    """Where a redirect points, as it came."""

    @property
    def is_html(self) -> bool:
        """Whether this is a web page and not data."""
        return "html" in self.content_type.lower() or self.body[:64].lstrip()[:1] == b"<"


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
    """The how-manieth try of the same request this was."""


def segment(value: str) -> str:
    """Quote one id as one segment of a path.

    Raises ServiceError(INVALID) for an empty id and for "." and "..": on their way they would turn into another path.
    """
    if value in ("", ".", ".."):
        raise _refused("An empty id or one of dots only cannot be asked for.")
    try:
        return _short_enough(quote(value, safe=""))
    except UnicodeEncodeError:
        raise _refused("An id holds half a character and cannot be sent.") from None


def query_text(query: Iterable[tuple[str, str]]) -> str:
    """Write a query with its leading "?", or nothing when there is nothing to ask; raises ServiceError(INVALID)."""
    try:
        text = _short_enough(urlencode(tuple(query), quote_via=quote, safe=""))
    except UnicodeEncodeError:
        raise _refused("An id holds half a character and cannot be sent.") from None
    return f"?{text}" if text else ""


def _short_enough(text: str) -> str:
    if len(text) > LONGEST_QUERY:
        raise _refused("An id is too long to be asked for.")
    return text


def _refused(words: str) -> ServiceError:
    return ServiceError(ErrorKind.INVALID, words, "Read the list again.", outcome=Outcome.NOT_SENT)
