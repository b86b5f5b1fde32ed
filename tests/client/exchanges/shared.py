"""Exchanges that both releases know: sandboxes, specs, conversations and start tasks."""

from collections.abc import Mapping
from typing import Any

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind
from quarterdeck.client.models.conversation import NewConversation
from tests.client.exchanges.replay import Case, Exchange, does, refused

INVALID, MISSING, WRONG_API, SERVER = ErrorKind.INVALID, ErrorKind.MISSING, ErrorKind.WRONG_API, ErrorKind.SERVER
UNKNOWN = ErrorKind.UNKNOWN_OUTCOME


def shown(record: Any) -> dict[str, Any]:
    """What every list shows of a record."""
    return {name: getattr(record, name, None) for name in ("id", "status", "sandbox_status", "execution_status")}


def told(record: dict[str, Any]) -> dict[str, Any]:
    return {name: record.get(name) for name in ("id", "status", "sandbox_status", "execution_status")}


def same_page(result: Any, body: Any) -> bool:
    records = [shown(record) for record in result.items]
    return records == [told(item) for item in body["items"]] and result.more == (body["next_page_id"] is not None)


def same_batch(result: Any, body: Any) -> bool:
    read = [None if record is None else shown(record) for record in result]
    return read == [None if item is None else told(item) for item in body]


def same_items(result: Any, body: Any) -> bool:
    return [record.id for record in result] == [item["id"] for item in body["items"]]


def same_record(result: Any, body: Any) -> bool:
    return shown(result) == told(body)


async def sandboxes(client: Client, _: Exchange) -> Any:
    return await anext(aiter(client.sandboxes.pages()))


async def conversations(client: Client, _: Exchange) -> Any:
    return await anext(aiter(client.conversations.pages()))


async def batch(client: Client, one: Exchange) -> Any:
    return await client.sandboxes.read(one.values("id"))


async def conversation_batch(client: Client, one: Exchange) -> Any:
    return await client.conversations.read(one.values("ids"))


async def tasks(client: Client, one: Exchange) -> Any:
    return await client.conversations.start_tasks(one.values("ids"))


async def create(client: Client, one: Exchange) -> Any:
    message = one.body.get("initial_message", {}).get("content", [{}])[0].get("text")
    return await client.conversations.create(NewConversation(message=message, sandbox_id=one.body.get("sandbox_id")))


async def start(client: Client, one: Exchange) -> Any:
    return await client.sandboxes.start(one.query.get("sandbox_spec_id"))


async def pause(client: Client, one: Exchange) -> None:
    await client.sandboxes.pause(one.part(2))


async def resume(client: Client, one: Exchange) -> None:
    await client.sandboxes.resume(one.part(2))


async def delete(client: Client, one: Exchange) -> None:
    await client.sandboxes.delete(one.part(1))


SHARED: Mapping[str, Case] = {
    "sandboxes-search": does(sandboxes, same_page),
    "sandboxes-batch": does(batch, same_batch),
    "sandboxes-batch-unknown": does(batch, same_batch),
    "sandboxes-batch-killed": does(batch, same_batch),
    "sandboxes-flap-idle": does(batch, same_batch),
    "sandboxes-start": does(start, same_record),
    "sandboxes-start-unknown-spec": refused(start, UNKNOWN),
    "sandboxes-start-fails": refused(start, UNKNOWN),
    "sandboxes-pause": does(pause),
    "sandboxes-pause-killed": does(pause),
    "sandboxes-pause-unknown": refused(pause, MISSING),
    "sandboxes-missing-pause": refused(pause, MISSING),
    "sandboxes-resume": does(resume),
    "sandboxes-resume-unknown": refused(resume, MISSING),
    "sandboxes-delete-killed": does(delete),
    "sandboxes-delete-unknown": refused(delete, MISSING),
    "specs-search": does(lambda client, _: client.sandboxes.specs(), same_items),
    "convs-search": does(conversations, same_page),
    "convs-batch-unknown": does(conversation_batch, same_batch),
    "convs-batch-mixed": does(conversation_batch, same_batch),
    "convs-batch-dashed-uuid": does(conversation_batch, same_batch),
    "convs-batch-99": does(conversation_batch, same_batch),
    "convs-batch-bad-uuid": refused(conversation_batch, INVALID),
    "conv-get": does(conversation_batch, same_batch),
    "conv-get-sandbox-paused": does(conversation_batch, same_batch),
    "conv-create": does(create, same_record),
    "conv-create-unknown-sandbox": does(create, same_record),
    "conv-create-sandbox-fails": does(create, same_record),
    "conv-create-task-final": does(tasks, same_batch),
    "conv-create-unknown-sandbox-task": does(tasks, same_batch),
    "start-tasks-search": does(lambda client, _: client.conversations.recent_start_tasks(), same_items),
    "start-tasks-batch-unknown": does(tasks, same_batch),
}
"""By the part of a file's name behind its number."""
