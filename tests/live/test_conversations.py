"""Asking a real server for a conversation: it always says yes, and what became of it stands in the start task."""

import pytest

from quarterdeck.client.client import Client
from quarterdeck.client.models.conversation import NewConversation, StartTask
from quarterdeck.client.models.enums import StartTaskStatus
from tests.live.kit import ended, listed_tasks

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]


async def test_a_start_is_listed_at_once(client: Client, started: StartTask) -> None:
    assert started.id in await listed_tasks(client)


async def test_a_sandbox_that_is_not_there_is_an_error_of_the_start_task(client: Client) -> None:
    created = await client.conversations.create(NewConversation(sandbox_id="surely-not-there"))
    assert isinstance(created, StartTask)
    task = await ended(client, created.id)
    assert task is not None
    assert task.status == StartTaskStatus.ERROR
    assert "surely-not-there" in (task.detail or "")


async def test_conversations_that_are_not_there_are_told_from_those_that_are(client: Client) -> None:
    assert await client.conversations.read(("0" * 32, "f" * 32)) == (None, None)
