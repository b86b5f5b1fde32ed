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


async def test_a_background_turn_that_has_waited_a_second_goes_next_and_the_limit_stays() -> None:
    turns = Pace(5)
    given: list[tuple[float, str]] = []

    async def take(name: str, times: int, *, background: bool) -> None:
        for _ in range(times):
            await turns.turn(background=background)
            given.append((time.monotonic(), name))

    people = [take("person", 10, background=False) for _ in range(4)]
    await asyncio.gather(*people, take("watch", 4, background=True))
    moments = [when for when, _ in given]
    assert all(later - earlier >= SECOND * 0.95 for earlier, later in zip(moments, moments[5:], strict=False))
    watched = [at for at, (_, name) in enumerate(given) if name == "watch"]
    # One turn a second for each who waits in the background: the sixth of each six, or so.
    assert watched[-1] < len(given) - 10
    assert all(5 <= later - earlier <= 7 for earlier, later in zip([-1, *watched], watched, strict=False))
