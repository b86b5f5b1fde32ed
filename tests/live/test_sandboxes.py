"""The life of a sandbox on a real server, whose idle sandboxes may read STARTING for ever."""

import pytest

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind
from quarterdeck.client.models.enums import SandboxStatus
from tests.live.conftest import Notes
from tests.live.kit import refused, until

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]

SOON = 30.0
UP = (SandboxStatus.STARTING, SandboxStatus.RUNNING)


async def test_a_sandbox_is_started_read_paused_resumed_and_deleted(client: Client, notes: Notes) -> None:
    specs = await client.sandboxes.specs()
    assert specs
    sandbox = await client.sandboxes.start(specs[0].id)
    seen = [sandbox.status]

    async def read() -> str | None:
        unknown, found = await client.sandboxes.read(("surely-not-there", sandbox.id)) or ()
        assert unknown is None
        if found is not None and found.status != seen[-1]:
            seen.append(found.status)
        return None if found is None else found.status

    try:
        assert sandbox.sandbox_spec_id == specs[0].id
        assert sandbox.id in await listed(client)
        await until(read, lambda status: status in UP, SOON)
        await client.sandboxes.pause(sandbox.id)
        await until(read, lambda status: status == SandboxStatus.PAUSED, SOON)
        await client.sandboxes.pause(sandbox.id)
        await client.sandboxes.resume(sandbox.id)
        await until(read, lambda status: status in UP, SOON)
    finally:
        await client.sandboxes.delete(sandbox.id)
    await until(read, lambda status: status is None, SOON)
    assert sandbox.id not in await listed(client)
    with refused(ErrorKind.MISSING):
        await client.sandboxes.delete(sandbox.id)
    notes.add(f"sandbox: read {', '.join(seen)}, gone")


async def test_sandboxes_that_are_not_there_are_told_from_those_that_are(client: Client) -> None:
    assert await client.sandboxes.read(("surely-not-there", "nor-this")) == (None, None)
    for order in (client.sandboxes.pause, client.sandboxes.resume):
        with refused(ErrorKind.MISSING):
            await order("surely-not-there")


async def listed(client: Client) -> set[str]:
    return {sandbox.id async for page in client.sandboxes.pages() for sandbox in page.items}
