"""The connections of this person: those of the file, the server of the command line, and the keys of them all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from pydantic import SecretStr


class KnownConnections(Connections):
    """Reads and writes the file of connections, and finds keys.

    A key is bound to an address: an endpoint anywhere else gets none, whatever its name.
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

    def is_kept(self, endpoint: Connection) -> bool:
        """Whether it is in the file; a server given by its address never counts as one that is."""
        return self._connection(endpoint) is not None

    def opened_as(self, endpoint: Connection) -> Connection:
        """The endpoint, read-only where --read-only was said."""
        return replace(endpoint, read_only=True) if self._target.read_only else endpoint

    async def opened(self, endpoint: Connection) -> None:
        """Remember it as the last connection, if it has a name."""
        if endpoint.embedded or self.is_kept(endpoint):
            await asyncio.to_thread(self._on_open, LOCAL_NAME if endpoint.embedded else endpoint.name)

    def problem_with(self, connection: Connection) -> str | None:
        """What keeps a connection from being written, in one sentence, or None."""
        try:
            connections.check(connection)
        except ConfigError as error:
            return _sentence(error)
        return None

    async def save(self, connection: Connection, instead_of: str | None) -> None:
        """Write a connection, in the place of the one of that name if one is given."""
        with _told():
            await asyncio.to_thread(edit.save_connection, self._folders.connections, connection, instead_of)
        await self.read()

    async def delete(self, endpoint: Connection) -> None:
        """Take a connection out of the file, then its key out of where it is kept."""
        with _told():
            await asyncio.to_thread(edit.delete_table, self._folders.connections, connections.TABLE, endpoint.name)
        await self.forget_key(endpoint)
        await self.read()

    # Keys

    async def find_key(self, endpoint: Connection) -> Found:
        """The key of an endpoint; raises ServiceError(LOCAL) for one that cannot be sent."""
        if endpoint.embedded:
            return Found(None, Place.NOWHERE, await super().key_source(endpoint))
        with _told():
            return await self._keys.find(self._owner(endpoint), self.key_variable(endpoint))

    def key_variable(self, endpoint: Connection) -> str | None:
        """Name of the environment variable that may hold the key of an endpoint."""
        if self._is_target(endpoint):
            return self._target.connection.key_env
        connection = self._connection(endpoint)
        return None if connection is None else connection.key_env

    async def key_source(self, endpoint: Connection) -> str:
        """Where the key of an endpoint comes from, never what it is."""
        if self.typed_key(endpoint) is not None:
            return await super().key_source(endpoint)
        try:
            return (await self.find_key(endpoint)).words
        except ServiceError as error:
            return f"none: {error.words}"

    async def has_key(self, endpoint: Connection) -> bool:
        """Whether a key is kept for an endpoint, in the keyring or the key file."""
        owner = self._owner(endpoint)
        with _told():
            return owner is not None and (await self._keys.find(owner, None)).key is not None

    async def keep_key(self, endpoint: Connection, key: SecretStr, *, in_file: bool) -> bool:
        """Keep a key for a connection of the file; False when the system keyring is not available."""
        owner = self._owner(endpoint)
        if owner is None:
            return False
        try:
            with _told():
                await self._keys.keep(owner, key, in_file=in_file)
        except KeyringUnavailableError:
            return False
        self.type_key(endpoint, None)
        return True

    async def move_key(self, old: Connection, new: Connection) -> None:
        """Let the key kept or typed for one endpoint be that of another, kept in the same place."""
        await super().move_key(old, new)
        before, after = owner_of(old), owner_of(new)
        if before is None or after is None:
            return
        try:
            with _told():
                await self._keys.move(before, after)
        except KeyringUnavailableError:
            words = "The system keyring did not take the key under its new name."
            raise ServiceError(ErrorKind.LOCAL, words, "Enter the key again.", outcome=Outcome.NOT_SENT) from None

    async def forget_key(self, endpoint: Connection) -> None:
        """Forget what is kept and what was typed for an endpoint."""
        await super().forget_key(endpoint)
        owner = owner_of(endpoint)
        if owner is not None:
            with _told():
                await self._keys.forget(owner)

    def _is_target(self, endpoint: Connection) -> bool:
        """Whether it is the server that the command line or the environment gave by its address."""
        return not self._target.remembered and endpoint.place == self._target.connection.place

    def _connection(self, endpoint: Connection) -> Connection | None:
        connection = self._found.get(endpoint.name)
        here = connection is not None and connection.place == endpoint.place and not self._is_target(endpoint)
        return connection if here else None

    def _owner(self, endpoint: Connection) -> Owner | None:
        return owner_of(endpoint) if self.is_kept(endpoint) else None


@contextmanager
def _told() -> Iterator[None]:
    """Turn what is wrong with a file into an error that the deck can show."""
    try:
        yield
    except ConfigError as error:
        raise ServiceError(ErrorKind.LOCAL, _sentence(error), outcome=Outcome.NOT_SENT) from error


def _sentence(error: ConfigError) -> str:
    words = str(error)
    return f"{words[:1].upper()}{words[1:]}."
