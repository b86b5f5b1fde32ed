"""How well the watch of one list is doing, and the few words a header has for it."""

from enum import StrEnum
from typing import NamedTuple

from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.fleet.ages import JUST_NOW, age

OFFLINE_AFTER = 3
"""Failures in a row after which a server counts as away."""

WORTH_A_WORD = 60.0
"""Seconds since the whole list was read after which that is said beside the age of what is on the screen."""


class HealthState(StrEnum):
    """What can be said of a list that is watched."""

    LOADING = "loading"
    ONLINE = "online"
    DEGRADED = "degraded"
    """The last reading failed, or it is the first good one after a failure."""
    OFFLINE = "offline"
    REFUSED = "refused"
    """The key was refused; nothing is read until somebody asks for it."""


class Health(NamedTuple):
    """How a list is doing; times are of the watch's monotonic clock, in seconds."""

    error: ServiceError | None = None
    """What the last reading failed with; None when it was good."""
    failures: int = 0
    """Failures in a row."""
    back: bool = False
    """The last reading is the first good one after a failure: it may come from another server."""
    read_at: float | None = None
    """When the server last answered with records."""
    whole_at: float | None = None
    """When the whole list was last read through."""
    next_try_at: float | None = None
    """When the next try after a failure is due."""
    incomplete: bool = True
    """Not all pages have been read: on the first pass, and after a later one broke in the middle."""
    unreadable: int = 0
    """Records of the last whole pass that could not be read."""
    partial: bool = False
    """The server may have listed only some: it gave as many as a page holds, and no way to the next one."""
    refreshing: bool = False
    """A reading of the whole list was asked for by a person and has not ended."""
    doubted: bool = False
    """The server lists nothing where it listed rows before; they are kept until it says so again."""

    @property
    def state(self) -> HealthState:
        """What can be said of it; after a failure only the second good reading in a row counts as online."""
        if self.error is not None and self.error.kind is ErrorKind.AUTH:
            return HealthState.REFUSED
        if self.failures >= OFFLINE_AFTER and self.error is not None and _is_away(self.error):
            return HealthState.OFFLINE
        if self.failures or self.back:
            return HealthState.DEGRADED
        return HealthState.LOADING if self.whole_at is None else HealthState.ONLINE

    def answered(self, now: float) -> "Health":
        """The health after a page or a batch was read."""
        return self._replace(error=None, failures=0, back=self.failures > 0, read_at=now, next_try_at=None)

    def passed(self, now: float, unreadable: int, *, partial: bool = False) -> "Health":
        """The health after the whole list was read through."""
        read = self._replace(whole_at=now, unreadable=unreadable, partial=partial)
        return read._replace(incomplete=False, refreshing=False, doubted=False)

    def failed(self, error: ServiceError, *, next_try_at: float, broken: bool) -> "Health":
        """The health after a reading failed; `broken` says that it failed in the middle of a pass."""
        refused = error.kind is ErrorKind.AUTH
        return self._replace(
            error=error,
            failures=0 if refused else self.failures + 1,
            next_try_at=None if refused else next_try_at,
            incomplete=self.incomplete or broken,
            refreshing=False,
        )


def _is_away(error: ServiceError) -> bool:
    """Whether a failure means that the server is away, rather than that it says no."""
    return error.status is None or error.status >= 500


def health_words(health: Health, now: float) -> str:
    """Say it for a header: how old the data is, what is wrong with it, when the next try is."""
    if health.refreshing:
        return "reading…"
    match health.state:
        case HealthState.REFUSED:
            return "key refused"
        case HealthState.LOADING:
            return "loading…"
        case state:
            return ", ".join([*(_failing(health, now) or _fresh(health, state, now)), *_doubts(health)])


def _fresh(health: Health, state: HealthState, now: float) -> list[str]:
    """How old what is on the screen is, and the rows that nobody looks at, once that is worth a word."""
    old = age(now - (health.read_at or now))
    words = [f"{'live' if state is HealthState.ONLINE else 'back'} {old if old == JUST_NOW else f'{old} ago'}"]
    if health.whole_at is not None and now - health.whole_at >= WORTH_A_WORD:
        words.append(f"all {age(now - health.whole_at)} ago")
    return words


def _failing(health: Health, now: float) -> list[str]:
    """How old what was read before it failed is, and when the next try is; nothing while it does not."""
    if not health.failures:
        return []
    words = ["offline"] if health.state is HealthState.OFFLINE else []
    words.append("nothing read yet" if health.read_at is None else f"stale {age(now - health.read_at)}")
    if health.next_try_at is not None:
        wait = health.next_try_at - now
        words.append(f"next try in {age(wait)}" if wait >= 1 else "trying…")
    return words


def _doubts(health: Health) -> list[str]:
    doubts = {
        "server lists none, asking again": health.doubted,
        "incomplete": health.incomplete and not health.failures,
        "perhaps not all": health.partial,
        f"{health.unreadable} unreadable": health.unreadable,
    }
    return [words for words, doubted in doubts.items() if doubted]
