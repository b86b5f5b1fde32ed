"""The connections of this person: the file of them, where their keys are, who answers at each and in which release."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.models.server import Generation, KeyState, Server
from quarterdeck.client.network import sends_in_clear
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
from quarterdeck.tui import text
from quarterdeck.tui.cells import Span, Tone
from quarterdeck.tui.kept_state import RunState
from quarterdeck.tui.text import Shown


class Connections:
    """Reads and writes the file of connections, and finds keys; what cannot be done raises ServiceError(LOCAL).

    A key is bound to an address: a connection anywhere else gets none, whatever its name. `asked` is the server that
    was given by its address alone, `read_only` says that nothing may be changed on any; `on_open` is told names.
    """

    def __init__(
        self,
        config: Config,
        environ: Mapping[str, str],
        *,
        asked: Connection | None = None,
        read_only: bool = False,
        keyring: SystemKeyring | None = None,
        on_open: Callable[[str], None] = lambda name: None,
    ) -> None:
        self._file = config.folders.connections
        self._found = config.connections
        self._asked = asked
        self._read_only = read_only
        self._keys = KeyChain(environ, keyring or SystemKeyring(), KeyFile(config.folders.keys))
        self._typed: dict[tuple[str, str | None], SecretStr] = {}
        self._on_open = on_open
        self.key_file = str(config.folders.keys)
        """Where keys are written when there is no system keyring."""

    async def read(self) -> tuple[Sequence[Connection], Sequence[str]]:
        """All connections as they are now, the local service first, and sentences about what could not be used."""
        problems: list[str] = []
        self._found = await asyncio.to_thread(connections.read, self._file, problems)
        asked = () if self._asked is None else (self._asked,)
        return (LOCAL, *self._found.values(), *asked), problems

    def is_kept(self, connection: Connection) -> bool:
        """Whether it is in the file; a server given by its address never counts as one that is."""
        return self._kept(connection) is not None

    def opened_as(self, connection: Connection) -> Connection:
        """The connection, read-only where --read-only was said."""
        return replace(connection, read_only=True) if self._read_only else connection

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
            await asyncio.to_thread(edit.save_connection, self._file, connection, instead_of)
        await self.read()

    async def delete(self, connection: Connection) -> None:
        """Take a connection out of the file, then its key out of where it is kept."""
        with _in_words():
            await asyncio.to_thread(edit.delete_table, self._file, connections.TABLE, connection.name)
        await self.forget_key(connection)
        await self.read()

    # Keys

    def type_key(self, connection: Connection, key: SecretStr | None) -> None:
        """Use a key for a connection until the deck ends; with None, no longer."""
        if key is None:
            self._typed.pop(connection.place, None)
        else:
            self._typed[connection.place] = key

    def typed_key(self, connection: Connection) -> SecretStr | None:
        """The key typed for a connection."""
        return self._typed.get(connection.place)

    async def find_key(self, connection: Connection) -> Found:
        """The key of a connection; raises ServiceError(LOCAL) for one that cannot be sent."""
        if connection.embedded:
            return Found(None, Place.NOWHERE, "the local service's own")
        with _in_words():
            return await self._keys.find(self._owner(connection), self.key_variable(connection))

    def key_variable(self, connection: Connection) -> str | None:
        """Name of the environment variable that may hold the key of a connection."""
        if self._asked is not None and connection.place == self._asked.place:
            return self._asked.key_env
        kept = self._kept(connection)
        return None if kept is None else kept.key_env

    async def key_source(self, connection: Connection) -> str:
        """Where the key of a connection comes from, never what it is."""
        if self.typed_key(connection) is not None:
            return "typed for this run"
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
        typed = self.typed_key(old)
        self.type_key(old, None)
        self.type_key(new, typed)
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
        self.type_key(connection, None)
        owner = owner_of(connection)
        if owner is not None:
            with _in_words():
                await self._keys.forget(owner)

    def _kept(self, connection: Connection) -> Connection | None:
        """The connection of the file that is at the same place."""
        kept = self._found.get(connection.name)
        if kept is None or kept.place != connection.place:
            return None
        return kept if self._asked is None or kept.place != self._asked.place else None

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


# The release seen at each server


class SeenRelease(BaseModel):
    """What stands in the state file."""

    model_config = ConfigDict(frozen=True)
    kind: ClassVar[str] = "release"
    version: Literal[1] = 1
    release: str


class Releases:
    """Releases by server; a state file that cannot be read or written costs nothing but the memory of it."""

    def __init__(self, state: RunState) -> None:
        self._state = state
        self._seen: dict[str, str] = {}

    def at(self, endpoint: Connection) -> str:
        """The release last seen there, empty while none is known."""
        return self._seen.get(endpoint.about, "")

    async def recall(self, endpoints: Iterable[Connection]) -> None:
        """Read what was kept about servers that were not seen in this run."""
        for endpoint in endpoints:
            if endpoint.about not in self._seen:
                with suppress(ServiceError):
                    kept = await self._state.read(SeenRelease, endpoint.about)
                    self._seen.setdefault(endpoint.about, kept.release if kept is not None else "")

    async def saw(self, endpoint: Connection, release: str) -> None:
        """Keep which release answers there."""
        if release and release != self.at(endpoint):
            self._seen[endpoint.about] = release
            with suppress(ServiceError):
                await self._state.change(SeenRelease, endpoint.about, lambda kept: SeenRelease(release=release))


# Who answers

_KEY: dict[KeyState, tuple[Shown, Tone]] = {
    KeyState.ACCEPTED: (Shown("the key is accepted"), Tone.GOOD),
    KeyState.REFUSED: (Shown("the key is refused"), Tone.BAD),
    KeyState.UNPROVEN: (Shown("nothing proves the key right or wrong"), Tone.WARN),
}


@dataclass(frozen=True)
class Verdict:
    """What came of asking: words to show, the state of the key, and the release where it is told."""

    said: Span
    key: KeyState = KeyState.UNPROVEN
    release: str = ""


async def check(connecting: AbstractAsyncContextManager[Client], *, with_release: bool = True) -> Verdict:
    """Ask what answers and whether the key is right, with a client made for it; a failure is an answer too.

    The release may cost half a megabyte.
    """
    try:
        async with connecting as client:
            server = await client.describe()
            release = server.release or (await client.release() if with_release else None) or ""
            in_clear = sends_in_clear(client.url)
    except ServiceError as error:
        return Verdict((text.line(f"{error.words} {error.advice}"), Tone.BAD))
    return Verdict(_words(server, release, in_clear=in_clear), server.key, release)


def _words(server: Server, release: str, *, in_clear: bool) -> Span:
    if server.generation is Generation.NONE:
        return Shown("something answers, but it has no settings: look at the address"), Tone.BAD
    named = text.line(f"release {release}") if release else Shown("release not told")
    answer = Shown("local service" if server.local else named)
    words, tone = _KEY[server.key]
    if in_clear:
        words, tone = Shown(f"{words}, and went there in clear"), Tone.WARN if tone is Tone.GOOD else tone
    return Shown(f"{answer}, {server.generation} settings; {words}"), tone
