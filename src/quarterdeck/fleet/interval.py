"""How long the watch rests between two readings, in seconds (reliability.md section 3)."""

IN_TRANSITION = 2.0
ON_SCREEN = 5.0
HIDDEN = 30.0
FULL_PASS = 30.0
"""Between two readings of a whole list whose rows on screen are read by batch."""
PASS_REST = 8.0
"""The rest after reading a whole list at least, as a multiple of the time it took: a long one is read slowly."""
REFRESH = 1.0
"""Between two readings somebody asked for."""
LONGEST_BACKOFF = 60.0
LONGEST_ASKED_FOR = 120.0
"""The longest wait a server's Retry-After is granted."""


def interval(*, in_transition: bool, hidden: bool) -> float:
    """The rest between two readings of what is looked at."""
    if in_transition:
        return IN_TRANSITION
    return HIDDEN if hidden else ON_SCREEN


def backoff(failures: int, jitter: float, retry_after: float | None = None) -> float:
    """The rest after so many failures in a row (from 1); `jitter` in [0, 1) takes up to half of it away.

    `retry_after` is a floor; one that is no positive number is ignored.
    """
    longest = min(LONGEST_BACKOFF, 2.0 * 2.0 ** min(failures, 10))
    wait = longest * (0.5 + jitter / 2)
    if retry_after is not None and retry_after > 0:
        wait = max(wait, min(retry_after, LONGEST_ASKED_FOR))
    return wait
