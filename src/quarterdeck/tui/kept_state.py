"""The state files, read and written in a thread; failures become ServiceErrors with words."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.config.files import ConfigError
from quarterdeck.config.state import StateFiles, StateModel

M = TypeVar("M", bound=StateModel)


class KeptState:
    """The state files of a folder; both methods raise ServiceError(LOCAL)."""

    def __init__(self, folder: Path, tell: Callable[[Path], None] = lambda renamed: None) -> None:
        """Use this folder; `tell` gets the new name of each damaged file, which is put aside."""
        self._files = StateFiles(folder, tell)

    async def read(self, model: type[M], about: str) -> M:
        """Return what is stored about a server, `model()` if there is nothing."""
        return await _in_thread(lambda: self._files.read(model, about))

    async def change(self, model: type[M], about: str, change: Callable[[M], M]) -> M:
        """Store and return the result of `change`, which receives the stored model; it is called in another thread."""
        return await _in_thread(lambda: self._files.change(model, about, change))


async def _in_thread(work: Callable[[], M]) -> M:
    try:
        return await asyncio.to_thread(work)
    except ConfigError as error:
        raise ServiceError(ErrorKind.LOCAL, error.sentence, outcome=Outcome.NOT_APPLIED) from None
