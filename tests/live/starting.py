"""Following the start of a conversation: what became of it is only in its start task."""

from quarterdeck.client.client import Client
from quarterdeck.client.models.conversation import StartTask
from quarterdeck.client.models.enums import StartTaskStatus
from tests.live.waiting import until

LONGEST = 200.0
"""Seconds: a server may itself wait 120 for a sandbox to read RUNNING."""


async def task_of(client: Client, task_id: str) -> StartTask | None:
    """Read a start task; it may go with its conversation."""
    batch = await client.conversations.start_tasks((task_id,))
    assert batch is not None
    return batch[0]


async def ended(client: Client, task_id: str) -> StartTask | None:
    """Wait for the end of a start task, None for one that is gone."""
    ends = (StartTaskStatus.READY, StartTaskStatus.ERROR)
    return await until(lambda: task_of(client, task_id), lambda task: task is None or task.status in ends, LONGEST)


async def delete_sandbox_left_by(client: Client, task_id: str) -> None:
    """Delete the sandbox that a start left, once it has ended; one that went with its conversation is gone already."""
    task = await ended(client, task_id)
    if task is None or task.sandbox_id is None:
        return
    batch = await client.sandboxes.read((task.sandbox_id,))
    if batch is not None and batch[0] is not None:
        await client.sandboxes.delete(task.sandbox_id)
