"""What goes over a road to one origin, whichever road it is."""

from collections.abc import AsyncIterator, Iterable, Mapping
from typing import NamedTuple, Protocol


class Question(NamedTuple):
    """A request; `target` is path and query, the headers hold the host and the length of the body."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes = b""


class Answer(Protocol):
    """Status and headers of an answer; iterating gives its body in pieces, as it comes, and raises WireError."""

    @property
    def status(self) -> int:
        """Of three digits."""

    @property
    def headers(self) -> Mapping[str, str]:
        """By their names in small letters."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        """Read the body."""

    async def aclose(self) -> None:
        """End the exchange; what was not read of the body is lost."""


class Road(Protocol):
    """A way to one origin."""

    async def ask(self, question: Question, seconds: float) -> Answer:
        """Send a request and read the head of its answer; `seconds` without any byte. Close the answer.

        Raises WireError.
        """

    async def aclose(self) -> None:
        """Close all connections; what is under way on them fails."""


def readable(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers as text, those that come more than once with commas between them (RFC 9110 section 5.3)."""
    read: dict[str, str] = {}
    for raw_name, raw_value in headers:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("utf-8", "replace")
        read[name] = f"{read[name]}, {value}" if name in read else value
    return read
