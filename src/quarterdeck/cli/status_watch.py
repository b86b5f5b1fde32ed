"""Watching sandboxes for changes of their state, without a screen."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from quarterdeck.cli.sandbox_rows import GRAMMAR, asks_about_conversations, utc_now
from quarterdeck.client.client import Client
from quarterdeck.client.errors import ServiceError
from quarterdeck.client.models.conversation import Conversation
from quarterdeck.client.models.sandbox import Sandbox
from quarterdeck.fleet.filters import Filter
from quarterdeck.fleet.memories import SandboxMemories
from quarterdeck.fleet.sandbox_state import SandboxMemory
from quarterdeck.fleet.sandboxes import by_sandbox, sandbox_row
from quarterdeck.fleet.store import Changes
from quarterdeck.fleet.timeline import Cause
from quarterdeck.fleet.watch import Watch

CLOSELY = 99
"""How many sandboxes that the filter lets through are read between two readings of the whole list: one request."""


@dataclass(frozen=True)
class StatusChange:
    """One sandbox was seen in another state than before."""

    seen_at: datetime
    id: str
    before: str | None
    """The word; None for one that is new."""
    after: str | None
    """None for one that is gone."""
    cause: Cause
    why: str = ""


@dataclass(frozen=True)
class Begun:
    """All lists were read once: from now on whatever changes is told."""

    sandboxes: int
    """How many the filter lets through."""


News = StatusChange | Begun | ServiceError
"""What is told; an error is the first of several in a row."""


@dataclass(frozen=True, slots=True)
class _Held:
    """A sandbox as it was last read."""

    record: Sandbox
    memory: SandboxMemory


class StatusWatch:
    """Reads for as long as `run` runs, and gives `tell` the news.

    Only what is asked about is read: the conversations where the filter needs them.
    """

    def __init__(self, client: Client, wanted: Filter, tell: Callable[[News], None]) -> None:
        self._wanted = wanted
        self._tell = tell
        self._memories = SandboxMemories()
        self._held: dict[str, _Held] = {}
        self._matching: dict[str, None] = {}
        """Those that the filter lets through, as far as is known: they are read closely."""
        self._living: Mapping[str, tuple[Conversation, ...]] | None = {}
        self._failing: set[object] = set()
        self._begun = False
        self._sandboxes = Watch(client.sandboxes, self._sandboxes_read)
        self._conversations: Watch[Conversation] | None = None
        if asks_about_conversations(wanted):
            self._conversations = Watch(client.conversations, self._conversations_read)

    async def run(self) -> None:
        """Read until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._sandboxes.run())
            if self._conversations is not None:
                group.create_task(self._conversations.run())

    def _conversations_read(self, changes: Changes[Conversation]) -> None:
        if self._conversations is None:
            return
        if changes:
            self._living = None
        self._tell_failure(self._conversations)
        self._tell_beginning()

    def _sandboxes_read(self, changes: Changes[Sandbox]) -> None:
        now = utc_now()
        self._tell_failure(self._sandboxes)
        before = {record.id: self._memories.by_id.get(record.id) for record in changes.read}
        self._memories.observe(changes.read, now, beginning=changes.all_known)
        for record in changes.read:
            self._take(record, before[record.id], now, all_known=changes.all_known)
        for sandbox_id in changes.gone:
            self._forget(sandbox_id, now)
        closely = tuple(islice(self._matching, CLOSELY))
        self._sandboxes.look(visible=closely, transitional=self._memories.transitional(now))
        self._tell_beginning()

    def _take(self, record: Sandbox, before: SandboxMemory | None, now: datetime, *, all_known: bool) -> None:
        """Take one reading; what is read for the first time is new only once all others are known."""
        memory, old = self._memories.by_id[record.id], self._held.get(record.id)
        if old is not None and old.memory is memory and old.record is record:
            return
        self._held[record.id] = _Held(record, memory)
        matches = self._look_closely(record.id, now)
        word = before.settled.word if before is not None else None
        if word == memory.settled.word or (before is None and not all_known):
            return
        if matches or (old is not None and self._passes(old, now)):
            cause, why = self._cause(record.id)
            self._tell(StatusChange(now, record.id, word, memory.settled.word, cause, why))

    def _forget(self, sandbox_id: str, now: datetime) -> None:
        held = self._held.pop(sandbox_id, None)
        self._matching.pop(sandbox_id, None)
        self._memories.forget((sandbox_id,))
        if held is not None and self._passes(held, now):
            word, why = held.memory.settled.word, "it is not listed any more"
            self._tell(StatusChange(now, sandbox_id, word, None, Cause.SERVER, why))

    def _look_closely(self, sandbox_id: str, now: datetime) -> bool:
        """Note whether the filter lets a sandbox through, and give it."""
        matches = self._passes(self._held[sandbox_id], now)
        if matches:
            self._matching[sandbox_id] = None
        else:
            self._matching.pop(sandbox_id, None)
        return matches

    def _passes(self, held: _Held, now: datetime) -> bool:
        """Whether the filter lets through what was read, with the conversations that are known now."""
        known = self._conversations is not None and not self._conversations.health.incomplete
        living = self._inhabitants().get(held.record.id, ())
        return self._wanted.matches(sandbox_row(held.record, held.memory, living, complete=known), now, GRAMMAR)

    def _cause(self, sandbox_id: str) -> tuple[Cause, str]:
        events = self._memories.timelines.of(sandbox_id)
        return (events[-1].cause, events[-1].words) if events else (Cause.UNKNOWN, "")

    def _inhabitants(self) -> Mapping[str, tuple[Conversation, ...]]:
        """The conversations in each sandbox, put together anew only after they have changed."""
        if self._living is None and self._conversations is not None:
            self._living = by_sandbox(self._conversations.records.values())
        return self._living or {}

    def _tell_beginning(self) -> None:
        """Tell once that everything was read."""
        unread = self._sandboxes.health.incomplete or (self._conversations and self._conversations.health.incomplete)
        if self._begun or unread:
            return
        self._begun = True
        for sandbox_id in self._held:
            self._look_closely(sandbox_id, utc_now())
        self._tell(Begun(len(self._matching)))

    def _tell_failure(self, watch: Watch[Any]) -> None:
        """Tell of the first of several failures in a row."""
        if watch.health.error is None:
            self._failing.discard(watch)
        elif watch not in self._failing:
            self._failing.add(watch)
            self._tell(watch.health.error)
