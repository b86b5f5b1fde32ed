"""The connections of this person: their file, keys and clients, and a check."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ServiceError
from quarterdeck.client.models.server import Generation, KeyState, Server
from quarterdeck.client.network import sends_in_clear
from quarterdeck.config import connections
from quarterdeck.config.connections import LOCAL, Connection
from quarterdeck.config.keys import Keys
from quarterdeck.tui import text
from quarterdeck.tui.cells import Span, Tone
from quarterdeck.tui.text import Shown

Connect = Callable[[Connection, SecretStr | None], AbstractAsyncContextManager[Client]]
"""Opens a client for a connection; a key of None means the key that its configuration names."""


class Connections:
    """The connections that a person can open; `read_only` means that nothing may be changed on any of them."""

    def __init__(self, started_on: Connection, connect: Connect, file: Path, keys: Keys, *, read_only: bool) -> None:
        """Create them; `started_on`, the first one of the deck, is in no file if it was given by its address."""
        self.file = file
        self.keys = keys
        self._started_on = started_on
        self._connect = connect
        self._read_only = read_only

    async def read(self) -> tuple[Sequence[Connection], Sequence[str]]:
        """Return all current connections, the local service first, and sentences about what could not be used."""
        problems: list[str] = []
        found, _ = await asyncio.to_thread(connections.read, self.file, problems, [])
        known = [LOCAL, *found.values()]
        if not self._started_on.kept and self._started_on.place not in [each.place for each in known]:
            known.append(self._started_on)
        return known, problems

    def opened_as(self, connection: Connection) -> Connection:
        """Return the connection, made read-only if nothing may be changed."""
        return replace(connection, read_only=True) if self._read_only else connection

    def client_of(self, connection: Connection, key: SecretStr | None = None) -> AbstractAsyncContextManager[Client]:
        """Open a client with that key, or else the key typed in this run, or else the stored key."""
        return self._connect(self.opened_as(connection), key or self.keys.typed(connection))


# Checking who responds

NO_SETTINGS = Shown("something answers, but it has no settings: look at the address")
KEY: dict[tuple[KeyState, bool], tuple[Shown, Tone]] = {
    (KeyState.ACCEPTED, True): (Shown("the key is accepted"), Tone.GOOD),
    (KeyState.REFUSED, True): (Shown("the key is refused"), Tone.BAD),
    (KeyState.UNPROVEN, True): (Shown("nothing proves the key right or wrong"), Tone.WARN),
    (KeyState.ACCEPTED, False): (Shown("no key is needed"), Tone.GOOD),
    (KeyState.REFUSED, False): (Shown("the key is missing"), Tone.BAD),
    (KeyState.UNPROVEN, False): (Shown("no key was tried"), Tone.WARN),
}
"""The words for the state of the key, by whether one was sent."""


@dataclass(frozen=True)
class Verdict:
    """The result of a check: words to show, and the state of the key."""

    said: Span
    key: KeyState = KeyState.UNPROVEN


async def check(connecting: AbstractAsyncContextManager[Client], *, with_release: bool = True) -> Verdict:
    """Check what responds and whether the key is right, using a new client; a failure is a result, too.

    Reading the release may transfer half a megabyte.
    """
    try:
        async with connecting as client:
            server = await client.describe()
            release = await client.release() if with_release else server.release
            has_key, in_clear = client.has_key, sends_in_clear(client.url)
    except ServiceError as error:
        return Verdict((text.line(error.sentences), Tone.BAD))
    return Verdict(_words(server, release, has_key=has_key, in_clear=in_clear), server.key)


def _words(server: Server, release: str, *, has_key: bool, in_clear: bool) -> Span:
    if server.generation is Generation.NONE:
        return NO_SETTINGS, Tone.BAD
    named = text.line(f"release {release}") if release else Shown("release not told")
    answer = Shown("local service" if server.local else named)
    words, tone = KEY[server.key, has_key]
    if in_clear and has_key:
        words, tone = Shown(f"{words}, and was sent unencrypted"), Tone.WARN if tone is Tone.GOOD else tone
    return Shown(f"{answer}, {server.generation} settings; {words}"), tone
