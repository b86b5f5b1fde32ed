"""The release that was last seen at each server, known before it answers again."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from quarterdeck.client.errors import ServiceError
from quarterdeck.tui.notes import Notes, about

if TYPE_CHECKING:
    from quarterdeck.config.connections import Connection

KIND = "release"


class Releases:
    """Releases by server, noted down; a note that cannot be read or written costs nothing but the memory of it."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._seen: dict[str, str] = {}

    def at(self, endpoint: Connection) -> str:
        """The release last seen there, empty while none is known."""
        return self._seen.get(about(endpoint), "")

    async def recall(self, endpoints: Iterable[Connection]) -> None:
        """Read what was noted about servers that were not seen in this run."""
        for endpoint in endpoints:
            if about(endpoint) not in self._seen:
                with suppress(ServiceError):
                    noted = await self._notes.read(KIND, endpoint)
                    self._seen.setdefault(about(endpoint), noted if isinstance(noted, str) else "")

    async def saw(self, endpoint: Connection, release: str) -> None:
        """Note down which release answers there."""
        if release and release != self.at(endpoint):
            self._seen[about(endpoint)] = release
            with suppress(ServiceError):
                await self._notes.change(KIND, endpoint, lambda noted: release)
