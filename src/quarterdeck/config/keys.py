"""Where a key is: an environment variable, the system keyring, or a file that only its owner may open."""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from keyring import core
from keyring.backend import KeyringBackend
from pydantic import SecretStr

from quarterdeck.config import edit, files
from quarterdeck.config.connections import Connection
from quarterdeck.config.files import ConfigError

SERVICE = "quarterdeck"
PATIENCE = 3.0
"""Seconds a keyring gets for one answer."""
TABLE = "keys"
_NOTICE = """\
# Keys in plain text, written by the deck because somebody said yes to it. Each belongs to its origin and goes nowhere
# else. Nobody but you may open this file; it is not used otherwise.

"""
_T = TypeVar("_T")


class UnusableKeyError(ConfigError):
    """A key is there that cannot be sent."""


class KeyringUnavailableError(Exception):
    """The keyring raised something, gave no answer in time, or does not hold what it said it took."""


class Owner(NamedTuple):
    """A connection at one origin; a key kept for it is no key of the same name anywhere else."""

    name: str
    origin: str

    @property
    def user(self) -> str:
        """What a keyring calls it."""
        return f"{self.name} {self.origin}"


def owner_of(connection: Connection) -> Owner | None:
    """Who owns the key of a connection; nobody does for the embedded service, which makes its own."""
    if connection.url is None:
        return None
    parts = urlsplit(connection.url)
    return Owner(connection.name, f"{parts.scheme}://{parts.netloc}".lower())


def sendable(text: object, place: str) -> SecretStr | None:
    """A key without the blanks around it, None for nothing; raises UnusableKeyError for one that cannot be sent."""
    key = SecretStr(text.strip() if isinstance(text, str) else "")
    if any(not "!" <= letter <= "~" for letter in key.get_secret_value()):
        words = f"the key in {place} has a blank, a line break or a letter that cannot be sent: set it to the key alone"
        raise UnusableKeyError(words)
    return key if key.get_secret_value() else None


def system_keyring() -> KeyringBackend:
    """The keyring of this system; none that its library does not recommend, since it may ask or hide nothing."""
    core.init_backend(limit=core.recommended)
    return core.get_keyring()


class SystemKeyring:
    """Keys in the system keyring, which may be absent, locked, hang, raise anything or lie.

    Once it failed to answer in time it is not asked again in this run.
    """

    def __init__(self, backend: Callable[[], KeyringBackend] = system_keyring, patience: float = PATIENCE) -> None:
        self._backend = backend
        self._patience = patience
        self._silent = False

    async def read(self, owner: Owner) -> SecretStr | None:
        """The key of an owner, None where there is none; raises KeyringUnavailableError and UnusableKeyError."""
        found = await self._ask(lambda: self._backend().get_password(SERVICE, owner.user))
        return sendable(found, "the system keyring")

    async def keep(self, owner: Owner, key: SecretStr) -> None:
        """Keep a key, and read it back; raises KeyringUnavailableError unless it is there."""

        def keep() -> bool:
            backend = self._backend()
            backend.set_password(SERVICE, owner.user, key.get_secret_value())
            return backend.get_password(SERVICE, owner.user) == key.get_secret_value()

        if not await self._ask(keep):
            raise KeyringUnavailableError

    async def forget(self, owner: Owner) -> None:
        """Take a key out, if it is there; raises KeyringUnavailableError."""

        def forget() -> None:
            backend = self._backend()
            if backend.get_password(SERVICE, owner.user) is not None:
                backend.delete_password(SERVICE, owner.user)

        await self._ask(forget)

    async def _ask(self, call: Callable[[], _T]) -> _T:
        """The answer of a call made in a thread that nothing waits for: one that hangs holds up no exit."""
        if self._silent:
            raise KeyringUnavailableError
        answer: Future[_T] = Future()
        answer.set_running_or_notify_cancel()

        def work() -> None:
            try:
                answer.set_result(call())
            except Exception:  # noqa: BLE001 - backends are programs of others and raise whatever they like
                answer.set_exception(KeyringUnavailableError())

        Thread(target=work, name="keyring", daemon=True).start()
        try:
            async with asyncio.timeout(self._patience):
                return await asyncio.wrap_future(answer)
        except TimeoutError:
            self._silent = True
            raise KeyringUnavailableError from None


class KeyFile:
    """Keys in `[keys.NAME]` tables, each with its origin. Every method raises ConfigError for an unusable file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, owner: Owner) -> SecretStr | None:
        """The key of an owner, None where there is none."""
        entry = self._entry(owner.name)
        return sendable(entry.get("key"), str(self.path)) if entry.get("origin") == owner.origin else None

    def origin(self, name: str) -> str | None:
        """The origin that the key of that name is for, None where there is no such key."""
        origin = self._entry(name).get("origin")
        return origin if isinstance(origin, str) else None

    def keep(self, owner: Owner, key: SecretStr) -> None:
        """Keep a key in the place of the one of that name."""
        members = {"origin": owner.origin, "key": key.get_secret_value()}
        edit.set_table(self.path, TABLE, owner.name, members, _NOTICE)

    def forget(self, owner: Owner) -> None:
        """Take a key out, if it is there."""
        if self.read(owner) is not None:
            edit.delete_table(self.path, TABLE, owner.name, private=True)

    def _entry(self, name: str) -> dict[str, Any]:
        entries = files.read_toml(self.path, private=True).get(TABLE)
        entry = entries.get(name) if isinstance(entries, dict) else None
        return entry if isinstance(entry, dict) else {}


class Place(Enum):
    """Where a key is."""

    NOWHERE = auto()
    ENVIRONMENT = auto()
    KEYRING = auto()
    FILE = auto()


@dataclass(frozen=True)
class Found:
    """A key, or none, and in words where it came from."""

    key: SecretStr | None
    place: Place
    words: str


class KeyChain:
    """Finds keys, keeps them and forgets them. A place that fails counts as one without a key, and is named."""

    def __init__(self, environ: Mapping[str, str], keyring: SystemKeyring, file: KeyFile) -> None:
        self._environ = environ
        self.keyring = keyring
        self.file = file

    async def find(self, owner: Owner | None, variable: str | None) -> Found:
        """The key in the environment, else in the keyring, else in the file; the last two only for an owner.

        Raises UnusableKeyError for a key that cannot be sent.
        """
        missing: list[str] = []
        if variable is not None:
            place = f"environment variable {variable}"
            key = sendable(self._environ.get(variable), place)
            if key is not None:
                return Found(key, Place.ENVIRONMENT, place)
            missing.append(f"{variable} is not set")
        if owner is not None:
            try:
                key = await self.keyring.read(owner)
                if key is not None:
                    return Found(key, Place.KEYRING, "system keyring")
            except KeyringUnavailableError:
                missing.append("no system keyring answers")
            try:
                key = await asyncio.to_thread(self.file.read, owner)
                if key is not None:
                    return Found(key, Place.FILE, "key file")
                if await asyncio.to_thread(self.file.origin, owner.name):
                    missing.append("the key file has one for another address")
            except UnusableKeyError:
                raise
            except ConfigError as error:
                missing.append(str(error))
        return Found(None, Place.NOWHERE, f"none: {', '.join(missing)}" if missing else "none")

    async def keep(self, owner: Owner, key: SecretStr, *, in_file: bool) -> None:
        """Keep a key in the keyring or in the file; raises KeyringUnavailableError or ConfigError."""
        if in_file:
            await asyncio.to_thread(self.file.keep, owner, key)
        else:
            await self.keyring.keep(owner, key)

    async def move(self, owner: Owner, new: Owner) -> bool:
        """Hand what is kept for one owner to another, in the same place; whether there was something.

        Raises KeyringUnavailableError or ConfigError when it could not be kept there.
        """
        found = await self.find(owner, None)
        if found.key is None or owner == new:
            return False
        await self.keep(new, found.key, in_file=found.place is Place.FILE)
        if not (found.place is Place.FILE and owner.name == new.name):
            await self.forget(owner)
        return True

    async def forget(self, owner: Owner) -> None:
        """Take a key out of the keyring and the file, wherever it is; raises ConfigError for an unusable file."""
        with suppress(KeyringUnavailableError):
            await self.keyring.forget(owner)
        await asyncio.to_thread(self.file.forget, owner)
