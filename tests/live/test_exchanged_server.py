"""One server unplugged and another plugged in behind one address: it is noticed, and nothing is written blindly."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import permutations

import pytest

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind
from quarterdeck.client.models.server import KeyState
from quarterdeck.fleet.news import About, News
from quarterdeck.fleet.session import Session
from tests.live.forwarder import Forwarder, forwarder
from tests.live.refused import refused
from tests.live.settings_kit import settings_of
from tests.live.targets import TARGETS, Target
from tests.live.waiting import until

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]

PAIRS = [pytest.param(*pair, id="-".join(target.label for target in pair)) for pair in permutations(TARGETS, 2)] or [
    pytest.param(None, None, id="no-pair", marks=pytest.mark.skip(reason="QUARTERDECK_LIVE_URLS names no two servers"))
]
NOTICED = 70.0
"""Seconds: a description is believed for a minute when nothing speaks against it."""
CHANGE = {"git_user_name": "written blindly"}


@pytest.mark.parametrize(("first", "second"), PAIRS)
async def test_it_is_noticed_and_nothing_is_written_blindly(first: Target, second: Target) -> None:
    async with forwarder() as plugs, second.client() as there:
        plugs.plug(first.url)
        async with Client(plugs.url, first.key) as client:
            was = await client.describe()
            if was.generation is (await there.describe()).generation:
                pytest.skip(f"{first.label} and {second.label} are of one generation")
            base, untouched = await settings_of(client), await there.settings.load()

            await plugs.unplug()
            with refused(ErrorKind.BROKEN):
                await client.describe()
            plugs.plug(second.url)

            # Not described again: what was known of the first server leads nowhere on the second one.
            with refused(ErrorKind.WRONG_API):
                await client.settings.load()
            with refused(ErrorKind.WRONG_API):
                await client.settings.store(base, CHANGE)
            assert await there.settings.load() == untouched

            # Described again: another server, and what was read from the first one is not stored there.
            now = await client.describe()
            assert (now.generation, now.fields) == (there.server.generation, there.server.fields)
            assert now.key is (KeyState.ACCEPTED if first.key == second.key else KeyState.REFUSED)
            with refused(ErrorKind.WRONG_API, unsent=True):
                await client.settings.store(base, CHANGE)
            assert await there.settings.load() == untouched

            await back_again(plugs, first, client)
            assert await client.describe() == was
            assert await client.settings.load() == base


async def back_again(plugs: Forwarder, target: Target, client: Client) -> None:
    """Plug the first server in again while the client still goes by the second one."""
    await plugs.unplug()
    plugs.plug(target.url)
    with refused(ErrorKind.WRONG_API):
        await client.settings.load()


@pytest.mark.parametrize(("first", "second"), PAIRS)
async def test_an_open_deck_notices_it_by_itself(first: Target, second: Target) -> None:
    told: list[News] = []
    async with forwarder() as plugs, Client(plugs.url, first.key) as client:
        plugs.plug(first.url)
        session = Session(client, told.append, lambda: datetime.now(UTC))
        session.look(About.SANDBOXES, ())
        running = asyncio.create_task(session.run())
        try:
            await seen(lambda: session.server is not None and session.sandboxes.health.read_at is not None)
            was = session.server
            await plugs.unplug()
            await seen(lambda: session.sandboxes.health.failures > 0)
            plugs.plug(second.url)
            await seen(lambda: session.server != was)
            assert any(news.another_server for news in told)
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


async def seen(condition: Callable[[], bool]) -> None:
    """Wait for what the deck comes to know by itself."""

    async def look() -> bool:
        return condition()

    await until(look, bool, NOTICED)
