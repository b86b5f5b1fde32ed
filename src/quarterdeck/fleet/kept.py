"""What is known of one server and kept between runs: read before any list is, written a while after it changed."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Generic, Literal, Protocol, Self, TypeVar

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

    def joined(self, kept: Self | None) -> Self:
        """What the next file says where this one says `kept`, perhaps by another deck; called in another thread."""
        return self


M = TypeVar("M", bound=KeptModel)


class StateFiles(Protocol):
    """Keeps models by their kind and the server they are about; both methods raise ServiceError(LOCAL)."""

    async def read(self, model: type[M], about: str) -> M | None:
        """What is kept about a server, None where nothing is."""
        ...

    async def change(self, model: type[M], about: str, change: Callable[[M | None], M | None]) -> M | None:
        """Keep what `change` makes of what is kept, and return it; it is called in another thread."""
        ...


class KeptPart(ABC, Generic[M]):
    """Something of a session that is kept."""

    model: type[M]

    def __init__(self) -> None:
        self.changed = asyncio.Event()
        """Set whenever there is something new to keep."""

    @abstractmethod
    def kept(self) -> M | None:
        """What there is to keep now, None while that is nothing; not validated, for no key may wait for it."""

    @abstractmethod
    def recall(self, kept: M) -> frozenset[str]:
        """Take what an earlier run or another deck kept; gives the conversations of which there is something new."""


class Keeper:
    """Keeps parts of a session in the state files of one server, where other decks keep theirs.

    `publish` is told of what another deck wrote, and once why something cannot be read or written.
    """

    def __init__(self, files: StateFiles, server: str, publish: Callable[[News], None]) -> None:
        self._files = files
        self._server = server
        self._publish = publish
        self._complained = False

    async def recall(self, parts: Sequence[KeptPart[Any]]) -> list[KeptPart[Any]]:
        """Read all of them at once; gives those that could be read, for only they may be written."""
        readable = await asyncio.gather(*map(self._recall, parts))
        return [part for part, read in zip(parts, readable, strict=True) if read]

    async def _recall(self, part: KeptPart[Any]) -> bool:
        try:
            async with asyncio.timeout(READ_WITHIN):
                kept = await self._files.read(part.model, self._server)
        except (ServiceError, TimeoutError) as error:
            self._complain(error)
            return False
        if kept is not None:
            part.recall(kept)
        return True

    async def keep(self, part: KeptPart[Any]) -> None:
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
                kept = await self._write(part)
                if kept is not None and (news := part.recall(kept)):
                    self._publish(News(About.CONVERSATIONS, news))
        except ServiceError as error:
            self._complain(error)

    async def _write(self, part: KeptPart[M]) -> M | None:
        mine = part.kept()
        return None if mine is None else await self._files.change(part.model, self._server, mine.joined)

    def _complain(self, error: ServiceError | TimeoutError) -> None:
        if not self._complained:
            self._complained = True
            why = error.sentences if isinstance(error, ServiceError) else "the disk does not answer."
            words = f"Not everything is noted down for the next run: {why}"
            self._publish(News(About.CONVERSATIONS, words=words))
