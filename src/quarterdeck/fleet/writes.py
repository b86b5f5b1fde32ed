"""What was asked of a server: what is not answered yet, and the row that a lost answer would have named."""

import asyncio
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from quarterdeck.client.errors import Outcome, ServiceError
from quarterdeck.client.models.conversation import Conversation, StartTask
from quarterdeck.fleet.news import About
from quarterdeck.fleet.watch import Watch

LOST = frozenset({Outcome.UNKNOWN, Outcome.APPLIED})
"""What is known of a request whose answer did not come, or cannot be read."""
LOOKED_FOR = timedelta(minutes=2)
"""How long after a lost answer the row it would have named is looked for."""


class Writes:
    """What was asked of the server and is not answered yet, a phrase each such as "start of python"."""

    def __init__(self) -> None:
        self._words: list[str] = []
        self._all_answered = asyncio.Event()

    @property
    def words(self) -> tuple[str, ...]:
        """All of them, the oldest first."""
        return tuple(self._words)

    @contextmanager
    def under_way(self, words: str) -> Iterator[None]:
        """Count what is asked of the server inside."""
        self._words.append(words)
        try:
            yield
        finally:
            self._words.remove(words)
            if not self._words:
                self._all_answered.set()

    async def all_answered(self) -> None:
        """Wait until none is under way."""
        while self._words:
            self._all_answered.clear()
            await self._all_answered.wait()


class Starts:
    """Starts of sandboxes and conversations, which have no id before they are answered."""

    def __init__(self, writes: Writes, clock: Callable[[], datetime]) -> None:
        self._writes = writes
        self._clock = clock
        self.followed: set[str] = set()
        """Start tasks created here."""
        self._without_sandbox: set[str] = set()
        """Those of them whose sandbox is not known yet."""
        self._unanswered = 0
        self._lost: dict[About, tuple[frozenset[str] | None, datetime]] = {}
        """What was listed when something was asked for whose answer is lost, if all was known, and when that was."""

    @property
    def awaited(self) -> bool:
        """Whether a sandbox that appears now may be what was asked for here."""
        return bool(self._unanswered or self._without_sandbox or self._lost)

    @contextmanager
    def asking(self, about: About, watch: Watch[Any], words: str) -> Iterator[None]:
        """Ask for one inside; `watch` reads the list in which it will stand."""
        known = None if watch.health.incomplete else frozenset(watch.records)
        self._unanswered += 1
        try:
            with self._writes.under_way(words):
                yield
        except ServiceError as error:
            if error.outcome in LOST:
                self._lost[about] = known, self._clock()
            raise
        finally:
            self._unanswered -= 1

    def created(self, answer: StartTask | Conversation) -> None:
        """Follow what a creation was answered with; its sandbox is still to come where that is a task."""
        self.followed.add(answer.id)
        if isinstance(answer, StartTask):
            self._without_sandbox.add(answer.id)

    def read(self, records: Iterable[StartTask], going_on: Container[str]) -> list[str | None]:
        """The sandboxes made for what was created here, as their tasks tell now; None for one that ended without."""
        told = [
            record
            for record in records
            if record.id in self._without_sandbox and (record.sandbox_id is not None or record.id not in going_on)
        ]
        self._without_sandbox.difference_update(record.id for record in told)
        return [record.sandbox_id for record in told]

    def find_lost(self, about: About, watch: Watch[Any]) -> str | None:
        """The row that can only be what a lost answer would have named: it is the only new one."""
        if about not in self._lost or watch.health.incomplete:
            return None
        known, at = self._lost[about]
        new = [each for each in watch.records if each not in known] if known is not None else []
        if new or self._clock() - at > LOOKED_FOR:
            del self._lost[about]
        return new[0] if len(new) == 1 else None
