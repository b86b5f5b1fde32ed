"""What tests on real servers share: refusals, waiting, and following the start of a conversation."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.models.conversation import StartTask
from quarterdeck.client.models.enums import StartTaskStatus

T = TypeVar("T")
BETWEEN = 0.5
"""Seconds between two readings."""
LONGEST = 200.0
"""Seconds a start may take: a server may itself wait 120 for a sandbox to read RUNNING."""


@contextmanager
def refused(kind: ErrorKind, *, unsent: bool = False) -> Iterator[None]:
    """Expect a ServiceError of this kind, with `unsent` one for a request that never left."""
    with pytest.raises(ServiceError) as caught:
        yield
    assert caught.value.kind is kind, f"{caught.value.kind}: {caught.value.words}"
    assert not unsent or caught.value.outcome is Outcome.NOT_SENT


async def until(read: Callable[[], Awaitable[T]], good: Callable[[T], bool], seconds: float) -> T:
    """Read again and again until it is good; fails with the last reading when it is not within so many seconds."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not good(found := await read()):
        assert asyncio.get_running_loop().time() < deadline, f"after {seconds:g} s it still reads {found}"
        await asyncio.sleep(BETWEEN)
    return found


async def ended(client: Client, task_id: str) -> StartTask | None:
    """Wait for the end of a start task, None for one that is gone: it may go with its conversation."""

    async def read() -> StartTask | None:
        (task,) = await client.conversations.start_tasks((task_id,)) or ()
        return task

    ends = (StartTaskStatus.READY, StartTaskStatus.ERROR)
    return await until(read, lambda task: task is None or task.status in ends, LONGEST)


async def delete_sandbox_left_by(client: Client, task_id: str) -> None:
    """Delete the sandbox that a start left, once it has ended; one that went with its conversation is gone already."""
    task = await ended(client, task_id)
    if task is None or task.sandbox_id is None:
        return
    batch = await client.sandboxes.read((task.sandbox_id,))
    if batch is not None and batch[0] is not None:
        await client.sandboxes.delete(task.sandbox_id)
