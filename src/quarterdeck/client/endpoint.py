"""Where a server is and how to speak to it, without its key."""

from enum import StrEnum
from typing import NamedTuple


class KeyHeader(StrEnum):
    """How the key is sent (contract section a)."""

    SESSION = "X-Session-API-Key"
    BEARER = "Authorization"


class Colour(StrEnum):
    """A colour that sets a connection apart from the others at a glance; its name always stands with it."""

    RED = "red"
    ORANGE = "orange"
    GREEN = "green"
    TEAL = "teal"
    BLUE = "blue"
    VIOLET = "violet"
    GREY = "grey"


class Endpoint(NamedTuple):
    """One server as the deck names it; `url` is None for the embedded local service."""

    name: str
    url: str | None = None
    header: KeyHeader = KeyHeader.SESSION
    read_only: bool = False
    ca_file: str | None = None
    """A PEM file with the only certificates trusted at an https:// address; None trusts what is trusted everywhere."""
    colour: Colour | None = None

    @property
    def embedded(self) -> bool:
        """Whether this is the embedded local service."""
        return self.url is None

    @property
    def place(self) -> tuple[str, str | None]:
        """Name and address: what tells it from others, however it is spoken to."""
        return self.name, self.url


class Connection(NamedTuple):
    """A server with a name; `key_env` names the environment variable that holds its key."""

    endpoint: Endpoint
    key_env: str | None = None

    @property
    def name(self) -> str:
        """What people call it."""
        return self.endpoint.name
