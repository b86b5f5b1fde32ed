"""What the screen says of a sandbox: what its readings say, or what was asked of it until one confirms that.

All times are UTC moments of this machine.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.fleet.ages import age_of, at_least, calm_age, stopwatch

SLOW_AFTER = timedelta(seconds=120)
"""How long servers give a start themselves; what takes longer is slow and no longer watched closely."""
PAUSED_BY = timedelta(seconds=60)
"""When a pause that no reading confirmed is called by its name (reliability.md fault 61)."""

ALIKE = 64
"""States that new ones are compared with: those of a few pages, read just now."""


class StateWord(StrEnum):
    """The words for a sandbox; a server's word that is none of the known ones is shown as it came."""

    STARTING = "Starting"
    RUNNING = "Running"
    PAUSED = "Paused"
    ERROR = "Error"
    MISSING = "Missing"
    PAUSING = "Pausing"
    RESUMING = "Resuming"


WORDS: dict[str, StateWord] = {
    SandboxStatus.STARTING: StateWord.STARTING,
    SandboxStatus.RUNNING: StateWord.RUNNING,
    SandboxStatus.PAUSED: StateWord.PAUSED,
    SandboxStatus.ERROR: StateWord.ERROR,
    SandboxStatus.MISSING: StateWord.MISSING,
}
_KNOWN: dict[str, StateWord] = {word.value: word for word in StateWord}


IN_PASSING = frozenset({StateWord.STARTING, StateWord.PAUSING, StateWord.RESUMING})
"""States that are not meant to last: their seconds count."""


class Action(StrEnum):
    """What can be asked of a sandbox and takes its time."""

    START = "start"
    PAUSE = "pause"
    RESUME = "resume"


class Asked(NamedTuple):
    """Something under way that no reading has confirmed yet."""

    action: Action
    at: datetime
    answered: bool = False
    """The server said that it did it; only a reading shows that it did."""


class SandboxState(NamedTuple):
    """What to say of a sandbox."""

    word: str
    """A `StateWord`, or the server's own word when it is unknown."""
    since: datetime
    exact: bool
    """Whether the state was seen to begin; else it may be older than `since`."""
    words: str
    """All of it for a list: "Running, no answer", "Starting slow 2:10", "still Running"."""
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

    def lasted(self, now: datetime) -> str:
        """How long it has been so, with "≥" when its beginning was not seen."""
        age = age_of(self.since, now) if self.known in IN_PASSING else calm_age(self.since, now)
        return age if self.exact else at_least(age)


@lru_cache(maxsize=ALIKE)
def settled_state(state: SandboxState, *, quiet: bool, silent: bool) -> SandboxState:
    """Word a state that readings gave; `quiet` when it reads as starting though it has run.

    Thousands that were read so at one moment share one object.
    """
    if quiet and silent:
        note = "Its agent server did not answer at its last known address."
        return state._replace(words=f"{state.word}, no answer", note=note, silent=True)
    note = "The server lists it as starting, as it does with sandboxes that are idle; it has run." if quiet else ""
    return state._replace(words=state.word, note=note, silent=False)


def pending_state(settled: SandboxState, asked: Asked, now: datetime) -> SandboxState:
    """Word what is under way, or that it did not happen in good time."""
    waited = now - asked.at
    if asked.action is Action.PAUSE:
        return _pending(StateWord.PAUSING, asked) if waited < PAUSED_BY else _still(settled, "Pause", asked, now)
    if asked.action is Action.RESUME:
        return _pending(StateWord.RESUMING, asked) if waited < SLOW_AFTER else _still(settled, "Resume", asked, now)
    starting = _pending(StateWord.STARTING, asked)
    if waited < SLOW_AFTER:
        return starting
    if asked.answered:
        note = "The server answered that it started; it still lists it as starting, as some do with idle sandboxes."
        return starting._replace(note=note)
    words = f"{starting.word} slow {stopwatch(waited.total_seconds())}"
    note = "No reading has found it running yet; servers give up on a start after 120 s."
    return starting._replace(words=words, note=note, slow=True)


def _pending(word: StateWord, asked: Asked) -> SandboxState:
    return SandboxState(word, asked.at, exact=True, words=word)


def _still(settled: SandboxState, action: str, asked: Asked, now: datetime) -> SandboxState:
    note = f"{action} was asked for {age_of(asked.at, now)} ago; the server has not done it."
    return settled._replace(words=f"still {settled.words}", note=note)
