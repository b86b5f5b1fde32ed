"""What was asked of a server: what is not answered yet, and what a lost answer would have named."""

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from quarterdeck.client.errors import Outcome
from quarterdeck.fleet.news import About

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


class LostAnswers:
    """Starts and creations of which nobody knows what became: a row that is the only new one can only be it."""

    def __init__(self) -> None:
        self._known: dict[About, tuple[frozenset[str], datetime]] = {}

    def expect(self, about: About, known: frozenset[str] | None, now: datetime) -> None:
        """Look for a row that was not `known` when it was asked for; None says that not all were known then."""
        if known is not None:
            self._known[about] = known, now

    def find(self, about: About, ids: Iterable[str], now: datetime) -> str | None:
        """The row it can only be, once; None while there is none, and where several are new."""
        if about not in self._known:
            return None
        known, at = self._known[about]
        new = [each for each in ids if each not in known]
        if new or now - at > LOOKED_FOR:
            del self._known[about]
        return new[0] if len(new) == 1 else None
