"""A simulated service with a clock of its own, asked as the deck asks it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

from quarterdeck.local.runtime.simulated import Simulation
from quarterdeck.local.service import LocalService
from tests.local.conftest import Caller, Json

SANDBOXES = "/api/v1/sandboxes"
CONVERSATIONS = "/api/v1/app-conversations"


class Time:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def passes(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


class Simulated(Caller):
    """Asks a simulated service, and moves its time."""

    time: Time

    async def all(self, path: str = SANDBOXES) -> list[Json]:
        """Every record of a list."""
        records: list[Json] = []
        query: dict[str, str] = {}
        while True:
            page = await self.get(f"{path}/search", **query)
            records += page["items"]
            if page["next_page_id"] is None:
                return records
            query = {"page_id": page["next_page_id"]}

    async def any(self, status: str) -> str:
        """The id of a sandbox that reads so."""
        return next(str(record["id"]) for record in await self.all() if record["status"] == status)


@asynccontextmanager
async def simulated(simulation: Simulation) -> AsyncIterator[Simulated]:
    time = Time()
    service = await LocalService.simulated(simulation, clock=time)
    caller = Simulated(service)
    caller.time = time
    try:
        yield caller
    finally:
        await caller.http.aclose()
        await service.close()
