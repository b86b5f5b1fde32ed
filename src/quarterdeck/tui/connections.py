"""What the deck knows of connections and can do with them; whoever opens the deck says where they are kept."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import SecretStr

from quarterdeck.config.connections import Connection


class Connections:
    """The local service, and nothing that is kept: what a deck has that nobody gave any connections.

    A subclass knows more of them. What it cannot do raises ServiceError(LOCAL), in words for people.
    """

    file = ""
    """Where connections are written, as people name it; empty where they are not."""
    key_file = ""
    """Where keys are written when there is no system keyring; empty where they are not."""

    def __init__(self) -> None:
        self._typed: dict[tuple[str, str | None], SecretStr] = {}

    async def read(self) -> tuple[Sequence[Connection], Sequence[str]]:
        """All connections as they are now, the local service first, and sentences about what could not be used."""
        return (Connection("local service"),), ()

    def is_kept(self, endpoint: Connection) -> bool:
        """Whether it is one of the connections that are written down."""
        return False

    def opened_as(self, endpoint: Connection) -> Connection:
        """How an endpoint is opened: a run may allow less than its connection does."""
        return endpoint

    async def opened(self, endpoint: Connection) -> None:
        """Take note that an endpoint was opened, while it is being read already; it raises nothing."""

    # Changing them

    def problem_with(self, connection: Connection) -> str | None:
        """What keeps a connection from being written, in one sentence, or None."""
        return None

    async def save(self, connection: Connection, instead_of: str | None) -> None:
        """Write a connection, in the place of the one of that name if one is given."""

    async def delete(self, endpoint: Connection) -> None:
        """Forget a connection and its key."""

    # Keys

    def type_key(self, endpoint: Connection, key: SecretStr | None) -> None:
        """Use a key for an endpoint until the deck ends; with None, no longer."""
        if key is None:
            self._typed.pop(endpoint.place, None)
        else:
            self._typed[endpoint.place] = key

    def typed_key(self, endpoint: Connection) -> SecretStr | None:
        """The key typed for an endpoint; None leaves it to whoever opens a client."""
        return self._typed.get(endpoint.place)

    async def key_source(self, endpoint: Connection) -> str:
        """Where the key of an endpoint comes from, never what it is."""
        if endpoint.embedded:
            return "the local service's own"
        return "typed for this run" if self.typed_key(endpoint) is not None else "none"

    async def has_key(self, endpoint: Connection) -> bool:
        """Whether a key is kept for an endpoint, in the keyring or the key file."""
        return False

    async def keep_key(self, endpoint: Connection, key: SecretStr, *, in_file: bool) -> bool:
        """Keep a key in the system keyring, or in the key file; False when that keyring is not available."""
        return False

    async def move_key(self, old: Connection, new: Connection) -> None:
        """Let the key kept or typed for one endpoint be that of another."""
        typed = self.typed_key(old)
        self.type_key(old, None)
        self.type_key(new, typed)

    async def forget_key(self, endpoint: Connection) -> None:
        """Forget what is kept and what was typed for an endpoint."""
        self.type_key(endpoint, None)
