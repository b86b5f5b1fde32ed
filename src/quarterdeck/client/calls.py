"""One question to a server and its answer, as plain data."""

from enum import StrEnum
from typing import Any, NamedTuple

from quarterdeck.client.paths import Query


class Repeat(StrEnum):
    """How a request may be sent once more by itself (reliability.md section 3)."""

    READ = "read"
    """It changes nothing: repeat it when it failed on the way."""
    CHECKED = "checked"
    """It changes something that can be read back: repeat it once, after a reading that shows it not done."""
    ONCE = "once"
    """It makes something new or takes it away: repeat it only when no connection was ever opened."""


class Call(NamedTuple):
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
    """Asked by the watch, not by a person: it waits behind those who are."""

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


class Reply(NamedTuple):
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
