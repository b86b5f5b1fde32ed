"""How often a server is asked: what a person wants goes first, and never more than a few requests in any second."""

import asyncio
from collections import deque

SECOND = 1.0


class Pace:
    """Gives out turns, at most `per_second` in any second and one fewer to background requests.

    A real server slows a client down that asks more than ten times a second, browsers of the same user included
    (contract section h), and the slot kept free lets a key press go at once while a long list is read.
    """

    def __init__(self, per_second: int) -> None:
        self._per_second = per_second
        self._given: deque[float] = deque(maxlen=per_second)
        self._people: deque[asyncio.Future[None]] = deque()
        self._background: deque[asyncio.Future[None]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    async def turn(self, *, background: bool = False) -> None:
        """Wait until the next request may go."""
        waiter = asyncio.get_running_loop().create_future()
        (self._background if background else self._people).append(waiter)
        self._give()
        await waiter

    def _give(self) -> None:
        """Give out every turn that is due, and set the timer for the next one."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        loop = asyncio.get_running_loop()
        for queue, slots in ((self._people, self._per_second), (self._background, max(1, self._per_second - 1))):
            while queue:
                due = self._due(slots)
                if due > loop.time():
                    self._timer = loop.call_at(due, self._give)
                    return
                waiter = queue.popleft()
                if not waiter.done():
                    waiter.set_result(None)
                    self._given.append(loop.time())

    def _due(self, slots: int) -> float:
        """When one more turn makes no more than `slots` of them in a second, on the loop's clock."""
        return self._given[-slots] + SECOND if len(self._given) >= slots else 0.0
