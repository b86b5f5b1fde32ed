"""Durations in words short enough for a column, and moments that a server tells by a clock of its own."""

import math
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

MINUTE, HOUR, DAY = 60, 3600, 86400
JUST_NOW = "now"
UNDER_A_MINUTE = "<1m"
FUTURE = timedelta(days=1)
"""How far ahead a moment may lie and still be taken for now: clocks differ."""
CLOCKS_DIFFER = timedelta(hours=1)
"""What two clocks may differ by without a word."""
_NONE_YET = {JUST_NOW: "0s", UNDER_A_MINUTE: "0m"}


class ServerClock(NamedTuple):
    """What a server's moments are read by."""

    now: datetime = datetime.max.replace(tzinfo=UTC)
    """By the clock of this machine."""
    offset: timedelta = timedelta()
    """What the server's clock is ahead of that."""

    @property
    def there(self) -> datetime:
        """What the server's clock shows now."""
        return self.now + self.offset

    def here(self, told: datetime | None) -> datetime | None:
        """A moment that the server told, by the clock of this machine; None for one that is ahead of any clock."""
        if told is None or told - self.now > self.offset + FUTURE:
            return None
        try:
            return told - self.offset
        except OverflowError:
            return told

    @property
    def hint(self) -> str:
        """A sentence where the two clocks differ by so much that a person should know; else empty."""
        if abs(self.offset) < CLOCKS_DIFFER:
            return ""
        minutes = round(abs(self.offset) / timedelta(minutes=1))  # a Date header counts whole seconds
        apart = f"{age(minutes * MINUTE)} {'ahead of' if self.offset > timedelta() else 'behind'}"
        return f"The server's clock is {apart} this machine's; ages are reckoned by the server's."


AS_TOLD = ServerClock()
"""Takes every moment as it was told."""


def age(seconds: float | None) -> str:
    """Word a duration: "12s", "4m", "3h12m", "2d"; "now" below a second (clocks differ), "-" when unknown."""
    if seconds is None or not math.isfinite(seconds):
        return "-"
    whole = int(seconds)
    if whole < 1:
        return JUST_NOW
    if whole < MINUTE:
        return f"{whole}s"
    if whole < HOUR:
        return f"{whole // MINUTE}m"
    if whole < DAY:
        return f"{whole // HOUR}h{whole % HOUR // MINUTE:02}m"
    return f"{whole // DAY}d"


def seconds_since(moment: datetime | None, now: datetime) -> float | None:
    """Seconds since a moment; both with a zone."""
    return None if moment is None else (now - moment).total_seconds()


def age_of(moment: datetime | None, now: datetime) -> str:
    """Word how long ago a moment was; both with a zone."""
    return age(seconds_since(moment, now))


def calm_age(moment: datetime | None, now: datetime) -> str:
    """Word how long ago a moment was, without seconds: in a list each second of each row is sent to the terminal."""
    words = age_of(moment, now)
    return UNDER_A_MINUTE if words == JUST_NOW or words.endswith("s") else words


def age_or_date(told: datetime | None, here: datetime | None, now: datetime) -> str:
    """Word how long ago a moment was that a server `told`, or its date where that is ahead of any clock `here`."""
    return told.date().isoformat() if told and not here else calm_age(here, now)


def at_least(words: str) -> str:
    """Word a duration that may be longer than what it is worded as."""
    return f"≥{_NONE_YET.get(words, words)}"


def stopwatch(seconds: float) -> str:
    """Word a wait that is being watched: "0:41", "2:10", "1:02:03"."""
    whole = max(0, int(seconds))
    minutes, rest = divmod(whole, MINUTE)
    if minutes < 60:
        return f"{minutes}:{rest:02}"
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
