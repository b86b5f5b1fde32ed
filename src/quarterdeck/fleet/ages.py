"""Durations as short words for a column, and conversion of times by a server's clock."""

import math
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

MINUTE, HOUR, DAY = 60, 3600, 86400
JUST_NOW = "now"
UNDER_A_MINUTE = "<1m"
FUTURE = timedelta(days=1)
"""How far in the future a moment may be and still count as now: clocks differ."""
CLOCKS_DIFFER = timedelta(hours=1)
"""How far two clocks may differ without a hint to the person."""


def utc_now() -> datetime:
    """Return the current time by this machine's clock."""
    return datetime.now(UTC)


class ServerClock(NamedTuple):
    """Converts between the server's clock and this machine's."""

    now: datetime = datetime.max.replace(tzinfo=UTC)
    """The time by this machine's clock."""
    offset: timedelta = timedelta()
    """How far the server's clock is ahead."""

    @property
    def there(self) -> datetime:
        """The time by the server's clock."""
        return self.now + self.offset

    def here(self, told: datetime | None) -> datetime | None:
        """Convert a time by the server's clock to this machine's; None if it lies too far in the future."""
        if told is None or told - self.now > self.offset + FUTURE:
            return None
        try:
            return told - self.offset
        except OverflowError:
            return told

    @property
    def hint(self) -> str:
        """A sentence if the clocks differ so much that a person should know; otherwise empty."""
        if abs(self.offset) < CLOCKS_DIFFER:
            return ""
        minutes = round(abs(self.offset) / timedelta(minutes=1))  # rounded, because a Date header has whole seconds
        apart = f"{age(minutes * MINUTE)} {'ahead of' if self.offset > timedelta() else 'behind'}"
        return f"The server's clock is {apart} this machine's; ages are computed with the server's."


AS_TOLD = ServerClock()
"""Leaves every time as it is."""


def age(seconds: float | None) -> str:
    """Format a duration: "12s", "4m", "3h12m", "2d"; "now" below a second (clocks differ), "-" if unknown."""
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
    """Return the seconds since a moment; both have a time zone."""
    return None if moment is None else (now - moment).total_seconds()


def age_of(moment: datetime | None, now: datetime) -> str:
    """Format how long ago a moment was; both have a time zone."""
    return age(seconds_since(moment, now))


def calm_age(moment: datetime | None, now: datetime) -> str:
    """Format how long ago a moment was, without seconds: in a list, each second would redraw each row."""
    words = age_of(moment, now)
    return UNDER_A_MINUTE if words == JUST_NOW or words.endswith("s") else words


def age_or_date(told: datetime | None, here: datetime | None, now: datetime) -> str:
    """Format how long ago the server's moment `told` was, or its date if `here` is None: too far in the future."""
    return told.date().isoformat() if told and not here else calm_age(here, now)


def at_least(words: str) -> str:
    """Format a duration that may be longer than these words say; "?" if they say next to nothing."""
    return "?" if words in (JUST_NOW, UNDER_A_MINUTE) else f"≥{words}"


def stopwatch(seconds: float) -> str:
    """Format a running wait: "0:41", "2:10", "1:02:03"."""
    whole = max(0, int(seconds))
    minutes, rest = divmod(whole, MINUTE)
    if minutes < 60:
        return f"{minutes}:{rest:02}"
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
