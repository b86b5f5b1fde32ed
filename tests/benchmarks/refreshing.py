"""Reading 10,000 records again, against httpx alone: CPU of this process."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterator

import httpx

from quarterdeck.client.client import Client
from quarterdeck.client.limits import Limits
from quarterdeck.client.models.sandbox import Sandbox
from quarterdeck.fleet.records import FullPass, Records
from tests.benchmarks import cases
from tests.benchmarks.budgets import Measured, ratio

ROUNDS = 5
SIZE = 10_000
AT_ONCE = 1_000_000
Read = Callable[[], Awaitable[None]]


def measure() -> Iterator[Measured]:
    """Unchanged, and with one record of each page changed."""
    with cases.server(SIZE) as address:
        mine, bare = asyncio.run(_compare(address, parsed=False))
        yield Measured(f"unchanged refresh of {SIZE:,} / httpx without parsing", ratio(mine, bare), 1.03)
    with cases.server(SIZE, churn=0.01) as address:
        mine, bare = asyncio.run(_compare(address, parsed=True))
        yield Measured(f"changed refresh of {SIZE:,} / httpx and json", ratio(mine, bare), 1.1)


async def _compare(address: str, *, parsed: bool) -> tuple[list[float], list[float]]:
    records: Records[Sandbox] = Records()
    limits = Limits(per_second=AT_ONCE)
    async with Client(address, limits=limits) as client, httpx.AsyncClient() as bare:

        async def refresh() -> None:
            reading = FullPass(records)
            async for page in client.sandboxes.pages():
                reading.add(page)
            reading.complete()

        async def fetch() -> None:
            following: str | None = "0"
            while following is not None:
                query = {"limit": "100", "page_id": following}
                answer = await bare.get(f"{address}/api/v1/sandboxes/search", params=query)
                if parsed:
                    following = json.loads(answer.content)["next_page_id"]
                else:
                    following = str(int(following) + 100) if int(following) + 100 < SIZE else None

        await refresh()
        await fetch()
        seconds: tuple[list[float], list[float]] = ([], [])
        for _ in range(ROUNDS):
            for read, known in zip((refresh, fetch), seconds, strict=True):
                await asyncio.sleep(0.6)  # long enough for the server to change records in between
                known.append(await _cpu(read))
        return seconds


async def _cpu(read: Read) -> float:
    began = time.process_time()
    await read()
    return time.process_time() - began
