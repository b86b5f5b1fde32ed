"""Keeps unsaved edits in a note while they are made, for the case that the deck does not get to ask about them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from functools import partial
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from quarterdeck.client.errors import ServiceError
from quarterdeck.settings.kept import unsaved
from quarterdeck.settings.kept.unsaved_page import KeptDraft, left_behind, offered, with_entry, without_entry
from quarterdeck.tui.notes import Notes, about
from quarterdeck.tui.processes import is_running, this_process

if TYPE_CHECKING:
    from quarterdeck.config.connections import Connection
    from quarterdeck.settings.draft import Draft

KIND = "draft"
PAUSE = 1.0
"""Seconds from an edit to its note, so that a word typed is one write."""


class DraftKeeper:
    """The notes on the edits of one deck. `keep` costs a key nothing: writing is done later, one write after another.

    `failed` is told of what cannot be written or read.
    """

    def __init__(self, notes: Notes, clock: Callable[[], datetime], failed: Callable[[ServiceError], None]) -> None:
        self._notes = notes
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
        place = about(endpoint)
        if draft.edited or place in self._noted or place in self._waiting or self._is_writing:
            self._waiting[place] = endpoint, draft
            if not self._is_writing:
                self._writing = asyncio.create_task(self._write_soon())

    async def found(self, endpoint: Connection) -> tuple[KeptDraft, ...]:
        """What earlier runs left behind about a server, newest first."""
        try:
            return offered(await self._notes.read(KIND, endpoint), is_running)
        except ServiceError as error:
            self._failed(error)
            return ()

    async def drop(self, endpoint: Connection, kept: KeptDraft) -> None:
        """Forget what an earlier run left behind."""
        await self._change(endpoint, lambda page: without_entry(page, kept.run))

    async def take_over(self, endpoint: Connection, kept: KeptDraft, draft: Draft) -> None:
        """Make what an earlier run left behind a note of this run, in one step; `draft` has its edits."""
        if await self._change(endpoint, lambda page: self._page(draft, without_entry(page, kept.run))):
            self._noted[about(endpoint)] = endpoint

    async def finish(self) -> None:
        """Write now what waits, and leave the edits that are still there behind for the next run."""
        self._hurried.set()
        if self._writing is not None:
            await self._writing
        for endpoint in self._noted.values():
            await self._change(endpoint, lambda page: left_behind(page, self._run))

    @property
    def _is_writing(self) -> bool:
        return self._writing is not None and not self._writing.done()

    async def _write_soon(self) -> None:
        while self._waiting:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._hurried.wait(), PAUSE)
            waiting, self._waiting = self._waiting, {}
            for place, (endpoint, draft) in waiting.items():
                if await self._change(endpoint, partial(self._page, draft)):
                    self._noted[place] = endpoint

    def _page(self, draft: Draft, page: Any) -> Any:
        """The page with these edits; runs beside the deck's loop, wherever the disk is waited for."""
        says = unsaved.to_note(draft)
        if says is None:
            return without_entry(page, self._run)
        kept = KeptDraft(self._run, self._clock(), draft.count, says)
        return with_entry(page, self._run, kept, self._process)

    async def _change(self, endpoint: Connection, change: Callable[[Any], Any]) -> bool:
        try:
            await self._notes.change(KIND, endpoint, change)
        except ServiceError as error:
            self._failed(error)
            return False
        return True
