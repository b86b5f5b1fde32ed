"""Reading sandboxes one at a time, and waiting until one reads as asked."""

import asyncio
from collections.abc import Callable

from quarterdeck.service.client import ServiceClient
from quarterdeck.service.models.sandbox import Sandbox

EVERY = 0.5
"""Seconds between two readings."""


async def read_one(client: ServiceClient, sandbox_id: str) -> Sandbox | None:
    """The sandbox, or None when the server has none of this id; reads the list where no batch can be read."""
    answer = await client.sandboxes.read([sandbox_id])
    if answer is not None:
        return answer[0]
    async for page in client.sandboxes.pages():
        for sandbox in page.items:
            if sandbox.id == sandbox_id:
                return sandbox
    return None


async def read_until(client: ServiceClient, sandbox_id: str, good: Callable[[str], bool], seconds: float) -> str | None:
    """Read until the status is good or time is up; the last status, None for a sandbox that is gone."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while True:
        sandbox = await read_one(client, sandbox_id)
        if sandbox is None or good(sandbox.status) or loop.time() + EVERY > end:
            return None if sandbox is None else sandbox.status
        await asyncio.sleep(EVERY)
