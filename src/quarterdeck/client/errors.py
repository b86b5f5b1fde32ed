"""What can go wrong with a server, as an exception with words for a person."""

from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from typing import NamedTuple


class ErrorKind(StrEnum):
    """The cause, as far as a client can tell."""

    DNS = "dns"
    UNREACHABLE = "unreachable"
    CONNECT_TIMEOUT = "connect_timeout"
    STALLED = "stalled"
    BROKEN = "broken"
    TLS = "tls"
    REDIRECTED = "redirected"
    AUTH = "auth"
    DENIED = "denied"
    MISSING = "missing"
    WRONG_API = "wrong_api"
    CONFLICT = "conflict"
    INVALID = "invalid"
    RATE = "rate"
    SERVER = "server"
    SHAPE = "shape"
    TOO_LARGE = "too_large"
    UNKNOWN_OUTCOME = "unknown_outcome"
    READ_ONLY = "read_only"
    NOT_OFFERED = "not_offered"
    LOCAL = "local"


class Outcome(StrEnum):
    """What happened to the request."""

    NOT_SENT = "not sent"
    NOT_APPLIED = "not applied"
    UNKNOWN = "unknown"
    APPLIED = "applied"


class FieldProblem(NamedTuple):
    """A server's error about one value of a body; `location` is its `loc` without the leading "body"."""

    location: tuple[str | int, ...]
    message: str

    def __str__(self) -> str:
        return ": ".join(filter(None, (".".join(map(str, self.location)), self.message)))


NOT_KNOWN = "Unknown whether it happened. "
"""How the words begin if the outcome is unknown."""


@dataclass(eq=False)
class ServiceError(Exception):
    """A failed request; `words` and `advice` are one sentence each and contain no secrets.

    `server_words` are the server's own words, shortened and also without secrets.
    """

    kind: ErrorKind
    words: str
    advice: str = ""
    _: KW_ONLY
    status: int | None = None
    server_words: str = ""
    retry_after: float | None = None
    outcome: Outcome = Outcome.NOT_APPLIED
    problems: tuple[FieldProblem, ...] = ()

    def __str__(self) -> str:
        return self.words

    @property
    def cause(self) -> str:
        """What is wrong, where it is found out whether it happened."""
        return self.words.removeprefix(NOT_KNOWN)

    @property
    def sentences(self) -> str:
        """What is wrong and what to do."""
        return f"{self.words} {self.advice}".strip()
