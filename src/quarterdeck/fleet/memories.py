"""The memories of all sandboxes of one server, by id: fed by the watch, asked by the screens."""

from collections.abc import Callable, Collection, Iterable
from datetime import datetime
from itertools import islice

from pydantic import SecretStr

from quarterdeck.client.models.sandbox import Sandbox
from quarterdeck.fleet.sandbox_state import (
    Action,
    Asked,
    SandboxMemory,
    StateWord,
    after_check,
    after_missing,
    after_reading,
)
from quarterdeck.fleet.timeline import Timelines

CHECKS = 5
"""Agent servers that are asked at a time whether they are alive."""


class SandboxMemories:
    """One `SandboxMemory` an id; times are UTC moments of this machine. What changes is told to the timelines."""

    def __init__(self, awaited: Callable[[], bool] = lambda: False) -> None:
        self.timelines = Timelines(awaited)
        self.by_id: dict[str, SandboxMemory] = {}
        """An entry is replaced only when there is something new."""
        self._pending: set[str] = set()
        """Of which something is asked: they are few, and looked through at each reading."""

    def observe(self, read: Collection[Sandbox], now: datetime, *, beginning: bool) -> frozenset[str]:
        """Take a reading (`Changes.read`) and give the ids of which there is something new to say.

        `beginning` says that the whole list was known before (`Changes.all_known`): what is new has just begun.
        """
        news = []
        if read:
            self.timelines.read(now)
        for record in read:
            after = after_reading(self.by_id.get(record.id), record, now, beginning=beginning)
            if self._become(record.id, after, now):
                news.append(record.id)
        return frozenset(news)

    def forget(self, ids: Collection[str]) -> None:
        """Drop what is kept of sandboxes that are gone; their timelines stay for a while."""
        for sandbox_id in ids:
            self.by_id.pop(sandbox_id, None)
            self._pending.discard(sandbox_id)
        self.timelines.gone(ids)

    def started(self, record: Sandbox, now: datetime) -> None:
        """Take the answer to a start that was asked for here; it counts as a reading."""
        self.observe((record,), now, beginning=True)
        self.timelines.started(record.id)
        memory = self.by_id[record.id]
        if memory.settled.word != StateWord.RUNNING:
            self._keep(record.id, memory._replace(asked=Asked(Action.START, now, answered=True)))

    def asked(self, sandbox_id: str, action: Action, now: datetime) -> None:
        """Note that a pause, resume or deletion is about to be sent."""
        if (memory := self.by_id.get(sandbox_id)) is not None:
            self._keep(sandbox_id, memory._replace(asked=Asked(action, now)))

    def answered(self, sandbox_id: str) -> None:
        """Note that the server said it did it."""
        memory = self.by_id.get(sandbox_id)
        if memory is not None and memory.asked is not None:
            self._keep(sandbox_id, memory._replace(asked=memory.asked._replace(answered=True)))

    def refused(self, sandbox_id: str) -> None:
        """Note that it was not done. Of an unknown outcome note nothing: the readings decide."""
        if (memory := self.by_id.get(sandbox_id)) is not None:
            self._keep(sandbox_id, memory._replace(asked=None))

    def missing(self, sandbox_id: str, now: datetime) -> None:
        """Note that the server answered that it is not there; it shows as missing until a reading says otherwise."""
        self.refused(sandbox_id)
        if (memory := self.by_id.get(sandbox_id)) is not None:
            self._become(sandbox_id, after_missing(memory, now), now)

    def transitional(self, now: datetime) -> frozenset[str]:
        """Which ids have something under way, for `Watch.look`."""
        return frozenset(each for each in self._pending if self.by_id[each].in_transition(now))

    def take_checks(self, ids: Iterable[str], now: datetime) -> dict[str, SecretStr]:
        """Hand out some agent servers of the visible ones, to ask whether they are alive; each rests then."""
        known = ((each, self.by_id.get(each)) for each in ids)
        wanted = dict(islice(((i, memory) for i, memory in known if memory and memory.wants_check(now)), CHECKS))
        for sandbox_id, memory in wanted.items():
            self._keep(sandbox_id, memory._replace(checked_at=now))
        return {each: memory.agent_server for each, memory in wanted.items() if memory.agent_server is not None}

    def checked(self, sandbox_id: str, now: datetime, *, answered: bool) -> bool:
        """Note whether it answered; whether that is new."""
        memory = self.by_id.get(sandbox_id)
        return memory is not None and self._become(sandbox_id, after_check(memory, now, answered=answered), now)

    def _become(self, sandbox_id: str, after: SandboxMemory, now: datetime) -> bool:
        """Replace a memory, and tell the timelines; whether it is another one."""
        before = self.by_id.get(sandbox_id)
        if after is before or after == before:
            return False
        self._keep(sandbox_id, after)
        self.timelines.observe(sandbox_id, before, after, now)
        return True

    def _keep(self, sandbox_id: str, memory: SandboxMemory) -> None:
        self.by_id[sandbox_id] = memory
        if memory.asked is None:
            self._pending.discard(sandbox_id)
        else:
            self._pending.add(sandbox_id)
