"""What a session knows and the next one should: read when it opens, written in the background when it changed."""

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from quarterdeck.client.errors import ServiceError

if TYPE_CHECKING:
    from quarterdeck.config.connections import Connection
    from quarterdeck.tui.notes import Notes


class Rhythm(NamedTuple):
    """How often something is written."""

    rest: float
    """Seconds between a change and its being written, so that many changes are written once."""
    share: float
    """Rest after a writing at least, as a multiple of the time it took."""


SOON = Rhythm(rest=2.0, share=100)
SELDOM = Rhythm(rest=30.0, share=1_000)
"""For what always changes somewhere in a long list."""


class Carried(NamedTuple):
    """One kind of note of one session."""

    kind: str
    recall: Callable[[Any], object]
    """Takes what was noted, as `reads` gives it if there is one."""
    says: Callable[[], Callable[[Any], Any]]
    """Gives what makes a note of what was noted; that is called in another thread, so it must not change any more."""
    shared: bool = False
    """Whether it also takes what the note holds after a writing: other decks may have written there."""
    reads: Callable[[Any], Any] | None = None
    """Makes sense of a long note; it is called in another thread, for that would hold the keys up."""

    async def take(self, note: Any) -> None:
        """Take what was noted."""
        self.recall(note if self.reads is None else await asyncio.to_thread(self.reads, note))


class Carrying:
    """Carries some kinds of notes about one server from run to run; what cannot be read or written is told once."""

    def __init__(
        self,
        notes: "Notes",
        endpoint: "Connection",
        carried: tuple[Carried, ...],
        complain: Callable[[ServiceError], None],
        *,
        rhythm: Rhythm = SOON,
    ) -> None:
        self._notes = notes
        self._endpoint = endpoint
        self._carried = carried
        self._complain = complain
        self._rhythm = rhythm
        self._changed = asyncio.Event()

    def changed(self) -> None:
        """Say that there is something new to write."""
        self._changed.set()

    async def run(self) -> None:
        """Read, and write whenever something changed, until cancelled; what is new then is written at once."""
        try:
            for each in self._carried:
                await each.take(await self._notes.read(each.kind, self._endpoint))
            await self._write_changes()
        except ServiceError as error:
            self._complain(error)

    async def _write_changes(self) -> None:
        rest, share = self._rhythm
        wait = rest
        try:
            while True:
                await self._changed.wait()
                await asyncio.sleep(wait)
                began = monotonic()
                await self._write(taking_in=True)
                wait = max(rest, share * (monotonic() - began))
        finally:
            if self._changed.is_set():
                await self._write(taking_in=False)

    async def _write(self, *, taking_in: bool) -> None:
        """Write all of it, and take in what the shared ones hold then."""
        self._changed.clear()
        for each in self._carried:
            note = await self._notes.change(each.kind, self._endpoint, each.says())
            if taking_in and each.shared:
                await each.take(note)
