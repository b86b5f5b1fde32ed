"""Requests that change something: those not answered yet, and the new row to look for when a response was lost."""

import asyncio
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import Any

from quarterdeck.client.errors import Outcome, ServiceError
from quarterdeck.client.models.conversation import Conversation, StartTask
from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.fleet.watch import Watch

RESPONSE_LOST = frozenset({Outcome.UNKNOWN, Outcome.APPLIED})
"""The outcomes of a request whose response did not arrive or cannot be read."""
LOOKED_FOR = timedelta(minutes=2)
"""How long after a lost response the new row is looked for."""
NAMED_BY_SERVER = timedelta(minutes=2)
"""How long after a conversation came another title is the server's own; later it is somebody's."""


class Writes:
    """Requests that are not answered yet, each with a phrase such as "start of python"."""

    def __init__(self) -> None:
        self.words: list[str] = []
        """The phrases, the oldest first."""
        self._all_answered = asyncio.Event()

    @contextmanager
    def under_way(self, words: str) -> Iterator[None]:
        """Count the request made inside the block as unanswered."""
        self.words.append(words)
        try:
            yield
        finally:
            self.words.remove(words)
            if not self.words:
                self._all_answered.set()

    async def all_answered(self, within: float) -> None:
        """Wait until no request is under way, at most some seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                while self.words:
                    self._all_answered.clear()
                    await self._all_answered.wait()


class Starts:
    """Requested starts of sandboxes and conversations, whose ids are unknown until the server responds."""

    def __init__(self, writes: Writes, clock: Callable[[], datetime]) -> None:
        self._writes = writes
        self._clock = clock
        self.followed: dict[str, str | None] = {}
        """The start tasks created here, each with the failed one that it repeats."""
        self._without_sandbox: set[str] = set()
        """Those whose sandbox is not known yet."""
        self._unanswered = 0
        self._lost: dict[Watch[Any], tuple[frozenset[str] | None, datetime, Callable[[Any], bool]]] = {}
        """Lost responses by the watch of their list: the ids in it at the time of the request, None if not all were
        known, the time, and whether a record may be the one."""

    @property
    def awaited(self) -> bool:
        """Whether a sandbox that appears now may have been requested here."""
        return bool(self._unanswered or self._without_sandbox or self._lost)

    @contextmanager
    def asking(
        self, watch: Watch[Any], words: str, may_be: Callable[[Any], bool] = lambda record: True
    ) -> Iterator[None]:
        """Track the start requested inside the block; `watch` polls the list in which the new row will appear.

        `may_be` tells whether a record of that list can be what was asked for.
        """
        known = None if watch.health.incomplete else frozenset(watch.records)
        self._unanswered += 1
        try:
            with self._writes.under_way(words):
                yield
        except ServiceError as error:
            if error.outcome in RESPONSE_LOST:
                self._lost[watch] = known, self._clock(), may_be
            raise
        finally:
            self._unanswered -= 1

    def created(self, answer: StartTask | Conversation, repeats: str | None = None) -> None:
        """Follow the response to a creation; if it is a start task, its sandbox is not known yet."""
        self.followed[answer.id] = repeats
        if isinstance(answer, StartTask):
            self._without_sandbox.add(answer.id)

    def read(self, records: Iterable[StartTask], going_on: Container[str]) -> list[str | None]:
        """Return the sandboxes made for starts requested here, as now known; None for a task that ended without one."""
        told = [
            record
            for record in records
            if record.id in self._without_sandbox and (record.sandbox_id is not None or record.id not in going_on)
        ]
        self._without_sandbox.difference_update(record.id for record in told)
        return [record.sandbox_id for record in told]

    def find_lost(self, watch: Watch[Any]) -> str | None:
        """Return the id of the only new row that has not failed, whose response was lost; None if there is none."""
        if watch not in self._lost or watch.health.incomplete:
            return None
        known, at, may_be = self._lost[watch]
        rows = watch.records.items()
        new = [
            each
            for each, record in rows
            if known is not None and each not in known and record.status != SandboxStatus.ERROR and may_be(record)
        ]
        if new or self._clock() - at > LOOKED_FOR:
            del self._lost[watch]
        return new[0] if len(new) == 1 else None


class AskedTitles:
    """The titles asked for in creations here.

    Servers give another one at once, and again with the first answer (SERVERS.md: creating a conversation).
    """

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._asked: dict[str, tuple[str, datetime]] = {}
        """By conversation, the title and when it came; empty once nothing more is done about it."""
        self._replaced: dict[str, str | None] = {}
        """The title that was last replaced."""

    def ask(self, conversation_id: str, title: str | None) -> None:
        """Note the title of a conversation that was just created here, if one was asked for."""
        self._asked.setdefault(conversation_id, ((title or "").strip(), self._clock()))

    def settle(self, conversation_id: str) -> None:
        """Leave the title of a conversation alone from now on."""
        self._asked[conversation_id] = "", self._clock()

    def not_given(self, records: Iterable[Conversation]) -> list[tuple[str, str]]:
        """Return the ids and titles of conversations to be renamed, at most twice each."""
        now, found = self._clock(), []
        for record in records:
            title, asked_at = self._asked.get(record.id, ("", now))
            if not title or record.title == title or now - asked_at > NAMED_BY_SERVER:
                continue
            if record.id in self._replaced:
                if record.title == self._replaced[record.id]:
                    continue  # a reading may be older than the renaming
                self.settle(record.id)
            self._replaced[record.id] = record.title
            found.append((record.id, title))
        return found
