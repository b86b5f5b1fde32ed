"""Whether the polling of one list succeeds, and the words for it in a header."""

from enum import StrEnum
from typing import NamedTuple

from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.fleet.ages import JUST_NOW, age

OFFLINE_AFTER = 3
"""How many failures in a row make a server count as offline."""

WORTH_A_WORD = 10.0
"""How many seconds older than the visible rows the last full pass is if its age is shown beside theirs."""


class HealthState(StrEnum):
    """The state of polling a list."""

    LOADING = "loading"
    ONLINE = "online"
    DEGRADED = "degraded"
    """The last reading failed, or it is the first good one after a failure."""
    OFFLINE = "offline"
    REFUSED = "refused"
    """The key was refused; nothing is read until somebody requests it."""


class Health(NamedTuple):
    """The polling of one list; times are those of the watch's monotonic clock, in seconds."""

    error: ServiceError | None = None
    """The error of the last reading; None if it succeeded."""
    failures: int = 0
    """Failures in a row."""
    back: bool = False
    """The last reading is the first good one after a failure: it may come from another server."""
    read_at: float | None = None
    """When the server last returned records."""
    whole_at: float | None = None
    """When the whole list was last read."""
    next_try_at: float | None = None
    """When the next try after a failure is due."""
    incomplete: bool = True
    """Not all pages have been read: during the first pass, or after a later one failed midway."""
    unreadable: int = 0
    """How many records of the last full pass could not be read."""
    partial: bool = False
    """The server may have listed only some records: it returned a full page and no id of a next one."""
    refreshing: bool = False
    """A person requested a reading of the whole list, and it has not ended."""
    doubted: bool = False
    """The server lists nothing although it listed rows before; the rows are kept until a second reading confirms it."""

    @property
    def whole(self) -> bool:
        """Whether every record of the list has been read."""
        return not (self.incomplete or self.unreadable)

    @property
    def state(self) -> HealthState:
        """The state; after a failure, only the second good reading in a row counts as online."""
        if self.error is not None and self.error.kind is ErrorKind.AUTH:
            return HealthState.REFUSED
        if self.failures >= OFFLINE_AFTER and self.error is not None and _is_away(self.error):
            return HealthState.OFFLINE
        if self.failures or self.back:
            return HealthState.DEGRADED
        return HealthState.LOADING if self.whole_at is None else HealthState.ONLINE

    def answered(self, now: float) -> "Health":
        """Return the health after a page or a batch was read."""
        return self._replace(error=None, failures=0, back=self.failures > 0, read_at=now, next_try_at=None)

    def passed(self, now: float, unreadable: int, *, partial: bool = False) -> "Health":
        """Return the health after the whole list was read."""
        read = self._replace(whole_at=now, unreadable=unreadable, partial=partial)
        return read._replace(incomplete=False, refreshing=False, doubted=False)

    def failed(self, error: ServiceError, *, next_try_at: float, broken: bool) -> "Health":
        """Return the health after a reading failed; `broken` means that it failed in the middle of a pass."""
        refused = error.kind is ErrorKind.AUTH
        return self._replace(
            error=error,
            failures=0 if refused else self.failures + 1,
            next_try_at=None if refused else next_try_at,
            incomplete=self.incomplete or broken,
            refreshing=False,
        )


def _is_away(error: ServiceError) -> bool:
    """Whether a failure means that the server is unreachable, rather than that it refused."""
    return error.status is None or error.status >= 500


def health_words(health: Health, now: float) -> str:
    """Return the words for a header: how old the data is, what is wrong, when the next try is."""
    if health.refreshing:
        return "reading…"
    match health.state:
        case HealthState.REFUSED:
            return "key needed"
        case HealthState.LOADING:
            return "loading…"
        case _:
            return ", ".join([*(_failing(health, now) or _fresh(health, now)), *_doubts(health)])


def _fresh(health: Health, now: float) -> list[str]:
    """Return the age of the visible rows, and that of the last full pass if it is older: counts are as old as that."""
    old = age(now - (health.read_at or now))
    words = [f"{'live' if health.state is HealthState.ONLINE else 'back'} {old if old == JUST_NOW else f'{old} ago'}"]
    if health.whole_at is not None and (health.read_at or now) - health.whole_at >= WORTH_A_WORD:
        words.append(f"all {age(now - health.whole_at)} ago")
    return words


def _failing(health: Health, now: float) -> list[str]:
    """Return the age of the last good data and when the next try is; nothing unless readings fail."""
    if not health.failures:
        return []
    words = ["offline"] if health.state is HealthState.OFFLINE else []
    if health.read_at is not None:
        words.append(f"stale {age(now - health.read_at)}")
    elif not words:
        words.append("nothing read yet")
    if health.next_try_at is not None:
        wait = health.next_try_at - now
        words.append(f"retry in {age(wait)}" if wait >= 1 else "trying…")
    return words


def _doubts(health: Health) -> list[str]:
    doubts = {
        "server lists none, asking again": health.doubted,
        "incomplete": health.incomplete and not health.failures,
        "perhaps not all": health.partial,
        f"{health.unreadable} unreadable": health.unreadable,
    }
    return [words for words, doubted in doubts.items() if doubted]
