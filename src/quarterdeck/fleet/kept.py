"""What is known of one server and kept between runs: read before any list is, written a while after it changed."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict

from quarterdeck.client.errors import ServiceError
from quarterdeck.fleet.news import About, News

READ_WITHIN = 1.0
"""Seconds that the lists wait for what earlier runs kept."""
REST = 10.0
"""Seconds between a change and its being written, so that many changes are written once."""


class KeptModel(BaseModel):
    """What stands in one state file."""

    model_config = ConfigDict(frozen=True, defer_build=True)
    kind: ClassVar[str]
    version: Literal[1] = 1


M = TypeVar("M", bound=KeptModel)


class StateFiles(Protocol):
    """Keeps models by their kind and the server they are about; both methods raise ServiceError(LOCAL)."""

    async def read(self, model: type[M], about: str) -> M | None:
        """What is kept about a server, None where nothing is."""
        ...

    async def change(self, model: type[M], about: str, change: Callable[[M | None], M | None]) -> M | None:
        """Keep what `change` makes of what is kept, and return it; it is called in another thread."""
        ...


class Part(Protocol[M]):
    """Something that is kept."""

    model: type[M]
    """What stands in its file."""
    changed: asyncio.Event
    """Set whenever there is something new to write."""

    def recall(self, kept: M | None) -> frozenset[str]:
        """Take what an earlier run or another deck kept; gives the conversations of which there is something new."""
        ...

    def merge(self) -> Callable[[M | None], M | None]:
        """What makes the next file of the one there is; nothing it uses changes afterwards."""
        ...


class Keeper:
    """Keeps parts of a session in the state files of one server, where other decks keep theirs.

    `publish` is told of what another deck wrote, and once why something cannot be read or written.
    """

    def __init__(self, files: StateFiles, server: str, publish: Callable[[News], None]) -> None:
        self._files = files
        self._server = server
        self._publish = publish
        self._complained = False

    async def recall(self, parts: Sequence[Part[Any]]) -> list[Part[Any]]:
        """Read all of them at once; gives those that could be read, for only they may be written."""
        readable = await asyncio.gather(*map(self._recall, parts))
        return [part for part, read in zip(parts, readable, strict=True) if read]

    async def _recall(self, part: Part[Any]) -> bool:
        try:
            async with asyncio.timeout(READ_WITHIN):
                part.recall(await self._files.read(part.model, self._server))
        except ServiceError as error:
            self._complain(f"{error.words} {error.advice}")
            return False
        except TimeoutError:
            self._complain("the disk does not answer.")
            return False
        return True

    async def keep(self, part: Part[Any]) -> None:
        """Write a part a while after it changed, until cancelled; what is new then is written at once."""
        try:
            while True:
                try:
                    await part.changed.wait()
                    await asyncio.sleep(REST)
                except asyncio.CancelledError:
                    if part.changed.is_set():
                        await self._write(part)
                    raise
                part.changed.clear()
                if news := part.recall(await self._write(part)):
                    self._publish(News(About.CONVERSATIONS, news))
        except ServiceError as error:
            self._complain(f"{error.words} {error.advice}")

    async def _write(self, part: Part[M]) -> M | None:
        return await self._files.change(part.model, self._server, part.merge())

    def _complain(self, why: str) -> None:
        if not self._complained:
            self._complained = True
            words = f"Not everything is noted down for the next run: {why}"
            self._publish(News(About.CONVERSATIONS, words=words))
