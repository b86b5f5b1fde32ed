"""The end of a conversation's start on a real server, which may take it two minutes: other tests run before this."""

import pytest

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.models.conversation import Conversation, StartTask
from quarterdeck.client.models.enums import StartTaskStatus
from tests.live.kit import ended, refused
from tests.live.summary import Notes

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]


async def test_it_lives_and_is_deleted_or_its_failure_is_told(client: Client, started: StartTask, notes: Notes) -> None:
    task = await ended(client, started.id)
    assert task is not None
    if task.status == StartTaskStatus.ERROR:
        assert task.app_conversation_id is None
        assert task.detail is not None
        notes.add(
            f"conversation: its start failed, and the start task says {task.detail.partition(chr(10))[0][:100]!r}"
        )
        return
    assert task.app_conversation_id is not None
    found = await conversation(client, task.app_conversation_id)
    assert found is not None
    assert found.sandbox_id == task.sandbox_id
    assert found.id in {item.id async for page in client.conversations.pages() for item in page.items}
    if await deleted(client, found.id):
        assert await conversation(client, found.id) is None
        with refused(ErrorKind.MISSING):
            await client.conversations.delete(found.id)
        notes.add("conversation: started, listed and deleted")
    else:
        notes.add("conversation: started and listed; this server cannot delete it")


async def deleted(client: Client, conversation_id: str) -> bool:
    """Delete a conversation; False where the server offers no such thing."""
    try:
        await client.conversations.delete(conversation_id)
    except ServiceError as error:
        if error.kind is not ErrorKind.NOT_OFFERED:
            raise
        return False
    return True


async def conversation(client: Client, conversation_id: str) -> Conversation | None:
    batch = await client.conversations.read((conversation_id,))
    assert batch is not None
    return batch[0]
