"""How long a request may take, how much an answer may hold, and how often a server is asked."""

import asyncio
import math
from collections import deque
from typing import NamedTuple

SECOND = 1.0


class Limits(NamedTuple):
    """Times in seconds, sizes in bytes of the decoded body, the rest are counts."""

    connect: float = 5.0
    """Until a connection comes about, or one is free."""
    read: float = 20.0
    """Between two pieces of an answer."""
    kept: float = 4.0
    """In which a connection is used again: the watch reads every 2 s, and uvicorn hangs up after 5."""
    total: float = 30.0
    quick: float = 5.0
    """For what is answered at once or never: by an agent server, a sandbox, a tool server."""
    slow: float = 90.0
    """For what a server does before it answers: pulling an image, deleting a sandbox, letting a tool end."""
    trajectory: float = 180.0
    """For a trajectory: a server packs it first, and it may be long."""
    release: float = 10.0
    ping: float = 20.0
    """Between two pings of a socket, and until one is answered."""
    repeat_after: float = 0.3
    """Before the first repeat; it doubles with each."""
    body: int = 16 * 2**20
    list_body: int = 32 * 2**20
    """A server may answer with all its records at once, a kilobyte each."""
    trajectory_body: int = 256 * 2**20
    page: int = 100
    """Records asked for in one page; more is refused by every release."""
    batch: int = 99
    """Ids asked for in one request."""
    pages: int = 1_100
    empty_pages: int = 3
    per_second: int = 5
    log: int = 500


class Pace:
    """Gives out turns, at most `per_second` in any second and one fewer to background requests.

    A real server slows a client down that asks more than ten times a second, browsers of the same user included
    (SERVERS.md: rate), and the slot kept free lets a key press go at once while a long list is read. A background
    request that has waited for a second goes next: what people asked for is confirmed by such readings.

    The first background requests go at once. Those that keep coming go one by one: four answers at a time, every
    second, would hold up a key four times as long as one does.
    """

    def __init__(self, per_second: int) -> None:
        self._per_second = per_second
        self._given: deque[float] = deque(maxlen=per_second)
        self._people, self._background = asyncio.Lock(), asyncio.Lock()
        self._waiting_since = math.inf
        """Since when the first request in the background has waited, on the loop's clock as all times here."""

    async def turn(self, *, background: bool = False) -> None:
        """Wait until the next request may go."""
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
        """When the next turn is due for people or in the background; of the two one goes before the other."""
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
        """Until when one more turn would make more than `slots` of them in a second."""
        return self._given[-slots] + SECOND if len(self._given) >= slots else -math.inf
