"""One thing that happened to a sandbox, and how such things follow each other."""

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

EVENTS = 20
"""Kept of one sandbox, the newest."""


class Cause(StrEnum):
    """Who made it happen, as far as can be told from here."""

    YOU = "you"
    """It was asked for here."""
    SERVER = "server"
    """It was watched, and nobody here had asked."""
    DISPLACED = "displaced"
    """The server paused it to make room for what was started or resumed here (needs.md fact 0.11)."""
    UNKNOWN = "unknown"
    """It was seen only afterwards."""


class Event(NamedTuple):
    """A sandbox was seen in a new state; the moment is a UTC one of this machine."""

    what: str
    """The word of the state, a `StateWord` or the server's own, raw."""
    seen_at: datetime
    lasted: float | None = None
    """Seconds; None while it lasts, and where its end was not seen."""
    cause: Cause = Cause.UNKNOWN
    words: str = ""
    """How it came about, a phrase."""


def with_next(events: tuple[Event, ...], event: Event) -> tuple[Event, ...]:
    """The events with one more, which ends the last of them: when, is known unless it was seen only afterwards."""
    if not events:
        return (event,)
    *earlier, last = events
    lasted = None if event.cause is Cause.UNKNOWN else max(0.0, (event.seen_at - last.seen_at).total_seconds())
    return (*earlier, last._replace(lasted=lasted), event)[-EVENTS:]


def joined(earlier: tuple[Event, ...], later: tuple[Event, ...], between: str) -> tuple[Event, ...]:
    """Events of an earlier run and of this one; `between` says how a state came about that nobody saw begin."""
    if not earlier or not later:
        return earlier or later
    first, *rest = later
    if first.what != earlier[-1].what:
        unseen = first._replace(cause=Cause.UNKNOWN, words=between) if first.cause is not Cause.YOU else first
        return (*with_next(earlier, unseen), *rest)[-EVENTS:]
    going_on = earlier
    for event in rest:
        going_on = with_next(going_on, event._replace(lasted=None))
    if rest:
        going_on = (*going_on[:-1], rest[-1])
    return going_on[-EVENTS:]
