"""Asking a real server for a conversation: it always says yes, and what became of it stands in the start task."""

import pytest

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.models.conversation import NewConversation, StartTask
from quarterdeck.client.models.enums import StartTaskStatus
from tests.live.kit import delete_sandbox_left_by, ended, listed_tasks, refused

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]


async def test_a_sandbox_that_is_not_there_is_an_error_of_the_start_task(client: Client) -> None:
    created = await client.conversations.create(NewConversation(sandbox_id="surely-not-there"))
    assert isinstance(created, StartTask)
    task = await ended(client, created.id)
    assert task is not None
    assert task.status == StartTaskStatus.ERROR
    assert "surely-not-there" in (task.detail or "")


async def test_one_is_started_and_listed_and_deleted_or_its_failure_is_told(client: Client, notes: list[str]) -> None:
    created = await client.conversations.create(NewConversation())
    assert isinstance(created, StartTask)
    assert created.id in await listed_tasks(client)
    task = await ended(client, created.id)
    assert task is not None
    if task.status == StartTaskStatus.ERROR:
        assert task.app_conversation_id is None
        assert task.detail is not None
        first_line = task.detail.partition("\n")[0][:100]
        notes.append(f"conversation: its start failed, and the start task says {first_line!r}")
    else:
        assert task.app_conversation_id is not None
        notes.append(f"conversation: started, listed, {await deleted(client, task.app_conversation_id)}")
    await delete_sandbox_left_by(client, created.id)


async def deleted(client: Client, conversation_id: str) -> str:
    """What came of a deletion."""
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
