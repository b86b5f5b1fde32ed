"""What is said of a sandbox from reading to reading, and what may be asked of it.

Servers flap: an idle process sandbox reads STARTING nearly always, and its addresses and key are left out meanwhile
(SERVERS.md: readings that flap). So one reading is not a state: a sandbox that has run is running until a reading says
that it stopped. All times are UTC moments of this machine.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from pydantic import SecretStr

from quarterdeck.client.models.enums import SandboxStatus, UrlName
from quarterdeck.client.models.sandbox import ExposedUrl, Sandbox
from quarterdeck.fleet.ages import age_of, at_least, calm_age, stopwatch

SLOW_AFTER = timedelta(seconds=120)
"""How long servers give a start themselves; what takes longer is slow and no longer watched closely."""
PAUSED_BY = timedelta(seconds=60)
"""When a pause that no reading confirmed is no longer called under way: servers answer before they have done it."""
ERRORS_BELIEVED = 3
"""ERROR readings in a row until it counts for one that is starting: a process server says so while it boots."""
FLIPS = timedelta(seconds=30)
"""For so long after a change, a reading that goes back to the old state counts only when it comes twice in a row."""
CHECK_AFTER = 3
"""Quiet readings after which the agent server itself is asked whether it is alive."""
CHECK_AGAIN = timedelta(seconds=60)
"""Between two such questions."""
CHECK_STARTING_AGAIN = timedelta(seconds=5)
"""The same to one that is coming up, until that is slow."""


class StateWord(StrEnum):
    """The words for a sandbox as they are counted; a server's word that is none of these is shown as it came."""

    RUNNING = "Running"
    STARTING = "Starting"
    RESUMING = "Resuming"
    PAUSING = "Pausing"
    PAUSED = "Paused"
    ERROR = "Error"
    MISSING = "Missing"


WORDS: dict[str, StateWord] = {status: StateWord(status.title()) for status in SandboxStatus}
UP = frozenset({StateWord.RUNNING, StateWord.STARTING})
"""States in which a sandbox costs something, whether it does anything or not."""
IN_PASSING = frozenset({StateWord.STARTING, StateWord.PAUSING, StateWord.RESUMING})
"""States that are not meant to last: their seconds count."""
_KNOWN: dict[str, StateWord] = {word.value: word for word in StateWord}
_HAS_ADDRESS = frozenset({SandboxStatus.STARTING, SandboxStatus.RUNNING, SandboxStatus.PAUSED})
_STOPPED = frozenset({SandboxStatus.PAUSED, SandboxStatus.ERROR, SandboxStatus.MISSING})


class Action(StrEnum):
    """What can be asked of a sandbox and takes its time."""

    START = "start"
    PAUSE = "pause"
    RESUME = "resume"
    DELETE = "deletion"

    @property
    def verb(self) -> str:
        """What a person calls doing it."""
        return self.name.capitalize()


DONE_IN = {
    Action.START: UP,
    Action.PAUSE: frozenset({StateWord.PAUSED}),
    Action.RESUME: UP,
    Action.DELETE: frozenset({StateWord.MISSING}),
}
"""The states that show that an action was done."""


class Asked(NamedTuple):
    """Something under way that no reading has confirmed yet."""

    action: Action
    at: datetime
    answered: bool = False
    """The server said that it did it; only a reading shows that it did."""
    here: bool = True
    """It was asked for here, and not only seen to begin."""


class SandboxState(NamedTuple):
    """What to say of a sandbox."""

    word: str
    """A `StateWord`, or the server's own word when it is unknown."""
    since: datetime
    exact: bool
    """Whether the state was seen to begin; else it may be older than `since`."""
    longer: str = ""
    """What a list says in place of the word: "Running, no answer", "Starting slow 2:10", "still Running"."""
    note: str = ""
    """A sentence for the detail."""
    slow: bool = False
    """It has been starting for longer than servers take."""
    silent: bool = False
    """It reads as running, but its agent server does not answer."""

    @property
    def known(self) -> StateWord | None:
        """The word, if it is one of ours."""
        return _KNOWN.get(self.word)

    @property
    def words(self) -> str:
        """All of it for a list."""
        return self.longer or self.word

    def lasted(self, now: datetime) -> str:
        """How long it has been so, with "≥" when its beginning was not seen."""
        age = age_of(self.since, now) if self.known in IN_PASSING else calm_age(self.since, now)
        return age if self.exact else at_least(age)


class Left(NamedTuple):
    """What a sandbox was before it became what it is, when nobody here had asked for the change."""

    word: str
    at: datetime
    """When it was left, or last read again without being believed."""


class SandboxMemory(NamedTuple):
    """What is kept of one sandbox from reading to reading."""

    status: str
    """The server's last word."""
    settled: SandboxState
    """The word the readings alone give, and since when."""
    has_run: bool = False
    """Read as RUNNING, and not as PAUSED, ERROR or MISSING since."""
    asked: Asked | None = None
    quiet: int = 0
    """STARTING readings in a row of one that has run, counted up to `CHECK_AFTER`."""
    checked_at: datetime | None = None
    answered: bool | None = None
    """Whether its agent server answered when it was asked last; None when it was not asked since it went quiet."""
    urls: tuple[ExposedUrl, ...] = ()
    """Its addresses as last told while it was up; a pause keeps them, for it may come back there."""
    key: SecretStr | None = None
    """The key of its agent server, as last told since it runs."""
    left: Left | None = None
    doubted: str = ""
    """A word that is not believed yet."""
    doubts: int = 0
    """How many readings in a row have said it."""

    def state(self, now: datetime) -> SandboxState:
        """What to say of it now."""
        return self._read if self.asked is None else _under_way(self._read, self.asked, now)

    @property
    def _read(self) -> SandboxState:
        """What the readings alone say, in full."""
        settled = self.settled
        if self.quiet and self.answered is False:
            note = "Its agent server did not answer at its last known address."
            return settled._replace(longer=f"{settled.word}, no answer", note=note, silent=True)
        if self.quiet:
            return settled._replace(note=_IDLE)
        if settled.word == StateWord.MISSING and self.status != SandboxStatus.MISSING:
            return settled._replace(note="The server answered that it is not there; the next reading tells.")
        return settled

    def in_transition(self, now: datetime) -> bool:
        """Whether something is under way that is worth reading it often for."""
        return self.asked is not None and now - self.asked.at <= SLOW_AFTER

    @property
    def agent_server(self) -> SecretStr | None:
        """The remembered address of its agent server."""
        return next((exposed.url for exposed in self.urls if exposed.name == UrlName.AGENT_SERVER), None)

    @property
    def comes_up(self) -> bool:
        """Whether it reads as starting and has not been read as running since it stopped."""
        return self.status == SandboxStatus.STARTING and not self.has_run

    def wants_check(self, now: datetime) -> bool:
        """Whether its agent server should be asked whether it is alive, because readings alone do not tell."""
        if self.agent_server is None or not (self.comes_up or self.quiet >= CHECK_AFTER):
            return False
        rest = CHECK_STARTING_AGAIN if self.comes_up and self.in_transition(now) else CHECK_AGAIN
        return self.checked_at is None or now - self.checked_at >= rest


# What readings make of it


def after_reading(
    memory: SandboxMemory | None, record: Sandbox, now: datetime, *, beginning: bool = False
) -> SandboxMemory:
    """Take one reading; gives the same object when it says nothing new.

    `beginning` says that a sandbox read for the first time was not there before, so that its start was seen to begin.
    """
    status = record.status
    if memory is None:
        memory = _before_any_reading(status, now, beginning=beginning)
    idle = memory.has_run and status == SandboxStatus.STARTING
    word = StateWord.RUNNING if idle else WORDS.get(status, status)
    doubts = memory.doubts + 1 if memory.doubted == word else 1
    if doubts < _needed(memory, word, now):
        return memory._replace(left=memory.left and memory.left._replace(at=now), doubted=word, doubts=doubts)
    has_run = status == SandboxStatus.RUNNING or (memory.has_run and status not in _STOPPED)
    after = SandboxMemory(
        status=status,
        settled=_state_of(memory, word, now),
        has_run=has_run,
        asked=_unconfirmed(memory, status, now, has_run=has_run),
        quiet=min(memory.quiet + 1, CHECK_AFTER) if idle else 0,
        checked_at=memory.checked_at if status == SandboxStatus.STARTING else None,
        answered=memory.answered if idle else None,
        urls=(record.exposed_urls or memory.urls) if status in _HAS_ADDRESS else (),
        key=(record.session_api_key or memory.key) if has_run else None,
        left=_left(memory, word, now),
    )
    return memory if memory == after else after


def _before_any_reading(status: str, now: datetime, *, beginning: bool) -> SandboxMemory:
    """What is thought of one that is read for the first time; of one that begins, that it starts."""
    word = WORDS.get(status, status)
    if beginning and word in (StateWord.STARTING, StateWord.ERROR):
        starting = SandboxState(StateWord.STARTING, now, exact=True)
        return SandboxMemory(SandboxStatus.STARTING, starting, asked=Asked(Action.START, now, here=False))
    return SandboxMemory(status, SandboxState(word, now, exact=beginning))


def after_missing(memory: SandboxMemory, now: datetime) -> SandboxMemory:
    """Note that the server answered that it is not there; the next reading may know better."""
    if memory.settled.word == StateWord.MISSING:
        return memory
    return memory._replace(settled=SandboxState(StateWord.MISSING, now, exact=True), asked=None, quiet=0, left=None)


def after_check(memory: SandboxMemory, now: datetime, *, answered: bool) -> SandboxMemory:
    """Note whether the agent server answered, unless a reading settled it meanwhile; one that comes up runs then."""
    if memory.comes_up and answered:
        settled = _state_of(memory, StateWord.RUNNING, now)
        return memory._replace(has_run=True, quiet=1, answered=True, asked=None, settled=settled)
    return memory._replace(answered=answered) if memory.quiet else memory


def _needed(memory: SandboxMemory, word: str, now: datetime) -> int:
    """How many readings in a row it takes to believe a word; what was asked for here is never doubted."""
    if word == memory.settled.word:
        return 1
    if memory.asked is not None:
        booting = memory.asked.action in (Action.START, Action.RESUME)
        return ERRORS_BELIEVED if booting and word == StateWord.ERROR else 1
    flips = memory.left is not None and word == memory.left.word and now - memory.left.at < FLIPS
    return 2 if flips else 1


def _left(memory: SandboxMemory, word: str, now: datetime) -> Left | None:
    """What it was before, after a reading that is believed; a way back from a word nobody knows is no flip."""
    if memory.asked is not None:
        return None
    if word == memory.settled.word:
        return memory.left
    return Left(memory.settled.word, now) if word in _KNOWN else None


def _state_of(memory: SandboxMemory, word: str, now: datetime) -> SandboxState:
    """The state of that word: the one that lasts, or a new one.

    A new one was seen to begin, but for one that was starting without having been seen to start: it may have run, idle.
    """
    if word == memory.settled.word:
        return memory.settled
    hidden = word == StateWord.RUNNING and memory.settled.word == StateWord.STARTING and memory.asked is None
    return SandboxState(word, now, exact=not hidden)


def _unconfirmed(memory: SandboxMemory, status: str, now: datetime, *, has_run: bool) -> Asked | None:
    """What is still under way after this reading; a start that was seen to begin is, too."""
    asked = memory.asked
    if status == SandboxStatus.STARTING and not has_run:
        if asked is None:
            return Asked(Action.START, now, here=False) if memory.status in _STOPPED else None
        return asked._replace(action=Action.START) if asked.action is Action.RESUME else asked
    if asked is None or asked.action is Action.START:
        return None
    confirmed = {
        Action.PAUSE: status in _STOPPED,
        Action.RESUME: status != SandboxStatus.PAUSED,
        Action.DELETE: status == SandboxStatus.MISSING,
    }
    return None if confirmed[asked.action] else asked


# The words for what is under way

_IDLE = "The server lists it as starting, as it does with sandboxes that are idle; it has run."
_UNDER_WAY = {
    Action.START: StateWord.STARTING,
    Action.PAUSE: StateWord.PAUSING,
    Action.RESUME: StateWord.RESUMING,
}


def _under_way(read: SandboxState, asked: Asked, now: datetime) -> SandboxState:
    """Word what is under way, or that it did not happen in good time."""
    waited = now - asked.at
    in_time = waited < (PAUSED_BY if asked.action is Action.PAUSE else SLOW_AFTER)
    if asked.action is Action.DELETE and in_time:
        return read._replace(longer=f"{read.words}, deleting")
    if asked.action is not Action.START and not in_time:
        note = f"{asked.action.title()} was asked for {age_of(asked.at, now)} ago; no reading has shown it."
        return read._replace(longer=f"still {read.words}", note=note)
    state = SandboxState(_UNDER_WAY[asked.action], asked.at, exact=True)
    if in_time:
        return state
    if asked.answered:
        note = "The server answered that it started; it still lists it as starting, as some do with idle sandboxes."
        return state._replace(note=note)
    note = "No reading has found it running yet; servers give up on a start after 120 s."
    return state._replace(longer=f"{state.word} slow {stopwatch(waited.total_seconds())}", note=note, slow=True)


# What may be asked of it: servers never refuse by status, these are rules for people

_OVER = {
    StateWord.ERROR: "It has failed.",
    StateWord.MISSING: "It is gone.",
    StateWord.PAUSING: "It is being paused; the next readings tell.",
    StateWord.RESUMING: "It is being resumed; the next readings tell.",
}
_WHY_NOT = {
    "pause": {**_OVER, StateWord.PAUSED: "It is paused already."},
    "resume": {
        **_OVER,
        StateWord.RUNNING: "It is running already.",
        StateWord.STARTING: "It is starting already; it runs as soon as its server says so.",
    },
    "open_url": dict.fromkeys(set(StateWord) - {StateWord.RUNNING}, "It has addresses only while it runs."),
}


def why_not(command: str, state: SandboxState) -> str | None:
    """Why a command cannot be done to it now, a sentence; None when it can.

    The server's own word is quoted raw; the screen cleans it.
    """
    if command not in _WHY_NOT:
        return None
    if state.known is None:
        return f"Its server calls it {state.word}, which Quarterdeck does not know."
    return _WHY_NOT[command].get(state.known)
