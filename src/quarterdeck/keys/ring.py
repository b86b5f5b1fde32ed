"""The system keyring. A backend may be absent, locked, hang, raise anything or lie (reliability.md, fault 78)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend
    from pydantic import SecretStr

    from quarterdeck.keys.owner import Owner

SERVICE = "quarterdeck"
PATIENCE = 3.0
"""Seconds a keyring gets for one answer."""
_T = TypeVar("_T")


class RingUnavailableError(Exception):
    """The keyring raised something, gave no answer in time, or does not hold what it said it took."""


def system_backend() -> KeyringBackend:
    """The keyring of this system; none that its library does not recommend, since it may ask or hide nothing."""
    from keyring import core

    core.init_backend(limit=core.recommended)
    return core.get_keyring()


class Ring:
    """Keys in the system keyring; once it failed to answer in time it is not asked again in this run."""

    def __init__(self, backend: Callable[[], KeyringBackend] = system_backend, patience: float = PATIENCE) -> None:
        self._backend = backend
        self._patience = patience
        self._silent = False

    async def read(self, owner: Owner) -> SecretStr | None:
        """The key of an owner, None where there is none; raises RingUnavailableError."""
        from quarterdeck.keys.owner import sendable

        found = await self._ask(lambda: self._backend().get_password(SERVICE, owner.user))
        return sendable(found, "the system keyring")

    async def keep(self, owner: Owner, key: SecretStr) -> None:
        """Keep a key, and read it back; raises RingUnavailableError unless it is there."""

        def keep() -> bool:
            backend = self._backend()
            backend.set_password(SERVICE, owner.user, key.get_secret_value())
            return backend.get_password(SERVICE, owner.user) == key.get_secret_value()

        if not await self._ask(keep):
            raise RingUnavailableError

    async def forget(self, owner: Owner) -> None:
        """Take a key out, if it is there; raises RingUnavailableError."""

        def forget() -> None:
            backend = self._backend()
            if backend.get_password(SERVICE, owner.user) is not None:
                backend.delete_password(SERVICE, owner.user)

        await self._ask(forget)

    async def _ask(self, call: Callable[[], _T]) -> _T:
        """The answer of a call made in a thread that nothing waits for: one that hangs holds up no exit."""
        if self._silent:
            raise RingUnavailableError
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[_T] = loop.create_future()

        def give(result: _T) -> None:
            if not answer.done():
                answer.set_result(result)

        def fail() -> None:
            if not answer.done():
                answer.set_exception(RingUnavailableError())

        def work() -> None:
            try:
                tell: Callable[[], None] = partial(give, call())
            except Exception:  # noqa: BLE001 - backends are programs of others and raise whatever they like
                tell = fail
            with suppress(RuntimeError):  # too late: the loop is closed
                loop.call_soon_threadsafe(tell)

        Thread(target=work, name="keyring", daemon=True).start()
        try:
            async with asyncio.timeout(self._patience):
                return await answer
        except TimeoutError:
            self._silent = True
            raise RingUnavailableError from None
