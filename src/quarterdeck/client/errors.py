"""What can go wrong with a server, as a value a person can read."""

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
    """What became of the request."""

    NOT_SENT = "not sent"
    NOT_APPLIED = "not applied"
    UNKNOWN = "unknown"
    APPLIED = "applied"


class FieldProblem(NamedTuple):
    """One complaint of a server about one place of a body; `location` as in its `loc`, without the leading "body"."""

    location: tuple[str | int, ...]
    message: str


@dataclass(eq=False)
class ServiceError(Exception):
    """A call that did not give what was asked; `words` and `advice` are one sentence each, free of secrets.

    `server_words` are what the server itself said, cut short and free of secrets too.
    """

    kind: ErrorKind
    words: str
    advice: str = ""
    _: KW_ONLY
    request: str = ""
    status: int | None = None
    server_words: str = ""
    retry_after: float | None = None
    outcome: Outcome = Outcome.NOT_APPLIED
    problems: tuple[FieldProblem, ...] = ()

    def __str__(self) -> str:
        return self.words

    @property
    def sentences(self) -> str:
        """What is wrong and what to do."""
        return f"{self.words} {self.advice}".strip()
