"""Where a key is stored: an environment variable, the system keyring, or a file that only its owner can access."""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from keyring import core
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked
from pydantic import SecretStr

from quarterdeck.config import edit, files
from quarterdeck.config.connections import Connection
from quarterdeck.config.files import ConfigError

SERVICE = "quarterdeck"
PATIENCE = 3.0
"""Seconds to wait for a response of the keyring."""
TABLE = "keys"
_NOTICE = """\
# Keys in plain text, written by the deck because somebody said yes to it. Each belongs to its origin and goes nowhere
# else. Nobody but you may open this file; it is not used otherwise.

"""
_T = TypeVar("_T")


class UnusableKeyError(ConfigError):
    """There is a key that cannot be sent."""


class KeyringUnavailableError(Exception):
    """The keyring raised an exception, did not respond in time, or did not store what it accepted; says which."""

    def __init__(self, words: str = "no system keyring answers") -> None:
        super().__init__(words)


class Owner(NamedTuple):
    """A connection at one origin; a key stored for it is not used for the same name elsewhere."""

    name: str
    origin: str

    @property
    def user(self) -> str:
        """The user name in the keyring."""
        return f"{self.name} {self.origin}"


def owner_of(connection: Connection) -> Owner | None:
    """Return the owner of a connection's key; None if the connection is not in the file: no key is stored then."""
    if connection.url is None or not connection.kept:
        return None
    parts = urlsplit(connection.url)
    return Owner(connection.name, f"{parts.scheme}://{parts.netloc}".lower())


def sendable(text: object, place: str) -> SecretStr | None:
    """Return a key without surrounding spaces, None if empty; raises UnusableKeyError if it cannot be sent."""
    key = SecretStr(text.strip() if isinstance(text, str) else "")
    if any(not "!" <= letter <= "~" for letter in key.get_secret_value()):
        words = f"the key in {place} has a blank, a line break or a letter that cannot be sent: set it to the key alone"
        raise UnusableKeyError(words)
    return key if key.get_secret_value() else None


def system_keyring() -> KeyringBackend:
    """Return the system's keyring, only one that its library recommends: others may ask questions or hide nothing."""
    core.init_backend(limit=core.recommended)
    return core.get_keyring()


class SystemKeyring:
    """Keys in the system keyring, which may be absent, locked, hang, raise any exception or not store the key.

    After it failed to respond in time, it is not used again in this run.
    """

    def __init__(self, backend: Callable[[], KeyringBackend] = system_keyring, patience: float = PATIENCE) -> None:
        self._backend = backend
        self._patience = patience
        self._silent = False

    async def read(self, owner: Owner) -> SecretStr | None:
        """Return the key of an owner, None if there is none; raises KeyringUnavailableError and UnusableKeyError."""
        found = await self._in_thread(lambda: self._backend().get_password(SERVICE, owner.user))
        return sendable(found, "the system keyring")

    async def keep(self, owner: Owner, key: SecretStr) -> None:
        """Store a key and read it back; raises KeyringUnavailableError unless it was stored."""

        def keep() -> bool:
            backend = self._backend()
            backend.set_password(SERVICE, owner.user, key.get_secret_value())
            return backend.get_password(SERVICE, owner.user) == key.get_secret_value()

        if not await self._in_thread(keep):
            raise KeyringUnavailableError("the system keyring did not store it")

    async def forget(self, owner: Owner) -> None:
        """Delete a key, if there is one; raises KeyringUnavailableError unless there is none any more."""

        def forget() -> bool:
            backend = self._backend()
            if backend.get_password(SERVICE, owner.user) is not None:
                backend.delete_password(SERVICE, owner.user)
            return backend.get_password(SERVICE, owner.user) is None

        if not await self._in_thread(forget):
            raise KeyringUnavailableError

    async def _in_thread(self, call: Callable[[], _T]) -> _T:
        """Return the result of a call in a daemon thread, so that a call that hangs does not delay the exit."""
        if self._silent:
            raise KeyringUnavailableError
        answer: Future[_T] = Future()
        answer.set_running_or_notify_cancel()

        def work() -> None:
            try:
                answer.set_result(call())
            except KeyringLocked:
                answer.set_exception(KeyringUnavailableError("the system keyring is locked"))
            except Exception:  # noqa: BLE001 - backends are third-party code that may raise anything
                answer.set_exception(KeyringUnavailableError())

        Thread(target=work, name="keyring", daemon=True).start()
        try:
            async with asyncio.timeout(self._patience):
                return await asyncio.wrap_future(answer)
        except TimeoutError:
            self._silent = True
            raise KeyringUnavailableError from None


@dataclass(frozen=True)
class Found:
    """A key, or none, and its source in words."""

    key: SecretStr | None
    source: str


TYPED, KEYRING, FILE = "typed for this run", "system keyring", "key file"
"""The sources of keys that were given to the deck."""


class Keys:
    """Finds, stores and deletes keys; ConfigError if a file or key cannot be used.

    A key is bound to an address: a connection elsewhere does not get it, even with the same name. A source that fails
    counts as one without a key, and is reported.
    """

    def __init__(self, file: Path, environ: Mapping[str, str], keyring: SystemKeyring | None = None) -> None:
        self.file = file
        """The file for keys if there is no system keyring: a `[keys.NAME]` table for a connection, with its origin."""
        self._environ = environ
        self._keyring = keyring or SystemKeyring()
        self._typed: dict[tuple[str, str | None], SecretStr | None] = {}

    async def find(self, connection: Connection) -> Found:
        """Return the key typed in this run, else the one in the environment, else the stored one.

        Raises UnusableKeyError for a key that cannot be sent.
        """
        if connection.embedded:
            return Found(None, "the local service's own")
        if (typed := self.typed(connection)) is not None:
            return Found(typed, TYPED)
        missing: list[str] = []
        if connection.key_env is not None:
            if (key := self._in_variable(connection.key_env)) is not None:
                return Found(key, f"environment variable {connection.key_env}")
            missing.append(f"{connection.key_env} is not set")
        kept = await self._kept(connection, missing)
        return kept or Found(None, f"none ({', '.join(missing)})" if missing else "none")

    async def source(self, connection: Connection) -> str:
        """Return where the key of a connection comes from, never the key."""
        try:
            return (await self.find(connection)).source
        except ConfigError as error:
            return f"none ({error})"

    async def is_given(self, connection: Connection) -> bool:
        """Whether a key was typed or stored for a connection."""
        return self.typed(connection) is not None or await self._kept(connection, []) is not None

    def type(self, connection: Connection, key: SecretStr | None) -> None:
        """Use a key for a connection until the deck ends; None ends that."""
        self._typed[connection.place] = key

    def typed(self, connection: Connection) -> SecretStr | None:
        """Return the key typed for a connection."""
        return self._typed.get(connection.place)

    async def keep(self, connection: Connection, key: SecretStr, *, in_file: bool) -> None:
        """Store a key in the file, or in the keyring instead; the latter may raise KeyringUnavailableError.

        Raises ConfigError if there is another key, which goes before this one: in the environment, or for the file in
        the keyring, which keeps it.
        """
        owner = owner_of(connection)
        if owner is None:
            return
        if connection.key_env is not None and self._in_variable(connection.key_env) not in (None, key):
            raise ConfigError(f"{connection.key_env} has another key, which goes before any other: change it there")
        if in_file:
            older = await asyncio.to_thread(self._entry, owner.name)
            members = {"origin": owner.origin, "key": key.get_secret_value()}
            await asyncio.to_thread(edit.set_table, self.file, TABLE, owner.name, members, _NOTICE)
            with suppress(KeyringUnavailableError):
                await self._keyring.forget(owner)
            with suppress(KeyringUnavailableError):
                if await self._keyring.read(owner) not in (None, key):
                    if older is None:
                        await asyncio.to_thread(edit.delete_table, self.file, TABLE, owner.name, private=True)
                    else:
                        await asyncio.to_thread(edit.set_table, self.file, TABLE, owner.name, older)
                    raise ConfigError("the system keyring has another key, which goes before a file: delete it there")
        else:
            await self._keyring.keep(owner, key)
            await asyncio.to_thread(self._leave_file, owner)
        self.type(connection, None)

    async def move(self, old: Connection, new: Connection, *, along: bool) -> None:
        """Move the stored keys of a connection to its new name, and its key to its new address if that goes `along`.

        A key that does not stays bound to its address; under the old name, nothing would show or delete it any more.
        Each stays in its kind of storage.
        """
        typed = self.typed(old)
        if along:
            self.type(old, None)
            self.type(new, typed)
        was, owner = owner_of(old), owner_of(new)
        if was is None or owner is None:
            return
        owner, key = owner if along else Owner(owner.name, was.origin), None
        if owner == was:
            return
        with suppress(KeyringUnavailableError):
            key = await self._keyring.read(was)
        if key is not None:
            try:
                await self._keyring.keep(owner, key)
                await self._keyring.forget(was)
            except KeyringUnavailableError:
                words = "the system keyring did not take the key under its new name: enter the key again"
                raise ConfigError(words) from None
        await asyncio.to_thread(self._move_in_file, was, owner)

    def _move_in_file(self, was: Owner, owner: Owner) -> None:
        entry = self._entry(was.name)
        if entry is not None:
            moved = entry | {"origin": owner.origin} if entry.get("origin") == was.origin else entry
            edit.set_table(self.file, TABLE, owner.name, moved)
            if owner.name != was.name:
                edit.delete_table(self.file, TABLE, was.name, private=True)

    async def forget(self, connection: Connection) -> bool:
        """Delete the typed key of a connection, and the stored ones; the file's also if it is for another address.

        Returns False if the keyring may still have one.
        """
        self.type(connection, None)
        owner = owner_of(connection)
        if owner is None:
            return True
        await asyncio.to_thread(edit.delete_table, self.file, TABLE, owner.name, private=True)
        try:
            await self._keyring.forget(owner)
        except KeyringUnavailableError:
            return False
        return True

    def _leave_file(self, owner: Owner) -> None:
        try:
            if (self._entry(owner.name) or {}).get("origin") == owner.origin:
                edit.delete_table(self.file, TABLE, owner.name, private=True)
        except ConfigError as error:
            raise ConfigError(f"the system keyring has the key, a file may still have an older one: {error}") from error

    def _in_variable(self, name: str) -> SecretStr | None:
        return sendable(self._environ.get(name), f"environment variable {name}")

    async def _kept(self, connection: Connection, missing: list[str]) -> Found | None:
        """Return the key stored for a connection; the reasons for having none are added to `missing`."""
        owner = owner_of(connection)
        if owner is None:
            return None
        try:
            if (key := await self._keyring.read(owner)) is not None:
                return Found(key, KEYRING)
        except KeyringUnavailableError as error:
            missing.append(str(error))
        try:
            entry = await asyncio.to_thread(self._entry, owner.name)
        except ConfigError as error:
            missing.append(str(error))
            return None
        if entry is None:
            return None
        if entry.get("origin") != owner.origin:
            missing.append("the key file has one for another address")
            return None
        key = sendable(entry.get("key"), str(self.file))
        return Found(key, FILE) if key is not None else None

    def _entry(self, name: str) -> dict[str, Any] | None:
        """Return what the file has for a connection of this name, at whatever address."""
        entries = files.read_toml(self.file, private=True).get(TABLE)
        entry = entries.get(name) if isinstance(entries, dict) else None
        return entry if isinstance(entry, dict) else None
