"""The end of a conversation's start on a real server, which may take it two minutes: other tests run before this."""

import pytest

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.models.conversation import StartTask
from quarterdeck.client.models.enums import StartTaskStatus
from tests.live.conftest import Notes
from tests.live.kit import ended, refused

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]


async def test_it_lives_and_is_deleted_or_its_failure_is_told(client: Client, started: StartTask, notes: Notes) -> None:
    task = await ended(client, started.id)
    assert task is not None
    if task.status == StartTaskStatus.ERROR:
        assert task.app_conversation_id is None
        assert task.detail is not None
        first_line = task.detail.partition("\n")[0][:100]
        notes.add(f"conversation: its start failed, and the start task says {first_line!r}")
        return
    assert task.app_conversation_id is not None
    (found,) = await client.conversations.read((task.app_conversation_id,)) or ()
    assert found is not None
    assert found.sandbox_id == task.sandbox_id
    assert found.id in {item.id async for page in client.conversations.pages() for item in page.items}
    try:
        await client.conversations.delete(found.id)
    except ServiceError as error:
        if error.kind is not ErrorKind.NOT_OFFERED:
            raise
        notes.add("conversation: started and listed; this server cannot delete it")
        return
    assert await client.conversations.read((found.id,)) == (None,)
    with refused(ErrorKind.MISSING):
        await client.conversations.delete(found.id)
    notes.add("conversation: started, listed and deleted")
