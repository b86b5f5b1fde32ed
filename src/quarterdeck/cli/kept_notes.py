"""The deck's notes, kept in the notebook on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quarterdeck.tui.notes import Notes, about

if TYPE_CHECKING:
    from quarterdeck.config.connections import Connection
    from quarterdeck.notebook.notebook import Notebook


class KeptNotes(Notes):
    """Notes in the notebook of a folder; the disk is waited for in a thread."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    @cached_property
    def _notebook(self) -> Notebook:
        from quarterdeck.notebook.notebook import Notebook

        return Notebook(self._folder)

    async def read(self, kind: str, endpoint: Connection) -> Any:
        """The note of a kind about a server, None where there is none."""
        return await asyncio.to_thread(_told, lambda: self._notebook.read(kind, about(endpoint)))

    async def change(self, kind: str, endpoint: Connection, change: Callable[[Any], Any]) -> Any:
        """Note down what `change` makes of what was noted, and give that; None drops the note."""
        return await asyncio.to_thread(_told, lambda: self._notebook.change(kind, about(endpoint), change))


def _told(act: Callable[[], Any]) -> Any:
    from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
    from quarterdeck.notebook.notebook import NotebookError

    try:
        return act()
    except NotebookError as error:
        raise ServiceError(ErrorKind.LOCAL, f"{error}.", outcome=Outcome.NOT_APPLIED) from None
