"""The memories of all sandboxes of one server, by id: fed by the watch, asked by the screens."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

from quarterdeck.client.models.sandbox import Sandbox
from quarterdeck.fleet.sandbox_state import (
    SLOW_AFTER,
    Action,
    Asked,
    SandboxMemory,
    after_check,
    after_missing,
    after_reading,
)
from quarterdeck.fleet.timeline import Timelines


class SandboxMemories:
    """One `SandboxMemory` an id; times are UTC moments of this machine.

    What changes, and what is asked for, is told to the timelines.
    """

    def __init__(self) -> None:
        self.timelines = Timelines()
        self._by_id: dict[str, SandboxMemory] = {}
        self._pending: set[str] = set()
        """Of which something is asked: they are few, and looked through at each reading."""
        self._doubtful: dict[str, datetime] = {}
        """Those that only an answer has called gone, and since when: the next readings tell."""

    @property
    def by_id(self) -> Mapping[str, SandboxMemory]:
        """The memories; an entry is replaced only when there is something new."""
        return self._by_id

    def observe(self, read: Iterable[Sandbox], now: datetime, *, beginning: bool) -> frozenset[str]:
        """Take a reading (`Changes.read`) and give the ids of which there is something new to say.

        `beginning` says that the whole list was known before (`Changes.all_known`): what is new has just begun.
        """
        news = []
        for record in read:
            self.timelines.read(now)
            before = self._by_id.get(record.id)
            after = after_reading(before, record, now, beginning=beginning)
            if after is not before:
                self._keep(record.id, after)
                self.timelines.observe(record.id, before, after, now)
                news.append(record.id)
        return frozenset(news)

    def forget(self, ids: Collection[str]) -> None:
        """Drop what is kept of sandboxes that are gone; their timelines stay for a while."""
        for sandbox_id in ids:
            self._by_id.pop(sandbox_id, None)
            self._pending.discard(sandbox_id)
            self._doubtful.pop(sandbox_id, None)
        self.timelines.gone(ids)

    def started(self, record: Sandbox, now: datetime) -> None:
        """Take the answer to a start that was asked for here; it counts as a reading."""
        self.timelines.asked(record.id, Action.START, now)
        self.observe((record,), now, beginning=True)
        self.answered(record.id)

    def asked(self, sandbox_id: str, action: Action, now: datetime) -> None:
        """Note that a pause, resume or deletion is about to be sent."""
        if (memory := self._by_id.get(sandbox_id)) is not None:
            self._keep(sandbox_id, memory._replace(asked=Asked(action, now), resumed=False))
            self.timelines.asked(sandbox_id, action, now)

    def answered(self, sandbox_id: str) -> None:
        """Note that the server said it did it."""
        memory = self._by_id.get(sandbox_id)
        if memory is not None and memory.asked is not None:
            self._keep(sandbox_id, memory._replace(asked=memory.asked._replace(answered=True)))

    def refused(self, sandbox_id: str) -> None:
        """Note that it was not done. Of an unknown outcome note nothing: the readings decide."""
        if (memory := self._by_id.get(sandbox_id)) is not None:
            self._keep(sandbox_id, memory._replace(asked=None))
            self.timelines.refused(sandbox_id)

    def missing(self, sandbox_id: str, now: datetime) -> None:
        """Note that the server answered that it is not there; it shows as missing until a reading says otherwise."""
        self.refused(sandbox_id)
        if (memory := self._by_id.get(sandbox_id)) is not None:
            self._doubtful[sandbox_id] = now
            after = after_missing(memory, now)
            self._keep(sandbox_id, after)
            self.timelines.observe(sandbox_id, memory, after, now)

    def transitional(self, now: datetime) -> frozenset[str]:
        """Which ids have something under way, for `Watch.look`."""
        self._doubtful = {i: at for i, at in self._doubtful.items() if now - at <= SLOW_AFTER}
        return frozenset(i for i in self._pending if self._by_id[i].in_transition(now)) | self._doubtful.keys()

    def take_checks(self, ids: Iterable[str], now: datetime) -> tuple[str, ...]:
        """Hand out whose agent servers to ask whether they are alive, of these (the visible ones); each rests then.

        They are all that were not asked yet, and of the others the one that has waited longest.
        """
        wanted = {i: known for i in ids if (known := self._by_id.get(i)) is not None and known.wants_check(now)}
        again = [(known.checked_at, i) for i, known in wanted.items() if known.checked_at is not None]
        for _, sandbox_id in sorted(again)[1:]:
            del wanted[sandbox_id]
        for sandbox_id, known in wanted.items():
            self._keep(sandbox_id, known._replace(checked_at=now))
        return tuple(wanted)

    def checked(self, sandbox_id: str, now: datetime, *, answered: bool) -> bool:
        """Note whether it answered; whether that is new."""
        memory = self._by_id.get(sandbox_id)
        if memory is None or (after := after_check(memory, now, answered=answered)) == memory:
            return False
        self._keep(sandbox_id, after)
        self.timelines.observe(sandbox_id, memory, after, now)
        return True

    def _keep(self, sandbox_id: str, memory: SandboxMemory) -> None:
        self._by_id[sandbox_id] = memory
        if memory.asked is None:
            self._pending.discard(sandbox_id)
        else:
            self._pending.add(sandbox_id)
