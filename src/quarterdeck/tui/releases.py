"""The release that was last seen at each server, known before it answers again."""

from collections.abc import Iterable
from contextlib import suppress
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from quarterdeck.client.errors import ServiceError
from quarterdeck.config.connections import Connection
from quarterdeck.tui.kept_state import RunState


class SeenRelease(BaseModel):
    """What stands in the state file."""

    model_config = ConfigDict(frozen=True)
    kind: ClassVar[str] = "release"
    version: Literal[1] = 1
    release: str


class Releases:
    """Releases by server; a state file that cannot be read or written costs nothing but the memory of it."""

    def __init__(self, state: RunState) -> None:
        self._state = state
        self._seen: dict[str, str] = {}

    def at(self, endpoint: Connection) -> str:
        """The release last seen there, empty while none is known."""
        return self._seen.get(endpoint.about, "")

    async def recall(self, endpoints: Iterable[Connection]) -> None:
        """Read what was kept about servers that were not seen in this run."""
        for endpoint in endpoints:
            if endpoint.about not in self._seen:
                with suppress(ServiceError):
                    kept = await self._state.read(SeenRelease, endpoint.about)
                    self._seen.setdefault(endpoint.about, kept.release if kept is not None else "")

    async def saw(self, endpoint: Connection, release: str) -> None:
        """Keep which release answers there."""
        if release and release != self.at(endpoint):
            self._seen[endpoint.about] = release
            with suppress(ServiceError):
                await self._state.change(SeenRelease, endpoint.about, lambda kept: SeenRelease(release=release))
