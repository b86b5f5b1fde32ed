"""Asking a server who it is and whether it takes a key, without opening it."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ServiceError
from quarterdeck.client.models.server import Generation, KeyState, Server
from quarterdeck.client.network import sends_in_clear
from quarterdeck.tui import text
from quarterdeck.tui.cells import Span, Tone
from quarterdeck.tui.text import Shown

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
