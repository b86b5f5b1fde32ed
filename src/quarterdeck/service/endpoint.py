"""Where a server is and how to speak to it, without its key."""

from dataclasses import dataclass
from enum import StrEnum


class KeyHeader(StrEnum):
    """How the key is sent (contract section a)."""

    SESSION = "X-Session-API-Key"
    BEARER = "Authorization"


@dataclass(frozen=True)
class Endpoint:
    """One server as the deck names it; `url` is None for the embedded local service."""

    name: str
    url: str | None = None
    header: KeyHeader = KeyHeader.SESSION
    read_only: bool = False

    @property
    def embedded(self) -> bool:
        """Whether this is the embedded local service."""
        return self.url is None
