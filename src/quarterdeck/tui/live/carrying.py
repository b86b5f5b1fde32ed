"""What a session knows and the next one should: read when it opens, written in the background when it changed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any

from quarterdeck.service.errors import ServiceError

if TYPE_CHECKING:
    from quarterdeck.service.endpoint import Endpoint
    from quarterdeck.tui.notes import Notes

REST = 2.0
"""Seconds between a change and its being written, so that many changes are written once."""
SHARE = 100
"""Rest after a writing at least, as a multiple of the time it took."""


@dataclass(frozen=True)
class Carried:
    """One kind of note of one session."""

    kind: str
    recall: Callable[[Any], None]
    """Takes what was noted."""
    says: Callable[[], Callable[[Any], Any]]
    """Gives what makes a note of what was noted; that is called in another thread, so it must not change any more."""


class Carrying:
    """Carries some kinds of notes about one server from run to run; what cannot be read or written is told once."""

    def __init__(
        self, notes: Notes, endpoint: Endpoint, carried: tuple[Carried, ...], complain: Callable[[ServiceError], None]
    ) -> None:
        self._notes = notes
        self._endpoint = endpoint
        self._carried = carried
        self._complain = complain
        self._changed = asyncio.Event()

    def changed(self) -> None:
        """Say that there is something new to write."""
        self._changed.set()

    async def run(self) -> None:
        """Read, and write whenever something changed, until cancelled."""
        try:
            for each in self._carried:
                each.recall(await self._notes.read(each.kind, self._endpoint))
            rest = REST
            while True:
                await self._changed.wait()
                await asyncio.sleep(rest)
                self._changed.clear()
                began = monotonic()
                for each in self._carried:
                    await self._notes.change(each.kind, self._endpoint, each.says())
                rest = max(REST, SHARE * (monotonic() - began))
        except ServiceError as error:
            self._complain(error)
