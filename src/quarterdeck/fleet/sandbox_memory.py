"""What is kept of one sandbox from reading to reading, and what each reading makes of it (DESIGN "The watch").

Servers flap: an idle process sandbox reads STARTING nearly always, and its addresses are left out meanwhile (contract
section e). So one reading is not a state: a sandbox that has run is running until a reading says that it stopped.
"""

from datetime import datetime, timedelta
from typing import NamedTuple

from pydantic import SecretStr

from quarterdeck.client.models.enums import SandboxStatus, UrlName
from quarterdeck.client.models.sandbox import NO_ACCESS, Access, ExposedUrl, Sandbox
from quarterdeck.fleet.flips import Flip, doubted, quietened
from quarterdeck.fleet.kept_access import another_key, kept_key, kept_urls
from quarterdeck.fleet.sandbox_state import (
    SLOW_AFTER,
    WORDS,
    Action,
    Asked,
    SandboxState,
    StateWord,
    pending_state,
    settled_state,
)

KNOCK_AFTER = 3
"""Quiet readings after which the agent server itself is asked."""
KNOCK_AGAIN = timedelta(seconds=60)
"""Between two knocks at one agent server."""
KNOCK_STARTING_AGAIN = timedelta(seconds=5)
"""The least between two at one that is coming up: the longer that takes, the more lies between them."""
SHARE_OF_STARTING = 4
"""Between two of these lies the time that it has been coming up, divided by this."""
ERRORS_BELIEVED = 3
"""ERROR readings in a row until it counts for one that is starting: a process server says so while it boots."""
HAS_ADDRESS = frozenset({SandboxStatus.STARTING, SandboxStatus.RUNNING, SandboxStatus.PAUSED})
_NOT_THERE = "The server answered that it is not there; the next readings tell."
STOPPED = frozenset({SandboxStatus.PAUSED, SandboxStatus.ERROR, SandboxStatus.MISSING})


class SandboxMemory(NamedTuple):
    """What is kept of one sandbox; times are UTC moments of this machine."""

    status: str
    """The server's last word that was believed."""
    has_run: bool
    """Read as RUNNING, and not as PAUSED, ERROR or MISSING since."""
    settled: SandboxState
    """What the readings alone say."""
    asked: Asked | None = None
    quiet: int = 0
    """STARTING readings in a row of one that has run, counted up to `KNOCK_AFTER`."""
    knocked_at: datetime | None = None
    answered: bool | None = None
    """What the last knock found; None when there was none since it fell quiet."""
    urls_in: Access = NO_ACCESS
    """What told its addresses last while it ran; a pause keeps them, for it may come back there."""
    key_in: Access = NO_ACCESS
    """What told the key of its agent server last while it ran; mostly the same object, and that of the record."""
    errors: int = 0
    """ERROR readings in a row, not believed yet."""
    flip: Flip | None = None
    """What it was before, when nobody here had asked for the change."""
    resumed: bool = False
    """It was paused as it was asked here, and has been resumed since, by somebody else."""

    def state(self, now: datetime) -> SandboxState:
        """What to say of it now."""
        return self.settled if self.asked is None else pending_state(self.settled, self.asked, now)

    def in_transition(self, now: datetime) -> bool:
        """Whether something is under way that is worth reading it often for."""
        return self.asked is not None and now - self.asked.at <= SLOW_AFTER

    @property
    def urls(self) -> tuple[ExposedUrl, ...]:
        """The remembered addresses."""
        return self.urls_in.urls

    @property
    def key(self) -> SecretStr | None:
        """The remembered key of its agent server."""
        return self.key_in.key

    @property
    def agent_server(self) -> SecretStr | None:
        """The remembered address of its agent server."""
        return next((exposed.url for exposed in self.urls if exposed.name == UrlName.AGENT_SERVER), None)

    def wants_knock(self, now: datetime) -> bool:
        """Whether its agent server should be asked, because readings alone have been quiet."""
        if not (self.comes_up or self.quiet >= KNOCK_AFTER):
            return False
        rested = self.knocked_at is None or now - self.knocked_at >= self._knock_rest(now)
        return rested and self.agent_server is not None

    def _knock_rest(self, now: datetime) -> timedelta:
        if not self.comes_up:
            return KNOCK_AGAIN
        return min(max(KNOCK_STARTING_AGAIN, (now - self.settled.since) / SHARE_OF_STARTING), KNOCK_AGAIN)

    @property
    def comes_up(self) -> bool:
        """Whether it reads as starting and has not been read as running since it stopped."""
        return self.status == SandboxStatus.STARTING and not self.has_run


def after_reading(
    memory: SandboxMemory | None, record: Sandbox, now: datetime, *, beginning: bool = False
) -> SandboxMemory:
    """Take one reading; gives the same object when it says nothing new.

    `beginning` says that a sandbox read for the first time was not there before, so that its start was seen to begin.
    """
    if memory is not None and says_the_same(memory, record):
        return memory
    errors = _errors(memory, record.status, beginning=beginning)
    status = SandboxStatus.STARTING if 0 < errors < ERRORS_BELIEVED else record.status
    before_run = memory is not None and memory.has_run and status not in STOPPED
    has_run = before_run or status == SandboxStatus.RUNNING
    quiet = min(memory.quiet + 1, KNOCK_AFTER) if memory and before_run and status == SandboxStatus.STARTING else 0
    word = StateWord.RUNNING if quiet else WORDS.get(status, status)
    if memory is not None and (flip := _doubted(memory, word, now)) is not None:
        return memory._replace(flip=flip)
    answered = memory.answered if memory and quiet else None
    urls_in, key_in = (memory.urls_in, memory.key_in) if memory else (record.access, record.access)
    resumed = memory is not None and status not in STOPPED and (memory.resumed or _resumed(memory, record))
    after = SandboxMemory(
        status=record.status,
        has_run=has_run,
        settled=settled_state(
            _state_of(memory, word, now, beginning=beginning), quiet=quiet > 0, silent=answered is False
        ),
        asked=None if resumed else _unconfirmed(memory, status, now, has_run=has_run, beginning=beginning),
        quiet=quiet,
        knocked_at=memory.knocked_at if memory and status == SandboxStatus.STARTING else None,
        answered=answered,
        urls_in=kept_urls(urls_in, record.access) if status in HAS_ADDRESS else NO_ACCESS,
        key_in=kept_key(key_in, record.access) if has_run else NO_ACCESS,
        errors=errors,
        flip=_flip(memory, word, now),
        resumed=resumed,
    )
    return memory if memory == after else after


def after_asking(memory: SandboxMemory, action: Action, now: datetime) -> SandboxMemory:
    """Note that an action is under way; it stays pending until a reading confirms it."""
    return memory._replace(asked=Asked(action, now), resumed=False)


def after_refusal(memory: SandboxMemory) -> SandboxMemory:
    """Note that the action asked for was not done and will not be."""
    return memory._replace(asked=None)


def after_answer(memory: SandboxMemory) -> SandboxMemory:
    """Note that the server said it did what was asked."""
    return memory if memory.asked is None else memory._replace(asked=memory.asked._replace(answered=True))


def after_missing(memory: SandboxMemory, now: datetime) -> SandboxMemory:
    """Note that the server said that it is not there, when something was asked of it; a reading may know better."""
    if memory.settled.word == StateWord.MISSING:
        return memory
    missing = SandboxState(StateWord.MISSING, now, exact=True, words=StateWord.MISSING, note=_NOT_THERE)
    return memory._replace(settled=missing, asked=None, quiet=0, flip=Flip(memory.settled.word, now))


def after_knock(memory: SandboxMemory, now: datetime, *, answered: bool) -> SandboxMemory:
    """Note whether the agent server answered, unless a reading settled it meanwhile; one that comes up runs then."""
    if memory.comes_up and answered:
        running = settled_state(_state_of(memory, StateWord.RUNNING, now, beginning=True), quiet=True, silent=False)
        return memory._replace(has_run=True, quiet=1, answered=True, asked=None, settled=running)
    if not memory.quiet:
        return memory
    return memory._replace(answered=answered, settled=settled_state(memory.settled, quiet=True, silent=not answered))


def says_the_same(memory: SandboxMemory, record: Sandbox) -> bool:
    """Whether one more reading like the last one makes no difference; a quick look, for lists of thousands."""
    status = record.status
    return (
        memory.status == status
        and memory.asked is None
        and not memory.errors
        and (memory.quiet == KNOCK_AFTER or (not memory.quiet and memory.settled.word == WORDS.get(status, status)))
        and (memory.flip is None or not memory.flip.again)
        and (status not in HAS_ADDRESS or kept_urls(memory.urls_in, record.access) == memory.urls_in)
        and (not memory.has_run or kept_key(memory.key_in, record.access) == memory.key_in)
    )


def _doubted(memory: SandboxMemory, word: str, now: datetime) -> Flip | None:
    """What to remember in place of a change that is not believed; what was asked for here is never doubted."""
    if memory.asked is not None or word == memory.settled.word:
        return None
    return doubted(memory.flip, word, now)


def _flip(memory: SandboxMemory | None, word: str, now: datetime) -> Flip | None:
    """What it was before, after a reading that is believed; a way back from a word nobody knows is no flip."""
    if memory is None or memory.asked is not None:
        return None
    if word == memory.settled.word:
        return quietened(memory.flip)
    return Flip(memory.settled.word, now) if word in WORDS.values() else None


def _resumed(memory: SandboxMemory, record: Sandbox) -> bool:
    """Whether it was paused and resumed between two readings: some servers give a new key then (reliability.md 1.1)."""
    pausing = memory.asked is not None and memory.asked.action is Action.PAUSE
    return pausing and another_key(memory.key_in, record.access)


def _errors(memory: SandboxMemory | None, status: str, *, beginning: bool) -> int:
    """ERROR readings in a row, this one included, while it is starting; else none."""
    if status != SandboxStatus.ERROR:
        return 0
    if memory is None:
        return int(beginning)
    if memory.errors:
        return min(memory.errors + 1, ERRORS_BELIEVED)
    return int(memory.asked is not None and (memory.asked.action is not Action.PAUSE or memory.comes_up))


def _state_of(memory: SandboxMemory | None, word: str, now: datetime, *, beginning: bool) -> SandboxState:
    """The state of that word: the one that lasts, or a new one.

    A new one was seen to begin, but for one that was starting without having been seen to start: it may have run, idle.
    """
    if memory is None:
        return SandboxState(word, now, exact=beginning, words=word)
    if word == memory.settled.word:
        return memory.settled
    hidden = word == StateWord.RUNNING and memory.settled.word == StateWord.STARTING and memory.asked is None
    return SandboxState(word, now, exact=not hidden, words=word)


def _unconfirmed(
    memory: SandboxMemory | None, status: str, now: datetime, *, has_run: bool, beginning: bool
) -> Asked | None:
    """What is still under way after this reading; a start that was seen to begin counts as asked for."""
    asked = memory.asked if memory else None
    if status == SandboxStatus.STARTING and not has_run:
        if asked is None:
            begins = beginning if memory is None else memory.status in STOPPED
            return Asked(Action.START, now) if begins else None
        return asked._replace(action=Action.START) if asked.action is Action.RESUME else asked
    if asked is None or asked.action is Action.START:
        return None
    confirmed = status in STOPPED if asked.action is Action.PAUSE else status != SandboxStatus.PAUSED
    return None if confirmed else asked
