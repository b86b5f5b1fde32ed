"""Limits: how long a request may take, how large a response may be, and how often a server is asked."""

import asyncio
import math
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
    user (SERVERS.md: rate). The reserved slot lets a key press be sent at once while a long list is read. At most one
    background request goes before what a person requests later, because such readings confirm what people requested.

    The first background requests are sent at once, further ones evenly spaced: four responses at the same time would
    delay a key press four times as long as one does.
    """

    def __init__(self, per_second: int) -> None:
        self._slots = _Slots(per_second)
        behind = max(1, per_second - 1)
        self._background_slots = _Slots(behind, apart=SECOND / behind)
        self._background = asyncio.Lock()

    async def turn(self, *, background: bool) -> None:
        """Wait until the next request may be sent."""
        if not background:
            await self._slots.take()
            return
        async with self._background:
            await self._background_slots.take()
            await self._slots.take()


class _Slots:
    """Slots that are free again a second after they were taken, and at least some seconds `apart`."""

    def __init__(self, count: int, *, apart: float = 0.0) -> None:
        self._free = asyncio.Semaphore(count)
        self._apart = apart
        self._freed_at = -math.inf
        """When the slot taken last is free again, by the clock of the event loop."""

    async def take(self) -> None:
        """Wait for a slot, the first one first, and take it."""
        await self._free.acquire()
        loop = asyncio.get_running_loop()
        self._freed_at = max(loop.time() + SECOND, self._freed_at + self._apart)
        loop.call_at(self._freed_at, self._free.release)
