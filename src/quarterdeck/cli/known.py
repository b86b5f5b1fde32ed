"""The connections of this person, and where their keys are."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from pydantic import SecretStr

from quarterdeck.cli.target import Target
from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.config import connections, edit
from quarterdeck.config.connections import LOCAL, LOCAL_NAME, Connection
from quarterdeck.config.files import ConfigError
from quarterdeck.config.keys import (
    Found,
    KeyChain,
    KeyFile,
    KeyringUnavailableError,
    Owner,
    Place,
    SystemKeyring,
    owner_of,
)
from quarterdeck.config.load import Config
from quarterdeck.tui.connections import Connections


class KnownConnections(Connections):
    """Reads and writes the file of connections, and finds keys.

    A key is bound to an address: a connection anywhere else gets none, whatever its name.
    """

    def __init__(
        self,
        config: Config,
        target: Target,
        environ: Mapping[str, str],
        *,
        keyring: SystemKeyring | None = None,
        on_open: Callable[[str], None] = lambda name: None,
    ) -> None:
        super().__init__()
        self._folders = config.folders
        self._found = config.connections
        self._target = target
        self._keys = KeyChain(environ, keyring or SystemKeyring(), KeyFile(config.folders.keys))
        self._on_open = on_open
        self.file = str(config.folders.connections)
        self.key_file = str(config.folders.keys)

    async def read(self) -> tuple[Sequence[Connection], Sequence[str]]:
        """The connections in the file as it is now, between the local service and the server of the command line."""
        problems: list[str] = []
        self._found = await asyncio.to_thread(connections.read, self._folders.connections, problems)
        asked = () if self._target.remembered else (self._target.connection,)
        return (LOCAL, *self._found.values(), *asked), problems

    def is_kept(self, connection: Connection) -> bool:
        """Whether it is in the file; a server given by its address never counts as one that is."""
        return self._kept(connection) is not None

    def opened_as(self, connection: Connection) -> Connection:
        """The connection, read-only where --read-only was said."""
        return replace(connection, read_only=True) if self._target.read_only else connection

    async def opened(self, connection: Connection) -> None:
        """Remember it as the last connection, if it has a name."""
        if connection.embedded or self.is_kept(connection):
            await asyncio.to_thread(self._on_open, LOCAL_NAME if connection.embedded else connection.name)

    def problem_with(self, connection: Connection) -> str | None:
        """What keeps a connection from being written, in one sentence, or None."""
        try:
            connections.check(connection)
        except ConfigError as error:
            return _sentence(error)
        return None

    async def save(self, connection: Connection, instead_of: str | None) -> None:
        """Write a connection, in the place of the one of that name if one is given."""
        with _in_words():
            await asyncio.to_thread(edit.save_connection, self._folders.connections, connection, instead_of)
        await self.read()

    async def delete(self, connection: Connection) -> None:
        """Take a connection out of the file, then its key out of where it is kept."""
        with _in_words():
            await asyncio.to_thread(edit.delete_table, self._folders.connections, connections.TABLE, connection.name)
        await self.forget_key(connection)
        await self.read()

    # Keys

    async def find_key(self, connection: Connection) -> Found:
        """The key of a connection; raises ServiceError(LOCAL) for one that cannot be sent."""
        if connection.embedded:
            return Found(None, Place.NOWHERE, await super().key_source(connection))
        with _in_words():
            return await self._keys.find(self._owner(connection), self.key_variable(connection))

    def key_variable(self, connection: Connection) -> str | None:
        """Name of the environment variable that may hold the key of a connection."""
        if self._is_target(connection):
            return self._target.connection.key_env
        kept = self._kept(connection)
        return None if kept is None else kept.key_env

    async def key_source(self, connection: Connection) -> str:
        """Where the key of a connection comes from, never what it is."""
        if self.typed_key(connection) is not None:
            return await super().key_source(connection)
        try:
            return (await self.find_key(connection)).words
        except ServiceError as error:
            return f"none: {error.words}"

    async def has_key(self, connection: Connection) -> bool:
        """Whether a key is kept for a connection, in the keyring or the key file."""
        owner = self._owner(connection)
        with _in_words():
            return owner is not None and (await self._keys.find(owner, None)).key is not None

    async def keep_key(self, connection: Connection, key: SecretStr, *, in_file: bool) -> bool:
        """Keep a key for a connection of the file; False when the system keyring is not available."""
        owner = self._owner(connection)
        if owner is None:
            return False
        try:
            with _in_words():
                await self._keys.keep(owner, key, in_file=in_file)
        except KeyringUnavailableError:
            return False
        self.type_key(connection, None)
        return True

    async def move_key(self, old: Connection, new: Connection) -> None:
        """Let the key kept or typed for one connection be that of another, kept in the same place."""
        await super().move_key(old, new)
        before, after = owner_of(old), owner_of(new)
        if before is None or after is None:
            return
        try:
            with _in_words():
                await self._keys.move(before, after)
        except KeyringUnavailableError:
            words = "The system keyring did not take the key under its new name."
            raise ServiceError(ErrorKind.LOCAL, words, "Enter the key again.", outcome=Outcome.NOT_SENT) from None

    async def forget_key(self, connection: Connection) -> None:
        """Forget what is kept and what was typed for a connection."""
        await super().forget_key(connection)
        owner = owner_of(connection)
        if owner is not None:
            with _in_words():
                await self._keys.forget(owner)

    def _is_target(self, connection: Connection) -> bool:
        """Whether it is the server that the command line or the environment gave by its address."""
        return not self._target.remembered and connection.place == self._target.connection.place

    def _kept(self, connection: Connection) -> Connection | None:
        """The connection of the file that is at the same place."""
        kept = self._found.get(connection.name)
        here = kept is not None and kept.place == connection.place and not self._is_target(connection)
        return kept if here else None

    def _owner(self, connection: Connection) -> Owner | None:
        return owner_of(connection) if self.is_kept(connection) else None


@contextmanager
def _in_words() -> Iterator[None]:
    """Turn what is wrong with a file into an error that the deck can show."""
    try:
        yield
    except ConfigError as error:
        raise ServiceError(ErrorKind.LOCAL, _sentence(error), outcome=Outcome.NOT_SENT) from error


def _sentence(error: ConfigError) -> str:
    words = str(error)
    return f"{words[:1].upper()}{words[1:]}."
