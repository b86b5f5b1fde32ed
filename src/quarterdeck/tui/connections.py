"""What is known of this person's servers: the release last seen at each, and a check of who responds now."""

from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from typing import ClassVar

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ServiceError
from quarterdeck.client.models.server import Generation, KeyState, Server
from quarterdeck.client.network import sends_in_clear
from quarterdeck.config.connections import Connection
from quarterdeck.fleet.kept import KeptModel
from quarterdeck.tui import text
from quarterdeck.tui.cells import Span, Tone
from quarterdeck.tui.kept_state import KeptState
from quarterdeck.tui.text import Shown


class SeenRelease(KeptModel):
    """The contents of the state file."""

    kind: ClassVar[str] = "release"
    release: str


class Releases:
    """Releases by server; a state file that cannot be read or written is ignored."""

    def __init__(self, state: KeptState) -> None:
        self._state = state
        self._seen: dict[str, str] = {}

    def at(self, endpoint: Connection) -> str:
        """Return the release last seen there, empty if unknown."""
        return self._seen.get(endpoint.about, "")

    async def recall(self, endpoints: Iterable[Connection]) -> None:
        """Read the stored releases of servers that were not seen in this run."""
        for endpoint in endpoints:
            if endpoint.about not in self._seen:
                with suppress(ServiceError):
                    kept = await self._state.read(SeenRelease, endpoint.about)
                    self._seen.setdefault(endpoint.about, kept.release if kept is not None else "")

    async def saw(self, endpoint: Connection, release: str) -> None:
        """Store which release responds there."""
        if release and release != self.at(endpoint):
            self._seen[endpoint.about] = release
            with suppress(ServiceError):
                await self._state.change(SeenRelease, endpoint.about, lambda kept: SeenRelease(release=release))


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
    """The result of a check: words to show, the state of the key, and the release if it is known."""

    said: Span
    key: KeyState = KeyState.UNPROVEN
    release: str = ""


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
    return Verdict(_words(server, release, has_key=has_key, in_clear=in_clear), server.key, release)


def _words(server: Server, release: str, *, has_key: bool, in_clear: bool) -> Span:
    if server.generation is Generation.NONE:
        return NO_SETTINGS, Tone.BAD
    named = text.line(f"release {release}") if release else Shown("release not told")
    answer = Shown("local service" if server.local else named)
    words, tone = KEY[server.key, has_key]
    if in_clear and has_key:
        words, tone = Shown(f"{words}, and was sent unencrypted"), Tone.WARN if tone is Tone.GOOD else tone
    return Shown(f"{answer}, {server.generation} settings; {words}"), tone
