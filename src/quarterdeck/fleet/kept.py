"""What is known of one server and kept between runs: restored before any list is read, saved shortly after a change."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Generic, Literal, Protocol, Self, TypeVar

from pydantic import BaseModel, ConfigDict

from quarterdeck.client.errors import ServiceError
from quarterdeck.fleet.news import About, News

READ_WITHIN = 1.0
"""Seconds that the lists wait for what earlier runs kept."""
REST = 30.0
"""Seconds between a change and its saving, so that many changes are saved at once."""


class KeptModel(BaseModel):
    """The contents of one state file; without arguments, that there is none."""

    model_config = ConfigDict(frozen=True, defer_build=True)
    kind: ClassVar[str]
    version: Literal[1] = 1

    def joined(self, kept: Self) -> Self:
        """Return the new contents of a file that has `kept`, perhaps from another deck; called in another thread."""
        return self


M = TypeVar("M", bound=KeptModel)


class StateFiles(Protocol):
    """Stores models by their kind and server; both methods raise ServiceError(LOCAL)."""

    async def read(self, model: type[M], about: str) -> M:
        """Return what is stored about a server, `model()` if there is nothing."""
        ...

    async def change(self, model: type[M], about: str, change: Callable[[M], M]) -> M:
        """Store and return the result of `change`, which receives the stored model; it is called in another thread."""
        ...


class KeptPart(ABC, Generic[M]):
    """A part of a session that is kept between runs."""

    model: type[M]

    def __init__(self) -> None:
        self.changed = asyncio.Event()
        """Set whenever there is something new to save."""

    @abstractmethod
    def kept(self) -> M | None:
        """Return what to save now, None if there is nothing; not validated, because no key press may wait for it."""

    @abstractmethod
    def recall(self, kept: M) -> None:
        """Restore what an earlier run or another deck kept."""


class Keeper:
    """Saves and restores parts of a session in the state files of one server, which other decks share.

    `publish` is called once with the reason if a file cannot be read or written.
    """

    def __init__(self, files: StateFiles, server: str, publish: Callable[[News], None]) -> None:
        self._files = files
        self._server = server
        self._publish = publish
        self._complained = False

    async def recall(self, parts: Sequence[KeptPart[Any]]) -> list[KeptPart[Any]]:
        """Restore all parts at the same time; returns the parts that could be read, because only those may be saved."""
        readable = await asyncio.gather(*map(self._recall, parts))
        return [part for part, read in zip(parts, readable, strict=True) if read]

    async def _recall(self, part: KeptPart[Any]) -> bool:
        try:
            async with asyncio.timeout(READ_WITHIN):
                kept = await self._files.read(part.model, self._server)
        except (ServiceError, TimeoutError) as error:
            self._complain(error)
            return False
        if kept != part.model():
            part.recall(kept)
        return True

    async def keep(self, part: KeptPart[Any]) -> None:
        """Save a part shortly after each change until cancelled; what may not be saved yet is then saved at once.

        What another deck saved is restored with each saving.
        """
        try:
            while True:
                await part.changed.wait()
                await asyncio.sleep(REST)
                if (theirs := await self._write(part)) is not None:
                    part.recall(theirs)
        finally:
            if part.changed.is_set():
                await self._write(part)

    async def _write(self, part: KeptPart[M]) -> M | None:
        """Save a part; returns what the file has then. What was not written still counts as changed."""
        part.changed.clear()
        mine = part.kept()
        try:
            return None if mine is None else await self._files.change(part.model, self._server, mine.joined)
        except asyncio.CancelledError:
            part.changed.set()
            raise
        except ServiceError as error:
            part.changed.set()
            self._complain(error)
            return None

    def _complain(self, error: ServiceError | TimeoutError) -> None:
        if not self._complained:
            self._complained = True
            why = error.sentences if isinstance(error, ServiceError) else "the disk does not answer."
            words = f"Not everything is noted down for the next run: {why}"
            self._publish(News(About.CONVERSATIONS, words=words))
