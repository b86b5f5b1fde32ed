"""The life of a sandbox on a real server, whose idle sandboxes may read STARTING for ever."""

import pytest

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind
from quarterdeck.client.models.enums import SandboxStatus
from tests.live.kit import refused
from tests.local.conftest import until

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]

SOON = 30.0
UP = (SandboxStatus.STARTING, SandboxStatus.RUNNING)


async def test_a_sandbox_is_started_read_paused_resumed_and_deleted(client: Client, notes: list[str]) -> None:
    specs = await client.sandboxes.specs()
    assert specs
    sandbox = await client.sandboxes.start(specs[0].id)
    seen = [sandbox.status]

    async def reads(*wanted: str) -> None:
        """Wait until it reads one of these, or is gone where none is wanted."""

        async def there() -> bool:
            unknown, found = await client.sandboxes.read(("surely-not-there", sandbox.id)) or ()
            assert unknown is None
            if found is not None and found.status != seen[-1]:
                seen.append(found.status)
            return found.status in wanted if found else not wanted

        await until(there, SOON)

    try:
        assert sandbox.sandbox_spec_id == specs[0].id
        assert sandbox.id in await listed(client)
        await reads(*UP)
        await client.sandboxes.pause(sandbox.id)
        await reads(SandboxStatus.PAUSED)
        await client.sandboxes.pause(sandbox.id)
        await client.sandboxes.resume(sandbox.id)
        await reads(*UP)
    finally:
        await client.sandboxes.delete(sandbox.id)
    await reads()
    assert sandbox.id not in await listed(client)
    for order in (client.sandboxes.pause, client.sandboxes.resume, client.sandboxes.delete):
        with refused(ErrorKind.MISSING):
            await order(sandbox.id)
    notes.append(f"sandbox: read {', '.join(seen)}, gone")


async def listed(client: Client) -> set[str]:
    return {sandbox.id async for page in client.sandboxes.pages() for sandbox in page.items}
