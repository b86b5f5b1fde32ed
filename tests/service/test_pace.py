import asyncio
import time

import pytest

from quarterdeck.service import pace
from quarterdeck.service.pace import Pace

SECOND = 0.1


@pytest.fixture(autouse=True)
def _a_short_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "SECOND", SECOND)


async def test_no_second_holds_more_turns_than_allowed() -> None:
    turns = Pace(5)
    given: list[float] = []

    async def take() -> None:
        await turns.turn()
        given.append(time.monotonic())

    await asyncio.gather(*(take() for _ in range(12)))
    assert all(later - earlier >= SECOND * 0.95 for earlier, later in zip(given, given[5:], strict=False))


async def test_a_person_goes_before_all_background_requests_that_wait() -> None:
    turns = Pace(3)
    order: list[str] = []

    async def take(name: str, background: bool) -> None:
        await turns.turn(background=background)
        order.append(name)

    await asyncio.gather(*(take(f"watch {number}", True) for number in range(5)), take("person", False))
    assert order.index("person") == 2


async def test_a_turn_nobody_waits_for_any_more_is_given_to_the_next() -> None:
    turns = Pace(1)
    await turns.turn()
    abandoned = asyncio.create_task(turns.turn())
    waiting = asyncio.create_task(turns.turn())
    await asyncio.sleep(0)
    abandoned.cancel()
    started = time.monotonic()
    await waiting
    assert time.monotonic() - started < 1.9 * SECOND
