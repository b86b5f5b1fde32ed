"""Keeps unsaved edits in a state file while they are made, in case the deck does not get to ask about them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from functools import partial
from secrets import token_hex
from typing import TYPE_CHECKING

from quarterdeck.client.errors import ServiceError
from quarterdeck.settings.unsaved import Run, UnsavedEdits, ended, left_behind, to_keep, with_run, without_run
from quarterdeck.tui.kept_state import RunState
from quarterdeck.tui.processes import is_running, this_process

if TYPE_CHECKING:
    from quarterdeck.config.connections import Connection
    from quarterdeck.settings.draft import Draft

Change = Callable[[UnsavedEdits | None], UnsavedEdits | None]

PAUSE = 1.0
"""Seconds from an edit to its note, so that a word typed is one write."""


class DraftKeeper:
    """The notes on the edits of one deck. `keep` costs a key nothing: writing is done later, one write after another.

    `failed` is told of what cannot be written or read.
    """

    def __init__(self, state: RunState, clock: Callable[[], datetime], failed: Callable[[ServiceError], None]) -> None:
        self._state = state
        self._clock = clock
        self._failed = failed
        self._run = token_hex(8)
        self._process = this_process()
        self._waiting: dict[str, tuple[Connection, Draft]] = {}
        self._noted: dict[str, Connection] = {}
        """Where there is a note of this run."""
        self._hurried = asyncio.Event()
        self._writing: asyncio.Task[None] | None = None

    def keep(self, endpoint: Connection, draft: Draft) -> None:
        """Note down these edits soon, in place of the ones before; without edits the note goes."""
        place = endpoint.about
        if draft.edited or place in self._noted or place in self._waiting or self._is_writing:
            self._waiting[place] = endpoint, draft
            if not self._is_writing:
                self._writing = asyncio.create_task(self._write_soon())

    async def found(self, endpoint: Connection) -> tuple[tuple[str, Run], ...]:
        """What earlier runs left behind about a server, newest first."""
        try:
            return left_behind(await self._state.read(UnsavedEdits, endpoint.about), is_running)
        except ServiceError as error:
            self._failed(error)
            return ()

    async def drop(self, endpoint: Connection, name: str) -> None:
        """Forget what an earlier run left behind."""
        await self._change(endpoint, lambda kept: without_run(kept, name))

    async def take_over(self, endpoint: Connection, name: str, draft: Draft) -> None:
        """Make what an earlier run left behind a note of this run, in one step; `draft` has its edits."""
        if await self._change(endpoint, lambda kept: self._with(draft, without_run(kept, name))):
            self._noted[endpoint.about] = endpoint

    async def finish(self) -> None:
        """Write now what waits, and leave the edits that are still there behind for the next run."""
        self._hurried.set()
        if self._writing is not None:
            await self._writing
        for endpoint in self._noted.values():
            await self._change(endpoint, lambda kept: ended(kept, self._run))

    @property
    def _is_writing(self) -> bool:
        return self._writing is not None and not self._writing.done()

    async def _write_soon(self) -> None:
        while self._waiting:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._hurried.wait(), PAUSE)
            waiting, self._waiting = self._waiting, {}
            for place, (endpoint, draft) in waiting.items():
                if await self._change(endpoint, partial(self._with, draft)):
                    self._noted[place] = endpoint

    def _with(self, draft: Draft, kept: UnsavedEdits | None) -> UnsavedEdits | None:
        """The file with these edits; runs beside the deck's loop, wherever the disk is waited for."""
        if not draft.edited:
            return without_run(kept, self._run)
        return with_run(kept, self._run, to_keep(draft, self._clock(), self._process))

    async def _change(self, endpoint: Connection, change: Change) -> bool:
        try:
            await self._state.change(UnsavedEdits, endpoint.about, change)
        except ServiceError as error:
            self._failed(error)
            return False
        return True
