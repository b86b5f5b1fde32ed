"""How well the watch of one list is doing, and the few words a header has for it."""

from enum import StrEnum
from typing import NamedTuple

from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.fleet.ages import age

OFFLINE_AFTER = 3
"""Failures in a row after which a server counts as away."""

WORTH_A_WORD = 60.0
"""Seconds since the whole list was read after which that is said beside the age of what is on the screen."""

AWAY = frozenset(
    {
        ErrorKind.DNS,
        ErrorKind.UNREACHABLE,
        ErrorKind.CONNECT_TIMEOUT,
        ErrorKind.STALLED,
        ErrorKind.BROKEN,
        ErrorKind.SERVER,
    }
)
"""Failures that mean that the server is away, rather than that it says no."""


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
        if self.failures >= OFFLINE_AFTER and self.error is not None and self.error.kind in AWAY:
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


def health_words(health: Health, now: float) -> str:
    """Say it for a header: how old the data is, what is wrong with it, when the next try is."""
    if health.refreshing:
        return "reading…"
    if health.state is HealthState.REFUSED:
        return "key refused"
    if health.state is HealthState.LOADING:
        return "loading…"
    return ", ".join([*_freshness(health, now), *_doubts(health)])


def _freshness(health: Health, now: float) -> list[str]:
    old = None if health.read_at is None else age(now - health.read_at)
    if not health.failures:
        ago = "now" if old in (None, "now") else f"{old} ago"
        return [f"live {ago}" if health.state is HealthState.ONLINE else f"back {ago}", *_rest_of_it(health, now)]
    words = ["offline"] if health.state is HealthState.OFFLINE else []
    words.append("nothing read yet" if old is None else f"stale {old}")
    if health.next_try_at is not None:
        wait = health.next_try_at - now
        words.append(f"next try in {age(wait)}" if wait >= 1 else "trying…")
    return words


def _rest_of_it(health: Health, now: float) -> list[str]:
    """How old the rows are that nobody looks at, once that is worth a word."""
    if health.whole_at is None or now - health.whole_at < WORTH_A_WORD:
        return []
    return [f"all {age(now - health.whole_at)} ago"]


def _doubts(health: Health) -> list[str]:
    words = []
    if health.doubted:
        words.append("server lists none, asking again")
    if health.incomplete and not health.failures:
        words.append("incomplete")
    if health.partial:
        words.append("perhaps not all")
    if health.unreadable:
        words.append(f"{health.unreadable} unreadable")
    return words
