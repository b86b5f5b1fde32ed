"""What can go wrong with a server, as a value a person can read."""

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


class ServiceError(Exception):
    """A call that did not give what was asked; `words` and `advice` are one sentence each, free of secrets.

    `server_words` are what the server itself said, cut short and free of secrets too.
    """

    def __init__(
        self,
        kind: ErrorKind,
        words: str,
        advice: str = "",
        *,
        request: str = "",
        status: int | None = None,
        server_words: str = "",
        retry_after: float | None = None,
        outcome: Outcome = Outcome.NOT_APPLIED,
        problems: tuple[FieldProblem, ...] = (),
    ) -> None:
        super().__init__(words)
        self.kind = kind
        self.words = words
        self.advice = advice
        self.request = request
        self.status = status
        self.server_words = server_words
        self.retry_after = retry_after
        self.outcome = outcome
        self.problems = problems
