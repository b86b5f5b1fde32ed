"""What is known of one server and kept between runs: read when a session opens, written a while after it changed."""

import asyncio
from collections.abc import Callable
from typing import ClassVar, Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict

from quarterdeck.client.errors import ServiceError

BATCH = 2.0
"""Seconds between a change and its being written, so that many changes are written once."""
SELDOM = 30.0
"""The same for what always changes somewhere in a long list."""


class KeptModel(BaseModel):
    """What stands in one state file."""

    model_config = ConfigDict(frozen=True)
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

    MODEL: type[M]

    def recall(self, kept: M | None) -> frozenset[str]:
        """Take what was kept by an earlier run or another deck; gives the ids of which there is something new."""
        ...

    def merge(self) -> Callable[[M | None], M | None]:
        """What makes the next file of the one there is; nothing it uses changes afterwards."""
        ...


class Keeper(Generic[M]):
    """Keeps one part of a session in its state file.

    `recalled` is told the ids of which there is something new whenever a file was read, `failed` once what cannot be
    read or written. A `shared` part also takes what the file holds after a writing: other decks write there too.
    """

    def __init__(
        self,
        part: Part[M],
        recalled: Callable[[frozenset[str]], None],
        failed: Callable[[ServiceError], None],
        *,
        batch: float = BATCH,
        shared: bool = False,
    ) -> None:
        self._part = part
        self._recalled = recalled
        self._failed = failed
        self._batch = batch
        self._shared = shared
        self._changed = asyncio.Event()

    def changed(self) -> None:
        """Say that there is something new to write."""
        self._changed.set()

    async def run(self, files: StateFiles, about: str) -> None:
        """Read, and write whenever something changed, until cancelled; what is new then is written at once."""
        model = self._part.MODEL
        try:
            self._recalled(self._part.recall(await files.read(model, about)))
        except ServiceError as error:
            self._recalled(self._part.recall(None))
            self._failed(error)
            return
        try:
            while True:
                try:
                    await self._changed.wait()
                    await asyncio.sleep(self._batch)
                except asyncio.CancelledError:
                    if self._changed.is_set():
                        await files.change(model, about, self._part.merge())
                    raise
                self._changed.clear()
                kept = await files.change(model, about, self._part.merge())
                if self._shared and (news := self._part.recall(kept)):
                    self._recalled(news)
        except ServiceError as error:
            self._failed(error)
