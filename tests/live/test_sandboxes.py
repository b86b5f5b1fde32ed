"""Sandboxes on a real server, whose idle ones may read STARTING for ever, and starts of conversations: always taken."""

import pytest

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.models.conversation import NewConversation
from quarterdeck.client.models.enums import SandboxStatus, StartTaskStatus
from tests.live.kit import delete_sandbox_left_by, refused, started
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


async def test_a_sandbox_that_is_not_there_is_an_error_of_the_start_task(client: Client) -> None:
    task = await started(client, NewConversation(sandbox_id="surely-not-there"))
    assert task.status == StartTaskStatus.ERROR
    assert "surely-not-there" in (task.detail or "")


async def test_one_is_started_and_listed_and_deleted_or_its_failure_is_told(client: Client, notes: list[str]) -> None:
    task = await started(client, NewConversation())
    if task.status == StartTaskStatus.ERROR:
        assert task.app_conversation_id is None
        assert task.detail is not None
        first_line = task.detail.partition("\n")[0][:100]
        notes.append(f"conversation: its start failed, and the start task says {first_line!r}")
    else:
        assert task.app_conversation_id is not None
        notes.append(f"conversation: started, listed, {await deleted(client, task.app_conversation_id)}")
    await delete_sandbox_left_by(client, task.id)


async def deleted(client: Client, conversation_id: str) -> str:
    unknown, found = await client.conversations.read(("0" * 32, conversation_id)) or ()
    assert (unknown, found and found.id) == (None, conversation_id)
    assert conversation_id in {item.id async for page in client.conversations.pages() for item in page.items}
    try:
        await client.conversations.delete(conversation_id)
    except ServiceError as error:
        if error.kind is not ErrorKind.NOT_OFFERED:
            raise
        return "but this server cannot delete it"
    assert await client.conversations.read((conversation_id,)) == (None,)
    with refused(ErrorKind.MISSING):
        await client.conversations.delete(conversation_id)
    return "deleted"
