"""Work that goes on when whoever asked for it stops waiting."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Changes:
    """Runs changes in tasks of the service's own.

    A caller's deadline cancels its handler half way; a change that ran in the handler would be left half done.
    """

    def __init__(self) -> None:
        self._changes: set[asyncio.Task[Any]] = set()
        self._background: set[asyncio.Task[Any]] = set()

    async def run(self, change: Coroutine[Any, Any, T]) -> T:
        """Do a change to its end and give its result; cancelling the caller does not cancel the change."""
        return await asyncio.shield(_keep(self._changes, change))

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Do long work that nobody waits for; closing cancels it."""
        _keep(self._background, work)

    async def close(self) -> None:
        """Cancel the long work, then wait until every change under way is done."""
        for task in self._background:
            task.cancel()
        while pending := self._changes | self._background:
            await asyncio.wait(pending)


def _keep(tasks: set[asyncio.Task[Any]], work: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
    task = asyncio.create_task(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)
    return task
