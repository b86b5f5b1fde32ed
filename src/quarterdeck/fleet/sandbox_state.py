"""The state of a sandbox, derived from its readings, and which commands apply to it.

Servers flap: an idle process sandbox nearly always reads STARTING, without its addresses and key (SERVERS.md: readings
that flap). So one reading does not decide the state: a sandbox that has run counts as running until a reading says that
it stopped. All times are UTC by this machine's clock.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from pydantic import SecretStr

from quarterdeck.client.models.enums import SandboxStatus, UrlName
from quarterdeck.client.models.sandbox import ExposedUrl, Sandbox
from quarterdeck.fleet.ages import age_of, at_least, calm_age, stopwatch

SLOW_AFTER = timedelta(seconds=120)
"""How long servers allow for a start; a longer one is called slow and is no longer polled often."""
PAUSED_BY = timedelta(seconds=60)
"""After this time a pause that no reading confirmed is no longer shown as under way; servers respond before it is done.
"""
ERRORS_BELIEVED = 3
"""How many ERROR readings in a row are needed for a sandbox that is starting: a process server reports ERROR at boot.
"""
BOOTED_WITHIN = timedelta(seconds=30)
"""How long after the beginning of a start or resume an error is not believed: process servers give up a boot then."""
FLIPS = timedelta(seconds=30)
"""For this long after a change, a reading that returns to the old state counts only if it comes twice in a row."""
CHECK_AFTER = 3
"""How many idle readings in a row it takes until the agent server itself is asked whether it is alive."""
CHECK_AGAIN = timedelta(seconds=60)
"""Time between two such checks."""
CHECK_STARTING_AGAIN = timedelta(seconds=5)
"""Time between two checks of a sandbox that is starting, until its start is slow."""


class StateWord(StrEnum):
    """The status words of a sandbox; a server's unknown word is shown as it came."""

    RUNNING = "Running"
    STARTING = "Starting"
    RESUMING = "Resuming"
    PAUSING = "Pausing"
    PAUSED = "Paused"
    ERROR = "Error"
    MISSING = "Missing"


WORDS: dict[str, StateWord] = {status: StateWord(status.title()) for status in SandboxStatus}
UP = frozenset({StateWord.RUNNING, StateWord.STARTING})
"""States in which a sandbox uses resources, whether it does anything or not."""
IN_PASSING = frozenset({StateWord.STARTING, StateWord.PAUSING, StateWord.RESUMING})
"""States that should last only briefly; their age is shown in seconds."""
_KNOWN: dict[str, StateWord] = {word.value: word for word in StateWord}
_HAS_ADDRESS = frozenset({SandboxStatus.STARTING, SandboxStatus.RUNNING, SandboxStatus.PAUSED})
_STOPPED = frozenset({SandboxStatus.PAUSED, SandboxStatus.ERROR, SandboxStatus.MISSING})


class Action(StrEnum):
    """What can be requested of a sandbox and takes time."""

    START = "start"
    PAUSE = "pause"
    RESUME = "resume"
    DELETE = "deletion"

    @property
    def verb(self) -> str:
        """The verb for commands and messages."""
        return self.name.capitalize()


DONE_IN = {
    Action.START: UP,
    Action.PAUSE: frozenset({StateWord.PAUSED}),
    Action.RESUME: UP,
    Action.DELETE: frozenset({StateWord.MISSING}),
}
"""The states that prove that an action was done."""


class PendingAction(NamedTuple):
    """An action that is under way and not yet confirmed by a reading."""

    action: Action
    at: datetime
    answered: bool = False
    """The server responded that it was done; only a reading proves it."""
    here: bool = True
    """It was requested by this deck, not only observed."""

    @property
    def overdue_at(self) -> datetime:
        """When it should have been confirmed by a reading."""
        return self.at + (PAUSED_BY if self.action is Action.PAUSE else SLOW_AFTER)


class SandboxState(NamedTuple):
    """The state to show for a sandbox."""

    word: str
    """A `StateWord`, or the server's own word if it is unknown."""
    since: datetime
    exact: bool
    """Whether the beginning of the state was observed; otherwise the state may be older than `since`."""
    longer: str = ""
    """A longer form for lists: "Running, no answer", "Starting slow 2:10", "still Running"."""
    note: str = ""
    """A sentence for the detail pane."""
    slow: bool = False
    """It has been starting for longer than servers allow."""
    silent: bool = False
    """It reads as running, but its agent server does not answer."""

    @property
    def known(self) -> StateWord | None:
        """The `StateWord`, None for a server's unknown word."""
        return _KNOWN.get(self.word)

    @property
    def words(self) -> str:
        """The words for a list."""
        return self.longer or self.word

    def lasted(self, now: datetime) -> str:
        """How long it has been in this state, with "≥" if the beginning was not observed."""
        age = age_of(self.since, now) if self.known in IN_PASSING else calm_age(self.since, now)
        return age if self.exact else at_least(age)


class PreviousState(NamedTuple):
    """The state of a sandbox before a change that this deck had not requested."""

    word: str
    at: datetime
    """When the state ended, or was last read again without being believed."""


class SandboxMemory(NamedTuple):
    """What is remembered of one sandbox between readings."""

    status: str
    """The status in the last reading."""
    word: str
    """The state according to the readings alone: a `StateWord`, or the server's own word if it is unknown."""
    since: datetime
    exact: bool
    """Whether the beginning of the state was observed."""
    began: datetime | None = None
    """When an earlier run saw the state begin; it may have begun anew since."""
    recalled: bool = False
    """Whether only an earlier run knows anything of when it began."""
    has_run: bool = False
    """It was read as RUNNING, and since then not as PAUSED, ERROR or MISSING."""
    pending: PendingAction | None = None
    idle_readings: int = 0
    """Number of STARTING readings in a row since it has run, at most `CHECK_AFTER`."""
    checked_at: datetime | None = None
    answered: bool | None = None
    """Whether its agent server answered the last check; None if there was no check since it reads as idle."""
    urls: tuple[ExposedUrl, ...] = ()
    """Its addresses, as last read while it was up; kept during a pause, because they may be the same afterwards."""
    key: SecretStr | None = None
    """The key of its agent server, as last read since it runs."""
    previous: PreviousState | None = None
    doubted: str = ""
    """A new word that is not believed yet."""
    doubts: int = 0
    """Number of readings in a row that have had this word."""

    def state(self, now: datetime) -> SandboxState:
        """Return the state to show now."""
        return self._read if self.pending is None else _under_way(self._read, self.pending, now)

    def changes_at(self, now: datetime) -> datetime | None:
        """Return when the state changes although nothing was read, None if it does not."""
        return self.pending.overdue_at if self.pending is not None and self.pending.overdue_at >= now else None

    @property
    def _read(self) -> SandboxState:
        """The state according to the readings alone, with note and longer form."""
        state = SandboxState(self.word, self.since, self.exact)
        if self.idle_readings and self.answered is False:
            note = "Its agent server did not answer at its last known address."
            return state._replace(longer=f"{self.word}, no answer", note=note, silent=True)
        if self.idle_readings:
            return state._replace(note=_IDLE)
        if self.word == StateWord.MISSING and self.status != SandboxStatus.MISSING:
            return state._replace(note="The server answered that it is not there; the next reading tells.")
        return state

    def in_transition(self, now: datetime) -> bool:
        """Whether an action is under way that justifies frequent polling."""
        return self.pending is not None and now - self.pending.at <= SLOW_AFTER

    @property
    def agent_server(self) -> SecretStr | None:
        """The remembered address of its agent server."""
        return next((exposed.url for exposed in self.urls if exposed.name == UrlName.AGENT_SERVER), None)

    @property
    def comes_up(self) -> bool:
        """Whether it reads as starting and has not run since it last stopped."""
        return self.status == SandboxStatus.STARTING and not self.has_run

    def wants_check(self, now: datetime) -> bool:
        """Whether its agent server should be asked whether it is alive, because readings alone do not tell."""
        if self.agent_server is None or not (self.comes_up or self.idle_readings >= CHECK_AFTER):
            return False
        rest = CHECK_STARTING_AGAIN if self.comes_up and self.in_transition(now) else CHECK_AGAIN
        return self.checked_at is None or now - self.checked_at >= rest


# Applying a reading


def after_reading(memory: SandboxMemory | None, record: Sandbox, now: datetime, *, beginning: bool) -> SandboxMemory:
    """Return the memory after one reading, or the same object if nothing changed.

    `beginning` means that a sandbox read for the first time did not exist before, so that its start was observed.
    """
    status = record.status
    if memory is None:
        memory = _before_any_reading(status, now, beginning=beginning)
    idle = memory.has_run and status == SandboxStatus.STARTING
    word = StateWord.RUNNING if idle else WORDS.get(status, status)
    doubts = memory.doubts + 1 if memory.doubted == word else 1
    if doubts < _needed(memory, word, now):
        return memory._replace(
            previous=memory.previous and memory.previous._replace(at=now), doubted=word, doubts=doubts
        )
    has_run = status == SandboxStatus.RUNNING or (memory.has_run and status not in _STOPPED)
    after = _settled(memory, word, now)._replace(
        status=status,
        has_run=has_run,
        pending=_unconfirmed(memory, status, now, has_run=has_run),
        idle_readings=min(memory.idle_readings + 1, CHECK_AFTER) if idle else 0,
        checked_at=memory.checked_at if status == SandboxStatus.STARTING else None,
        answered=memory.answered if idle else None,
        urls=(record.exposed_urls or memory.urls) if status in _HAS_ADDRESS else (),
        key=(record.session_api_key or memory.key) if has_run else None,
        previous=_previous(memory, word, now),
        doubted="",
        doubts=0,
    )
    return memory if memory == after else after


def _before_any_reading(status: str, now: datetime, *, beginning: bool) -> SandboxMemory:
    """Return the memory before a sandbox's first reading; if it is new, it counts as starting."""
    word = WORDS.get(status, status)
    if beginning and word in (StateWord.STARTING, StateWord.ERROR):
        start = PendingAction(Action.START, now, here=False)
        return SandboxMemory(SandboxStatus.STARTING, StateWord.STARTING, now, exact=True, pending=start)
    return SandboxMemory(status, word, now, exact=beginning)


def after_missing(memory: SandboxMemory, now: datetime) -> SandboxMemory:
    """Note that the server answered 404 for it; the next reading may correct this."""
    return _settled(memory, StateWord.MISSING, now)._replace(pending=None, idle_readings=0, previous=None)


def after_check(memory: SandboxMemory, now: datetime, *, answered: bool) -> SandboxMemory:
    """Note whether the agent server answered, unless a reading came first; if a starting one answers, it runs."""
    if memory.comes_up and answered:
        running = _settled(memory, StateWord.RUNNING, now)
        return running._replace(has_run=True, idle_readings=1, answered=True, pending=None)
    return memory._replace(answered=answered) if memory.idle_readings else memory


def _needed(memory: SandboxMemory, word: str, now: datetime) -> int:
    """Return how many readings in a row are needed to believe a word; results of our own requests mostly need one."""
    if word == memory.word:
        return 1
    if memory.pending is not None:
        if word != StateWord.ERROR or memory.pending.action is Action.DELETE:
            return 1
        if memory.pending.action is Action.PAUSE:
            return 2  # a process that just stopped may read so once (SERVERS.md: pausing and resuming)
        return ERRORS_BELIEVED if now - memory.pending.at >= BOOTED_WITHIN else memory.doubts + 2  # not by this one
    flips = memory.previous is not None and word == memory.previous.word and now - memory.previous.at < FLIPS
    return 2 if flips else 1


def _previous(memory: SandboxMemory, word: str, now: datetime) -> PreviousState | None:
    """Return the state it left, after a believed reading; a return from an unknown word is not a flip."""
    if memory.pending is not None:
        return None
    if word == memory.word:
        return memory.previous
    return PreviousState(memory.word, now) if word in _KNOWN else None


def _settled(memory: SandboxMemory, word: str, now: datetime) -> SandboxMemory:
    """Return the memory with the state for a word, which is new unless the word is the same.

    The beginning of a new state was observed, with one exception: a sandbox that read as starting, without its start
    being observed, may have been running and idle.
    """
    if word == memory.word:
        return memory
    hidden = word == StateWord.RUNNING and memory.word == StateWord.STARTING and memory.pending is None
    return memory._replace(word=word, since=now, exact=not hidden, began=None, recalled=False)


def _unconfirmed(memory: SandboxMemory, status: str, now: datetime, *, has_run: bool) -> PendingAction | None:
    """Return the action that is still under way after this reading; a start that is observed counts as one."""
    pending = memory.pending
    if status == SandboxStatus.STARTING and not has_run:
        if pending is None:
            return PendingAction(Action.START, now, here=False) if memory.status in _STOPPED else None
        return pending._replace(action=Action.START) if pending.action is Action.RESUME else pending
    if pending is None or pending.action is Action.START:
        return None
    confirmed = {
        Action.PAUSE: status in _STOPPED,
        Action.RESUME: status != SandboxStatus.PAUSED,
        Action.DELETE: status == SandboxStatus.MISSING,
    }
    return None if confirmed[pending.action] else pending


# Status words while an action is under way

_IDLE = "The server lists it as starting, as it does with sandboxes that are idle; it has run."
_UNDER_WAY = {
    Action.START: StateWord.STARTING,
    Action.PAUSE: StateWord.PAUSING,
    Action.RESUME: StateWord.RESUMING,
}


def _under_way(read: SandboxState, pending: PendingAction, now: datetime) -> SandboxState:
    """Return the state while an action is under way, or the old one with a note if the action is overdue."""
    in_time = now < pending.overdue_at
    if pending.action is Action.DELETE and in_time:
        return read._replace(longer=f"{read.words}, deleting")
    if pending.action is not Action.START and not in_time:
        note = f"{pending.action.title()} was asked for {age_of(pending.at, now)} ago; no reading has shown it."
        return read._replace(longer=f"still {read.words}", note=note)
    state = SandboxState(_UNDER_WAY[pending.action], pending.at, exact=True)
    if in_time:
        return state
    if pending.answered:
        note = "The server answered that it started; it still lists it as starting, as some do with idle sandboxes."
        return state._replace(note=note)
    note = "No reading has found it running yet; servers give up on a start after 120 s."
    waited = stopwatch((now - pending.at).total_seconds())
    return state._replace(longer=f"{state.word} slow {waited}", note=note, slow=True)


# Which commands apply: servers never refuse by status; these rules are for people

_OVER = {
    StateWord.ERROR: "has failed.",
    StateWord.MISSING: "is gone.",
    StateWord.PAUSING: "is being paused; wait for the next readings.",
    StateWord.RESUMING: "is being resumed; wait for the next readings.",
}
_WHY_NOT = {
    "pause": {**_OVER, StateWord.PAUSED: "is paused already."},
    "resume": {
        **_OVER,
        StateWord.RUNNING: "is running already.",
        StateWord.STARTING: "is starting already; it runs as soon as its server says so.",
    },
    "open_url": dict.fromkeys(set(StateWord) - {StateWord.RUNNING}, "has addresses only while it runs."),
}


def why_not(command: str, state: SandboxState, subject: str = "It") -> str | None:
    """Return a sentence about the `subject` that says why a command cannot be applied now, None if it can.

    The server's own word is quoted raw; the screen sanitizes it.
    """
    if command not in _WHY_NOT:
        return None
    if state.known is None:
        return f"Its server calls it {state.word}, which Quarterdeck does not know."
    reason = _WHY_NOT[command].get(state.known)
    return None if reason is None else f"{subject} {reason}"
