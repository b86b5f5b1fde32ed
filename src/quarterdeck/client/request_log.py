"""What was asked of a server, for the request log: never a key, a query or a body."""

from datetime import datetime
from typing import NamedTuple

from quarterdeck.client.errors import ErrorKind


class LoggedRequest(NamedTuple):
    """One request; `status` is None without an answer, `error` is None without a fault; neither: it was abandoned."""

    method: str
    path: str
    status: int | None
    error: ErrorKind | None
    ms: float
    when: datetime
    """When it was sent, UTC."""
