"""Who is given a turn, and when; the clock of the loop moves on at once to when something is due."""

import asyncio
import itertools
import selectors
from collections.abc import AsyncIterator

import pytest

from quarterdeck.client.limits import SECOND, RateLimiter

NEARLY = 0.999


@pytest.fixture(autouse=True)
async def _nobody_waits(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    loop = asyncio.get_running_loop()
    selector = loop._selector  # type: ignore[attr-defined]
    select, now = selector.select, loop.time()

    def move_on(timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        nonlocal now
        now += timeout or 0.0
        ready: list[tuple[selectors.SelectorKey, int]] = select(timeout and 0)
        return ready

    monkeypatch.setattr(loop, "time", lambda: now)
    monkeypatch.setattr(selector, "select", move_on)
    yield
    monkeypatch.undo()


async def test_background_turns_come_in_their_order_and_the_limit_stays() -> None:
    turns = RateLimiter(5)
    given: list[tuple[float, str]] = []

    async def take(name: str, times: int, *, background: bool) -> None:
        for _ in range(times):
            await turns.turn(background=background)
            given.append((asyncio.get_running_loop().time(), name))

    await asyncio.gather(*[take("person", 10, background=False) for _ in range(4)], take("watch", 4, background=True))
    moments = [when for when, _ in given]
    assert all(later - earlier >= SECOND * NEARLY for earlier, later in zip(moments, moments[5:], strict=False))
    watched = [at for at, (_, name) in enumerate(given) if name == "watch"]
    assert watched == [9, 14, 19, 24], "the last of five who wait, the first of whom had five turns before they came"


async def test_background_requests_that_keep_coming_go_one_by_one_and_no_slower() -> None:
    turns = RateLimiter(5)
    given: list[float] = []
    for _ in range(16):
        await turns.turn(background=True)
        given.append(asyncio.get_running_loop().time())
    begun, rest = given[:4], given[4:]
    assert begun[-1] - begun[0] < SECOND / 4
    assert all(later - earlier >= SECOND / 4 * NEARLY for earlier, later in itertools.pairwise(rest))
    assert rest[-1] - begun[0] < 1.5 * len(given) / 4 * SECOND
