"""Waiting for what a real server does in its own time."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")
BETWEEN = 0.5
"""Seconds between two readings."""


async def until(read: Callable[[], Awaitable[T]], good: Callable[[T], bool], seconds: float) -> T:
    """Read again and again until it is good; fails with the last reading when it is not within so many seconds."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not good(found := await read()):
        assert asyncio.get_running_loop().time() < deadline, f"after {seconds:g} s it still reads {found}"
        await asyncio.sleep(BETWEEN)
    return found
