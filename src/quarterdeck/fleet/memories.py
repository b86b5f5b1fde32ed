"""The memories of all sandboxes of one server, by id: fed by the watch, asked by the screens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from quarterdeck.fleet.sandbox_memory import (
    SandboxMemory,
    after_answer,
    after_asking,
    after_knock,
    after_reading,
    after_refusal,
)
from quarterdeck.fleet.sandbox_state import Action

if TYPE_CHECKING:
    from quarterdeck.service.models.sandbox import Sandbox


class SandboxMemories:
    """One `SandboxMemory` an id; times are UTC moments of this machine."""

    def __init__(self) -> None:
        self._by_id: dict[str, SandboxMemory] = {}

    @property
    def by_id(self) -> Mapping[str, SandboxMemory]:
        """The memories; an entry is replaced only when there is something new."""
        return self._by_id

    def observe(self, read: Iterable[Sandbox], now: datetime, *, beginning: bool) -> frozenset[str]:
        """Take a reading (`Changes.read`) and give the ids of which there is something new to say.

        `beginning` says that the whole list was known before (`not Health.incomplete`): what is new has just begun.
        """
        news = set()
        for record in read:
            before = self._by_id.get(record.id)
            after = after_reading(before, record, now, beginning=beginning)
            if after is not before:
                self._by_id[record.id] = after
                news.add(record.id)
        return frozenset(news)

    def forget(self, ids: Iterable[str]) -> None:
        """Drop what is kept of sandboxes that are gone."""
        for sandbox_id in ids:
            self._by_id.pop(sandbox_id, None)

    def started(self, record: Sandbox, now: datetime) -> None:
        """Take the answer to a start that was asked for here; it counts as a reading."""
        self.observe((record,), now, beginning=True)
        self.answered(record.id)

    def asked(self, sandbox_id: str, action: Action, now: datetime) -> None:
        """Note that a pause or resume is about to be sent."""
        if (memory := self._by_id.get(sandbox_id)) is not None:
            self._by_id[sandbox_id] = after_asking(memory, action, now)

    def answered(self, sandbox_id: str) -> None:
        """Note that the server said it did it."""
        if (memory := self._by_id.get(sandbox_id)) is not None:
            self._by_id[sandbox_id] = after_answer(memory)

    def refused(self, sandbox_id: str) -> None:
        """Note that it was not done. Of an unknown outcome note nothing: the readings decide."""
        if (memory := self._by_id.get(sandbox_id)) is not None:
            self._by_id[sandbox_id] = after_refusal(memory)

    def transitional(self, now: datetime) -> frozenset[str]:
        """Which ids have something under way, for `Watch.look`."""
        return frozenset(i for i, memory in self._by_id.items() if memory.in_transition(now))

    def take_knocks(self, ids: Iterable[str], now: datetime) -> tuple[str, ...]:
        """Hand out which of these (the visible ones) to knock at now; each rests for a while then."""
        wanted = tuple(i for i in ids if (memory := self._by_id.get(i)) is not None and memory.wants_knock(now))
        for sandbox_id in wanted:
            self._by_id[sandbox_id] = replace(self._by_id[sandbox_id], knocked_at=now)
        return wanted

    def knocked(self, sandbox_id: str, now: datetime, *, answered: bool) -> None:
        """Note what a knock found."""
        if (memory := self._by_id.get(sandbox_id)) is not None:
            self._by_id[sandbox_id] = after_knock(memory, now, answered=answered)
