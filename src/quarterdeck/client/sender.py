"""Sends calls at a decent pace and once more where that is safe."""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import count

from quarterdeck.client.calls import Call, Repeat, Reply
from quarterdeck.client.errors import Outcome, ServiceError
from quarterdeck.client.exchanges import Exchanges
from quarterdeck.client.failures import final
from quarterdeck.client.limits import Limits
from quarterdeck.client.pace import Pace
from quarterdeck.client.retry import again

Settle = Callable[[], Awaitable[Outcome]]
"""Reads back whether a write whose answer got lost was done: APPLIED, NOT_APPLIED, or UNKNOWN when it cannot tell."""
SETTLED = Reply(200, b"{}")
"""Stands for the lost answer of a write that turned out to be done."""
FAILED = 500
"""The status of a server's own failure; 502 to 504 may come from what stands before it."""


class Sender:
    """One server, asked no more often than `pace` allows; None asks at once, for a server in this process."""

    def __init__(self, exchanges: Exchanges, pace: Pace | None) -> None:
        self._exchanges = exchanges
        self._pace = pace

    @property
    def limits(self) -> Limits:
        """The limits everything is read under."""
        return self._exchanges.limits

    @property
    def base(self) -> str:
        """The server's address, without a trailing slash."""
        return self._exchanges.base

    async def send(self, call: Call, settle: Settle | None = None) -> Reply:
        """Send a call and return its answer of status 2xx, repeating it as the retry table allows.

        All tries of a read share one deadline. Raises ServiceError for every other end.
        """
        await self._turn(call)
        deadline = self._deadline(call)
        for repeats in count():
            try:
                return await self._exchanges.attempt(call, deadline)
            except ServiceError as error:
                step = again(
                    call.repeat, error.kind, status=error.status, retry_after=error.retry_after, repeats=repeats
                )
                if step is None:
                    if await _ended(call, error, settle) is Outcome.APPLIED:
                        return SETTLED
                    raise final(call, error) from None
                wait = max(step.after, self.limits.repeat_after * 2**repeats)
                if call.repeat is Repeat.READ and _now() + wait >= deadline:
                    raise
                await asyncio.sleep(wait)
                done = await _settled(settle) if step.recheck else Outcome.NOT_APPLIED
                if done is Outcome.APPLIED:
                    return SETTLED
                if done is Outcome.UNKNOWN:
                    raise final(call, error) from None
            await self._turn(call)
            deadline = deadline if call.repeat is Repeat.READ else self._deadline(call)
        raise AssertionError("counting has no end")

    async def _turn(self, call: Call) -> None:
        if self._pace is not None:
            await self._pace.turn(background=call.background)

    def _deadline(self, call: Call) -> float:
        return _now() + self._exchanges.seconds(call)


async def _settled(settle: Settle | None) -> Outcome:
    """Ask whether a write was done; a question that fails leaves it unknown."""
    try:
        return Outcome.UNKNOWN if settle is None else await settle()
    except ServiceError:
        return Outcome.UNKNOWN


async def _ended(call: Call, error: ServiceError, settle: Settle | None) -> Outcome:
    """What became of a write that is not repeated.

    A server that answers that it failed has nothing under way for that record any more: one more reading tells.
    """
    if settle is not None and call.item and error.status == FAILED:
        error.outcome = await _settled(settle)
    return error.outcome


def _now() -> float:
    return asyncio.get_running_loop().time()
