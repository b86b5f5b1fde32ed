"""`quarterdeck sandboxes list --watch`: a line for each change of a state, until a signal or a closed pipe."""

import asyncio
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from quarterdeck.cli.ending import until_told
from quarterdeck.cli.oneshot import words_of
from quarterdeck.cli.output import json_line, note, say
from quarterdeck.cli.sandbox_rows import GRAMMAR, asks_about_conversations, utc_now
from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.models.conversation import Conversation
from quarterdeck.client.models.sandbox import Sandbox
from quarterdeck.fleet.ages import ServerClock
from quarterdeck.fleet.filters import Filter
from quarterdeck.fleet.memories import SandboxMemories
from quarterdeck.fleet.sandboxes import Residents, SandboxRow, sandbox_row
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


class _Watching:
    """Reads for as long as `run` runs, and gives `tell` the news.

    Only what is asked about is read: the conversations where the filter needs them.
    """

    def __init__(self, client: Client, wanted: Filter, tell: Callable[[News], None]) -> None:
        self._client = client
        self._wanted = wanted
        self._tell = tell
        self._memories = SandboxMemories()
        self._residents = Residents()
        self._rows: dict[str, SandboxRow] = {}
        self._matching: dict[str, None] = {}
        """Those that the filter lets through: they are read closely."""
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
        self._tell_failure(self._conversations)
        ids = changes.added | changes.changed | changes.gone
        self._look_at(self._residents.update(self._conversations.records, ids) & self._rows.keys())
        self._begin_once_all_is_read()

    def _sandboxes_read(self, changes: Changes[Sandbox]) -> None:
        now = utc_now()
        self._tell_failure(self._sandboxes)
        other = changes.added | changes.changed
        for sandbox_id in self._memories.observe(changes.read, now, beginning=changes.all_known, other=other) | other:
            self._compare(sandbox_id, now, all_known=changes.all_known)
        for sandbox_id in changes.gone:
            self._forget(sandbox_id, now)
        closely = tuple(islice(self._matching, CLOSELY))
        self._sandboxes.look(visible=closely, transitional=self._memories.transitional(now))
        self._begin_once_all_is_read()

    def _compare(self, sandbox_id: str, now: datetime, *, all_known: bool) -> None:
        """Take what was read of a sandbox; one read for the first time is new only once all others are known."""
        before = self._rows.get(sandbox_id)
        self._look_at((sandbox_id,))
        word, was = self._word(self._rows[sandbox_id]), self._word(before) if before is not None else None
        if word == was or (before is None and not all_known):
            return
        if sandbox_id in self._matching or (before is not None and self._passes(before)):
            events = self._memories.timelines.of(sandbox_id)
            cause, why = (events[-1].cause, events[-1].words) if events else (Cause.UNKNOWN, "")
            self._tell(StatusChange(now, sandbox_id, was, word, cause, why))

    def _forget(self, sandbox_id: str, now: datetime) -> None:
        row = self._rows.pop(sandbox_id, None)
        self._matching.pop(sandbox_id, None)
        self._memories.forget((sandbox_id,))
        if row is not None and self._passes(row):
            why = "it is not listed any more"
            self._tell(StatusChange(now, sandbox_id, self._word(row), None, Cause.SERVER, why))

    def _look_at(self, ids: Iterable[str]) -> None:
        """Make the rows of these anew, and see whether the filter lets them through."""
        known = self._conversations is not None and not self._conversations.health.incomplete
        clock = ServerClock(utc_now(), self._client.clock_offset)
        for sandbox_id in ids:
            record, memory = self._sandboxes.records[sandbox_id], self._memories.by_id[sandbox_id]
            row = sandbox_row(record, memory, self._residents.of(sandbox_id), complete=known, clock=clock)
            self._rows[sandbox_id] = row
            if self._passes(row):
                self._matching[sandbox_id] = None
            else:
                self._matching.pop(sandbox_id, None)

    def _passes(self, row: SandboxRow) -> bool:
        return self._wanted.matches(row, utc_now(), GRAMMAR)

    @staticmethod
    def _word(row: SandboxRow) -> str:
        return row.memory.settled.word

    def _begin_once_all_is_read(self) -> None:
        """Tell once that everything was read; only then it is known which sandboxes have no conversation."""
        unread = self._sandboxes.health.incomplete or (self._conversations and self._conversations.health.incomplete)
        if self._begun or unread:
            return
        self._begun = True
        self._look_at(tuple(self._rows))
        self._tell(Begun(len(self._matching)))

    def _tell_failure(self, watch: Watch[Any]) -> None:
        """Tell of the first of several failures in a row."""
        if watch.health.error is None:
            self._failing.discard(watch)
        elif watch not in self._failing:
            self._failing.add(watch)
            self._tell(watch.health.error)


async def watch(client: Client, wanted: Filter, *, json: bool) -> int:
    """Print changes until told to end, which is status 0; raises ServiceError when nothing can be read at all."""
    failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    begun = False

    def tell(news: News) -> None:
        nonlocal begun
        begun = begun or isinstance(news, Begun)
        try:
            if isinstance(news, ServiceError) and not _passing(news, begun):
                raise news
            _print(news, json=json)
        except (ServiceError, BrokenPipeError) as error:
            if not failed.done():
                failed.set_exception(error)

    async def read() -> None:
        reading = asyncio.create_task(_Watching(client, wanted, tell).run())
        try:
            await asyncio.wait({reading, failed}, return_when=asyncio.FIRST_COMPLETED)
            await (failed if failed.done() else reading)
        finally:
            reading.cancel()
            with suppress(asyncio.CancelledError):
                await reading

    await until_told(read())
    return 0


def _passing(error: ServiceError, begun: bool) -> bool:
    """Whether an error may be over at the next try: not a refused key, and not before anything was read."""
    return begun and error.kind is not ErrorKind.AUTH


def _print(news: News, *, json: bool) -> None:
    """Print a change on standard output, everything else on standard error."""
    if isinstance(news, Begun):
        note(f"watching {news.sandboxes} sandboxes.")
    elif isinstance(news, ServiceError):
        note(f"{words_of(news)} It is tried again.")
    else:
        if json:
            json_line(_plain(news))
        else:
            say(f"{_moment(news)}  {news.id}  {news.before or 'new'} -> {news.after or 'gone'}  {news.cause}")
        sys.stdout.flush()


def _plain(change: StatusChange) -> dict[str, str | None]:
    return {
        "time": _moment(change),
        "id": change.id,
        "from": change.before,
        "to": change.after,
        "cause": change.cause,
        "why": change.why,
    }


def _moment(change: StatusChange) -> str:
    return change.seen_at.isoformat(timespec="seconds").replace("+00:00", "Z")
