"""What is kept of one sandbox from reading to reading, and what each reading makes of it (DESIGN "The watch").

Servers flap: an idle process sandbox reads STARTING nearly always, and its addresses are left out meanwhile (contract
section e). So one reading is not a state: a sandbox that has run is running until a reading says that it stopped.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

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
from quarterdeck.service.models.enums import SandboxStatus, UrlName

if TYPE_CHECKING:
    from pydantic import SecretStr

    from quarterdeck.service.models.sandbox import ExposedUrl, Sandbox

KNOCK_AFTER = 3
"""Quiet readings after which the agent server itself is asked."""
KNOCK_AGAIN = timedelta(seconds=60)
"""Between two knocks at one agent server."""
STOPPED = frozenset({SandboxStatus.PAUSED, SandboxStatus.ERROR, SandboxStatus.MISSING})


@dataclass(frozen=True, slots=True)
class SandboxMemory:
    """What is kept of one sandbox; times are UTC moments of this machine."""

    status: str
    """The server's last word."""
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
    urls: tuple[ExposedUrl, ...] = ()
    """The addresses last read while it ran."""
    key: SecretStr | None = None
    """The key of its agent server last read while it ran."""

    def state(self, now: datetime) -> SandboxState:
        """What to say of it now."""
        return self.settled if self.asked is None else pending_state(self.settled, self.asked, now)

    def in_transition(self, now: datetime) -> bool:
        """Whether something is under way that is worth reading it often for."""
        return self.asked is not None and now - self.asked.at <= SLOW_AFTER

    @property
    def agent_server(self) -> SecretStr | None:
        """The remembered address of its agent server."""
        return next((exposed.url for exposed in self.urls if exposed.name == UrlName.AGENT_SERVER), None)

    def wants_knock(self, now: datetime) -> bool:
        """Whether its agent server should be asked, because readings alone have been quiet."""
        due = self.knocked_at is None or now - self.knocked_at >= KNOCK_AGAIN
        return self.quiet >= KNOCK_AFTER and due and self.agent_server is not None


def after_reading(
    memory: SandboxMemory | None, record: Sandbox, now: datetime, *, beginning: bool = False
) -> SandboxMemory:
    """Take one reading; gives the same object when it says nothing new.

    `beginning` says that a sandbox read for the first time was not there before, so that its start was seen to begin.
    """
    status = record.status
    before_run = memory is not None and memory.has_run and status not in STOPPED
    has_run = before_run or status == SandboxStatus.RUNNING
    quiet = min(memory.quiet + 1, KNOCK_AFTER) if memory and before_run and status == SandboxStatus.STARTING else 0
    word = StateWord.RUNNING if quiet else WORDS.get(status, status)
    answered = memory.answered if memory and quiet else None
    after = SandboxMemory(
        status=status,
        has_run=has_run,
        settled=settled_state(
            _state_of(memory, word, now, beginning=beginning), quiet=quiet > 0, silent=answered is False
        ),
        asked=_unconfirmed(memory, status, now, has_run=has_run, beginning=beginning),
        quiet=quiet,
        knocked_at=memory.knocked_at if memory and quiet else None,
        answered=answered,
        urls=(record.exposed_urls or (memory.urls if memory else ())) if has_run else (),
        key=(record.session_api_key or (memory.key if memory else None)) if has_run else None,
    )
    return memory if memory == after else after


def after_asking(memory: SandboxMemory, action: Action, now: datetime) -> SandboxMemory:
    """Note that an action is under way; it stays pending until a reading confirms it."""
    return replace(memory, asked=Asked(action, now))


def after_refusal(memory: SandboxMemory) -> SandboxMemory:
    """Note that the action asked for was not done and will not be."""
    return replace(memory, asked=None)


def after_knock(memory: SandboxMemory, *, answered: bool) -> SandboxMemory:
    """Note whether the agent server answered, unless a reading has settled it meanwhile."""
    if not memory.quiet:
        return memory
    return replace(memory, answered=answered, settled=settled_state(memory.settled, quiet=True, silent=not answered))


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
        return replace(asked, action=Action.START) if asked.action is Action.RESUME else asked
    if asked is None or asked.action is Action.START:
        return None
    confirmed = status in STOPPED if asked.action is Action.PAUSE else status != SandboxStatus.PAUSED
    return None if confirmed else asked
