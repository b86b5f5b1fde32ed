"""When a request is sent once more by itself: one pure table."""

import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from quarterdeck.client.errors import ErrorKind
from quarterdeck.client.request import Repeat

NEVER_OPENED = frozenset({ErrorKind.DNS, ErrorKind.UNREACHABLE, ErrorKind.CONNECT_TIMEOUT})
"""No connection came about, so no server has seen the request."""
LOST = frozenset({ErrorKind.STALLED, ErrorKind.BROKEN})
"""The answer did not arrive whole."""
PASSING = frozenset({502, 503, 504})
"""Server errors that are worth asking twice."""
LONGEST_WAIT = 30.0
"""Seconds of a server's Retry-After that a read waits out."""
USUAL_WAIT = 1.0
"""Seconds to wait on "too many requests" without a Retry-After."""
MOST_REPEATS = {Repeat.READ: 2, Repeat.CHECKED: 1, Repeat.ONCE: 1}


class Again(NamedTuple):
    """Send it again, not before `after` seconds; with `recheck` only if a fresh reading shows it not done."""

    after: float = 0.0
    recheck: bool = False


def again(
    repeat: Repeat,
    kind: ErrorKind,
    *,
    status: int | None = None,
    retry_after: float | None = None,
    repeats: int = 0,
    background: bool = False,
) -> Again | None:
    """Say whether a request that failed with `kind` is sent again after `repeats` repeats; None means it is not.

    Where no connection came about people want to know at once: a read that has waited for one in vain is not
    repeated, nor is any that the watch asks (`background`), for it asks again by itself.
    """
    if repeats >= MOST_REPEATS[repeat]:
        return None
    if kind in NEVER_OPENED:
        told_at_once = repeat is Repeat.READ and (background or kind is ErrorKind.CONNECT_TIMEOUT)
        return None if told_at_once else Again()
    if repeat is Repeat.CHECKED and (kind in LOST or kind is ErrorKind.SERVER):
        return Again(recheck=True)
    if repeat is Repeat.READ:
        return _read_again(kind, status, retry_after, repeats)
    return None


def _read_again(kind: ErrorKind, status: int | None, retry_after: float | None, repeats: int) -> Again | None:
    if kind in LOST:
        return Again()
    if kind is ErrorKind.RATE:
        wait = USUAL_WAIT if retry_after is None else retry_after
    elif kind is ErrorKind.SERVER and (status in PASSING or (status == 500 and repeats == 0)):
        wait = retry_after or 0.0
    else:
        return None
    return Again(wait) if wait <= LONGEST_WAIT else None


def seconds_to_wait(header: str | None, now: datetime | None = None) -> float | None:
    """Read a Retry-After header, seconds or a date; None for none, for nonsense and for a moment that is over."""
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        seconds = _seconds_until(header, now or datetime.now(UTC))
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _seconds_until(date: str, now: datetime) -> float:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return math.nan
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - now).total_seconds()
