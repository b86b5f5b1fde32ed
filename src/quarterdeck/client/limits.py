"""Limits: how long a request may take, how large a response may be, and how often a server is asked."""

import asyncio
import math
from collections import deque
from typing import NamedTuple

SECOND = 1.0


class Limits(NamedTuple):
    """Times in seconds, sizes in bytes of the decompressed body; the others are counts."""

    connect: float = 5.0
    """Until a connection is made or becomes free."""
    read: float = 20.0
    """Between two parts of a response."""
    kept: float = 4.0
    """How long an idle connection is kept: the watch polls every 2 s, and uvicorn closes connections after 5 s."""
    total: float = 30.0
    quick: float = 5.0
    """For requests that are answered quickly or never: to an agent server, a sandbox or a tool server."""
    slow: float = 90.0
    """For requests that the server works on first: pulling an image, deleting a sandbox, waiting for a tool."""
    trajectory: float = 180.0
    """For a trajectory, which may be long and is compressed first."""
    release: float = 10.0
    ping: float = 20.0
    """Between two pings of a socket, and until a ping is answered."""
    repeat_after: float = 0.3
    """Before the first retry; it doubles with each further one."""
    body: int = 16 * 2**20
    list_body: int = 32 * 2**20
    """A server may return all its records at once, a kilobyte each."""
    trajectory_body: int = 256 * 2**20
    page: int = 100
    """Records requested per page; every release rejects more."""
    batch: int = 99
    """Ids requested at a time."""
    pages: int = 1_100
    empty_pages: int = 3
    per_second: int = 5
    log: int = 500


class RateLimiter:
    """Limits the rate of requests to `per_second` in any second, and to one fewer for background requests.

    A real server slows a client down that sends more than ten requests a second, together with browsers of the same
    user (SERVERS.md: rate). The reserved slot lets a key press be sent at once while a long list is read. A background
    request that has waited for a second goes first, because such readings confirm what people requested.

    The first background requests are sent at once, further ones evenly spaced: four responses at the same time would
    delay a key press four times as long as one does.
    """

    def __init__(self, per_second: int) -> None:
        self._per_second = per_second
        self._given: deque[float] = deque(maxlen=per_second)
        self._people, self._background = asyncio.Lock(), asyncio.Lock()
        self._waiting_since = math.inf
        """Since when the first background request has been waiting; all times here are of the event loop's clock."""

    async def turn(self, *, background: bool) -> None:
        """Wait until the next request may be sent."""
        now = asyncio.get_running_loop().time
        since = now()
        async with self._background if background else self._people:
            try:
                if background:
                    self._waiting_since = since
                due = self._due(now(), background=background)
                while due > now():
                    await asyncio.sleep(due - now())
                    due = self._due(now(), background=background)
                self._given.append(now())
            finally:
                if background:
                    self._waiting_since = math.inf

    def _due(self, now: float, *, background: bool) -> float:
        """Return when the next request of this class may be sent; one of the two classes has priority."""
        overdue = self._waiting_since + SECOND
        if background is (now >= overdue):
            return self._full_until(self._per_second)
        slots = max(1, self._per_second - 1)
        behind = self._full_until(slots)
        if not background:
            return behind
        keep_coming = behind >= now - SECOND
        return min(overdue, max(behind, self._given[-1] + SECOND / slots) if keep_coming else behind)

    def _full_until(self, slots: int) -> float:
        """Return until when one more request would exceed `slots` per second."""
        return self._given[-slots] + SECOND if len(self._given) >= slots else -math.inf
