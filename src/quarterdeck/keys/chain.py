"""The places a key may be in, asked in their order."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

from quarterdeck.config.toml_file import ConfigError
from quarterdeck.keys.ring import RingUnavailableError

if TYPE_CHECKING:
    from pydantic import SecretStr

    from quarterdeck.keys.file import KeyFile
    from quarterdeck.keys.owner import Owner
    from quarterdeck.keys.ring import Ring


class Place(Enum):
    """Where a key is."""

    NOWHERE = auto()
    ENVIRONMENT = auto()
    RING = auto()
    FILE = auto()


class Found(NamedTuple):
    """A key, or none, and in words where it came from."""

    key: "SecretStr | None"
    place: Place
    words: str


class KeyChain:
    """Finds keys, keeps them and forgets them. A place that fails counts as one without a key, and is named."""

    def __init__(self, environ: Mapping[str, str], ring: "Ring", file: "KeyFile") -> None:
        self._environ = environ
        self.ring = ring
        self.file = file

    async def find(self, owner: "Owner | None", variable: str | None) -> Found:
        """The key in the environment, else in the keyring, else in the file; the last two only for an owner.

        Raises ServiceError(LOCAL) for a key that cannot be sent.
        """
        from quarterdeck.keys.owner import sendable

        missing: list[str] = []
        if variable is not None:
            place = f"environment variable {variable}"
            key = sendable(self._environ.get(variable), place)
            if key is not None:
                return Found(key, Place.ENVIRONMENT, place)
            missing.append(f"{variable} is not set")
        if owner is not None:
            try:
                key = await self.ring.read(owner)
                if key is not None:
                    return Found(key, Place.RING, "system keyring")
            except RingUnavailableError:
                missing.append("no system keyring answers")
            try:
                key = await asyncio.to_thread(self.file.read, owner)
                if key is not None:
                    return Found(key, Place.FILE, "key file")
                if await asyncio.to_thread(self.file.origin, owner.name):
                    missing.append("the key file has one for another address")
            except ConfigError as error:
                missing.append(str(error))
        return Found(None, Place.NOWHERE, f"none: {', '.join(missing)}" if missing else "none")

    async def keep(self, owner: "Owner", key: "SecretStr", *, in_file: bool) -> None:
        """Keep a key in the keyring or in the file; raises RingUnavailableError or ConfigError."""
        if in_file:
            await asyncio.to_thread(self.file.keep, owner, key)
        else:
            await self.ring.keep(owner, key)

    async def move(self, owner: "Owner", new: "Owner") -> bool:
        """Hand what is kept for one owner to another, in the same place; whether there was something.

        Raises RingUnavailableError or ConfigError when it could not be kept there.
        """
        found = await self.find(owner, None)
        if found.key is None or owner == new:
            return False
        await self.keep(new, found.key, in_file=found.place is Place.FILE)
        if not (found.place is Place.FILE and owner.name == new.name):
            await self.forget(owner)
        return True

    async def forget(self, owner: "Owner") -> None:
        """Take a key out of the keyring and the file, wherever it is; raises ConfigError for an unusable file."""
        with suppress(RingUnavailableError):
            await self.ring.forget(owner)
        await asyncio.to_thread(self.file.forget, owner)
