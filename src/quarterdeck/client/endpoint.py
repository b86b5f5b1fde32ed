"""Where a server is and how to speak to it, without its key."""

from enum import StrEnum
from typing import NamedTuple


class KeyHeader(StrEnum):
    """How the key is sent (contract section a)."""

    SESSION = "X-Session-API-Key"
    BEARER = "Authorization"


class Endpoint(NamedTuple):
    """One server as the deck names it; `url` is None for the embedded local service."""

    name: str
    url: str | None = None
    header: KeyHeader = KeyHeader.SESSION
    read_only: bool = False
    ca_file: str | None = None
    """A PEM file with the only certificates trusted at an https:// address; None trusts what is trusted everywhere."""
