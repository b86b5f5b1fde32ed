"""Opening a simulated service: the local service's settings, in memory, and sandboxes that are pretended."""

import asyncio
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path

from pydantic import SecretStr

from quarterdeck.local.launching import new_key
from quarterdeck.local.routes.specs import specs_router
from quarterdeck.local.service import LocalService, build, merging
from quarterdeck.local.simulated.creating import Creating
from quarterdeck.local.simulated.route_conversations import conversations_router, start_tasks_router
from quarterdeck.local.simulated.route_sandboxes import sandboxes_router
from quarterdeck.local.simulated.simulation import Clock, Simulation
from quarterdeck.local.simulated.words import SPECS
from quarterdeck.local.simulated.world import World
from quarterdeck.local.store import Store


def _now() -> datetime:
    return datetime.now(UTC)


async def open_simulated(simulation: Simulation, *, key: SecretStr | None = None, clock: Clock = _now) -> LocalService:
    """Open a service of which nothing is kept and nothing is real, with a key made if none is given."""
    key = key or SecretStr(new_key())
    async with AsyncExitStack() as opened:
        database = await Store.in_memory()
        opened.push_async_callback(database.close)
        generation = await asyncio.to_thread(merging, database)
        world = await asyncio.to_thread(World, simulation, clock)
        creating = Creating(world)
        routers = (sandboxes_router(world), start_tasks_router(creating), conversations_router(world, creating))
        specs = specs_router(SPECS)
        app = await asyncio.to_thread(build, Path.home(), generation, routers, specs, key, simulation.sandboxes)
        return LocalService(app, key, opened.pop_all())
