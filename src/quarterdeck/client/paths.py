"""Paths and queries, quoted so that a server sees exactly the id it was asked for."""

from collections.abc import Iterable
from urllib.parse import quote, urlencode

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError

Query = tuple[tuple[str, str], ...]
LONGEST_QUERY = 60_000


def segment(value: str) -> str:
    """Quote one id as one segment of a path.

    Raises ServiceError(INVALID) for an empty id and for "." and "..": on their way they would turn into another path.
    """
    if value in ("", ".", ".."):
        raise _refused("An empty id or one of dots only cannot be asked for.")
    return _quoted(value)


def query_text(query: Iterable[tuple[str, str]]) -> str:
    """Write a query with its leading "?", or nothing when there is nothing to ask."""
    try:
        text = urlencode(tuple(query), quote_via=quote, safe="")
    except UnicodeEncodeError:
        raise _unreadable() from None
    if len(text) > LONGEST_QUERY:
        raise _refused("An id is too long to be asked for.")
    return f"?{text}" if text else ""


def _quoted(value: str) -> str:
    try:
        text = quote(value, safe="")
    except UnicodeEncodeError:
        raise _unreadable() from None
    if len(text) > LONGEST_QUERY:
        raise _refused("An id is too long to be asked for.")
    return text


def _unreadable() -> ServiceError:
    return _refused("An id holds half a character and cannot be sent.")


def _refused(words: str) -> ServiceError:
    return ServiceError(ErrorKind.INVALID, words, "Read the list again.", outcome=Outcome.NOT_SENT)
