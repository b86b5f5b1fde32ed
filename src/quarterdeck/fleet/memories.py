"""The memories of all sandboxes of one server, by id; the readings update them, the screens read them."""

from collections.abc import Callable, Collection, Iterable
from datetime import datetime, timedelta
from itertools import islice

from pydantic import SecretStr

from quarterdeck.client.models.sandbox import Sandbox
from quarterdeck.fleet.sandbox_state import (
    WORDS,
    Action,
    PendingAction,
    SandboxMemory,
    StateWord,
    after_check,
    after_missing,
    after_reading,
)
from quarterdeck.fleet.timeline import FIRST_SEEN, Timelines

CHECKS = 5
"""How many agent servers are checked at a time."""
WATCHED = timedelta(seconds=10)
"""At most this long after the reading before, a change is seen as it happens; a hidden list is read less often."""


class SandboxMemories:
    """One `SandboxMemory` per id; times are UTC by this machine's clock. Changes are passed on to the timelines."""

    def __init__(self, awaited: Callable[[], bool] = lambda: False) -> None:
        self.timelines = Timelines(awaited)
        self.by_id: dict[str, SandboxMemory] = {}
        """An entry is replaced only if something changed."""
        self._pending: set[str] = set()
        """The few ids with an action under way, which are checked at each reading."""
        self._read_at: dict[str, datetime] = {}
        """When each was last read, the longest ago first."""

    def observe(self, read: Collection[Sandbox], now: datetime, *, beginning: bool) -> frozenset[str]:
        """Apply a reading (`Changes.read`) and return the ids whose memory changed.

        `beginning` means that the whole list was known before (`Changes.all_known`): new ids have just been created.
        """
        news = []
        if read:
            self.timelines.read(now)
        all_read_at = next(iter(self._read_at.values()), now)
        for record in read:
            before = self.by_id.get(record.id) or self._recalled(record, now)
            after = after_reading(before, record, now, beginning=beginning)
            seen_at = self._read_at.pop(record.id, all_read_at)
            self._read_at[record.id] = now
            if self._become(record.id, after, now):
                news.append(record.id)
                if before is not None and before.pending is not None:
                    seen_at = max(seen_at, before.pending.at)
                if after.since == now and now - seen_at > WATCHED:
                    self._keep(record.id, after._replace(exact=False))  # its timeline knows that it is new
        return frozenset(news)

    def _recalled(self, record: Sandbox, now: datetime) -> SandboxMemory | None:
        """Return the state that it was last seen in, if it may still be: one that has run may read STARTING."""
        *_, last = self.timelines.of(record.id) or (None,)
        word = WORDS.get(record.status, record.status)
        if last is None or (last.what, word) not in ((word, word), (StateWord.RUNNING, StateWord.STARTING)):
            return None
        memory = SandboxMemory(record.status, last.what, now, exact=False, recalled=True)
        began = None if last.words == FIRST_SEEN else last.seen_at
        return memory._replace(began=began, has_run=last.what == StateWord.RUNNING)

    def forget(self, ids: Collection[str]) -> None:
        """Drop the memories of removed sandboxes; their timelines are kept for a while."""
        for sandbox_id in ids:
            self.by_id.pop(sandbox_id, None)
            self._read_at.pop(sandbox_id, None)
            self._pending.discard(sandbox_id)
        self.timelines.gone(ids)

    def started(self, record: Sandbox, now: datetime) -> None:
        """Apply the response to a start requested here; it counts as a reading."""
        self._read_at[record.id] = now
        self.observe((record,), now, beginning=True)
        self.timelines.started(record.id)
        memory = self.by_id[record.id]
        if memory.word != StateWord.RUNNING:
            began = memory.pending.at if memory.pending is not None else now
            self._keep(record.id, memory._replace(pending=PendingAction(Action.START, began, answered=True)))

    def asked(self, sandbox_id: str, action: Action, now: datetime) -> None:
        """Note that a pause, resume or deletion is about to be sent."""
        if (memory := self.by_id.get(sandbox_id)) is not None:
            self._keep(sandbox_id, memory._replace(pending=PendingAction(action, now)))

    def answered(self, sandbox_id: str) -> None:
        """Note that the server said it was done."""
        memory = self.by_id.get(sandbox_id)
        if memory is not None and memory.pending is not None:
            self._keep(sandbox_id, memory._replace(pending=memory.pending._replace(answered=True)))

    def refused(self, sandbox_id: str) -> None:
        """Note that the request failed. If its outcome is unknown, do not call this: the readings decide."""
        if (memory := self.by_id.get(sandbox_id)) is not None:
            self._keep(sandbox_id, memory._replace(pending=None))

    def missing(self, sandbox_id: str, now: datetime) -> None:
        """Note that the server answered 404; the sandbox shows as missing until a reading corrects this."""
        self.refused(sandbox_id)
        if (memory := self.by_id.get(sandbox_id)) is not None:
            self._become(sandbox_id, after_missing(memory, now), now)

    def transitional(self, now: datetime) -> frozenset[str]:
        """Return the ids with an action under way, for `Viewport`."""
        return frozenset(each for each in self._pending if self.by_id[each].in_transition(now))

    def take_checks(self, ids: Iterable[str], now: datetime) -> dict[str, SecretStr]:
        """Return agent servers to check among these ids, a few at a time; each then rests for a while."""
        known = ((each, self.by_id.get(each)) for each in ids)
        wanted = dict(islice(((i, memory) for i, memory in known if memory and memory.wants_check(now)), CHECKS))
        for sandbox_id, memory in wanted.items():
            self._keep(sandbox_id, memory._replace(checked_at=now))
        return {each: memory.agent_server for each, memory in wanted.items() if memory.agent_server is not None}

    def checked(self, sandbox_id: str, now: datetime, *, answered: bool) -> bool:
        """Note whether the agent server answered; returns whether that changed anything."""
        memory = self.by_id.get(sandbox_id)
        return memory is not None and self._become(sandbox_id, after_check(memory, now, answered=answered), now)

    def _become(self, sandbox_id: str, after: SandboxMemory, now: datetime) -> bool:
        """Replace a memory and update the timelines; returns whether it changed."""
        before = self.by_id.get(sandbox_id)
        if after is before or after == before:
            return False
        self._keep(sandbox_id, after)
        self.timelines.observe(sandbox_id, before, after, now)
        return True

    def _keep(self, sandbox_id: str, memory: SandboxMemory) -> None:
        self.by_id[sandbox_id] = memory
        if memory.pending is None:
            self._pending.discard(sandbox_id)
        else:
            self._pending.add(sandbox_id)
