"""Whether the address of a sandbox answers, asked no more often than needed."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

_ANSWERS_WITHIN = 0.5
_BELIEVED_FOR = 5.0
"""Seconds: for an answer to come, and how long one is believed."""
_RESTS_AFTER_SILENCE = 4
"""How many times as long as it was waited in vain nobody is asked again: a refusal is quick, a hung process is not."""


async def answers(port: int) -> bool:
    """Ask ``/alive`` on a port of 127.0.0.1; any HTTP answer is one."""
    try:
        async with asyncio.timeout(_ANSWERS_WITHIN):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(b"GET /alive HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")
                return (await reader.readline()).startswith(b"HTTP/")
            finally:
                writer.close()
    except (OSError, TimeoutError, ValueError):  # ValueError: a first line without end
        return False


@dataclass(frozen=True)
class _Heard:
    silent_since: float | None
    believed_until: float


class Liveness:
    """Remembers what ports answered; death is seen in the process itself, so a remembered answer hides none."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._heard: dict[int, _Heard] = {}

    async def silence(self, port: int) -> float | None:
        """For how many seconds the port has been found silent; None when it answers."""
        last = self._heard.get(port)
        asked_at = self._clock()
        if last is None or asked_at > last.believed_until:
            answered = await answers(port)
            now = self._clock()
            since = None if answered else (last and last.silent_since) or asked_at
            rest = _BELIEVED_FOR if answered else _RESTS_AFTER_SILENCE * (now - asked_at)
            last = self._heard[port] = _Heard(since, now + rest)
        return None if last.silent_since is None else self._clock() - last.silent_since

    def forget(self, port: int) -> None:
        """Ask anew next time, and count silence from then."""
        self._heard.pop(port, None)
