"""Durations in words short enough for a column."""

import math
from datetime import datetime

MINUTE, HOUR, DAY = 60, 3600, 86400
JUST_NOW = "now"
UNDER_A_MINUTE = "<1m"
_NONE_YET = {JUST_NOW: "0s", UNDER_A_MINUTE: "0m"}


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


def calm_age(moment: datetime | None, now: datetime) -> str:
    """Word how long ago a moment was, without seconds: in a list each second of each row is sent to the terminal."""
    words = age_of(moment, now)
    return UNDER_A_MINUTE if words == JUST_NOW or words.endswith("s") else words


def at_least(words: str) -> str:
    """Word a duration that may be longer than what it is worded as."""
    return f"≥{_NONE_YET.get(words, words)}"


def age_of(moment: datetime | None, now: datetime) -> str:
    """Word how long ago a moment was; both with a zone."""
    return age(None if moment is None else (now - moment).total_seconds())


def stopwatch(seconds: float) -> str:
    """Word a wait that is being watched: "0:41", "2:10", "1:02:03"."""
    whole = max(0, int(seconds))
    minutes, rest = divmod(whole, MINUTE)
    if minutes < 60:
        return f"{minutes}:{rest:02}"
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
