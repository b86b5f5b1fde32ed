"""What tests on real servers share: refusals, following a start, and settings changed and put back."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.models.conversation import NewConversation, StartTask
from quarterdeck.client.models.enums import StartTaskStatus
from quarterdeck.client.models.mcp import McpConfig
from quarterdeck.client.models.server import Server
from quarterdeck.client.models.settings import SECRET_FIELDS, Settings
from quarterdeck.client.nested import CANONICAL
from quarterdeck.client.nested_mcp import config_of, map_of
from tests.local.conftest import until
from tests.servers.nested.record import TOLD
from tests.servers.nested.record import McpServer as StoredServer

LONGEST = 200.0  # seconds a start may take: a server may itself wait 120 for a sandbox to read RUNNING


@contextmanager
def refused(kind: ErrorKind, *, unsent: bool = False) -> Iterator[None]:
    """Expect a ServiceError of this kind, with `unsent` one for a request that never left."""
    with pytest.raises(ServiceError) as caught:
        yield
    assert caught.value.kind is kind, f"{caught.value.kind}: {caught.value.words}"
    assert not unsent or caught.value.outcome is Outcome.NOT_SENT


async def listed_tasks(client: Client) -> set[str]:
    return {task.id async for page in client.start_tasks.pages() for task in page.items}


async def ended(client: Client, task_id: str) -> StartTask | None:
    """Wait for the end of a start task, None for one that is gone: it may go with its conversation."""
    ends = (StartTaskStatus.READY, StartTaskStatus.ERROR)

    async def found() -> list[StartTask | None]:
        return [task for task in await client.start_tasks.read((task_id,)) or () if task is None or task.status in ends]

    tasks: list[StartTask | None] = await until(found, LONGEST)
    return tasks[0]


async def started(client: Client, conversation: NewConversation) -> StartTask:
    """Ask for a conversation, which is always taken and listed as a start task; gives that as it ended."""
    created = await client.conversations.create(conversation)
    assert isinstance(created, StartTask)
    assert created.id in await listed_tasks(client)
    task = await ended(client, created.id)
    assert task is not None
    return task


async def delete_sandbox_left_by(client: Client, task_id: str) -> None:
    """Delete the sandbox that a start left, once it has ended; one that went with its conversation is gone already."""
    task = await ended(client, task_id)
    if task is None or task.sandbox_id is None:
        return
    batch = await client.sandboxes.read((task.sandbox_id,))
    if batch is not None and batch[0] is not None:
        await client.sandboxes.delete(task.sandbox_id)


FLAGS: Mapping[str, str] = {"llm_api_key": "llm_api_key_set", "search_api_key": "search_api_key_set"}
"""Secret field -> the member that says whether one is stored."""
_OF_PROFILES = frozenset({"llm_profiles", "active_agent_profile_id", "active_agent_profile_revision"})
"""Members that profiles own: a change of the LLM settings ends the active one."""


def told(client: Client, name: str, value: Any) -> Any:
    """What a load says of a value that was sent; a nested server tells of tool servers no secret, but a name."""
    if isinstance(value, SecretStr):
        return True if name in FLAGS else None
    if not (isinstance(value, McpConfig) and client.server.nested):
        return value
    stored = {name: StoredServer.model_validate(members) for name, members in map_of(value).items()}
    return config_of({name: server.model_dump(mode="json", context=TOLD) for name, server in stored.items()})


async def settings_of(client: Client) -> Settings:
    """Read the record; a server that has none gets one first."""
    return await client.settings.load() or await changed(client, None, {"language": "en"})


async def changed(client: Client, base: Settings | None, changes: Mapping[str, Any]) -> Settings:
    await client.settings.store(base, changes)
    record = await client.settings.load()
    assert record is not None
    return record


def values(record: Settings) -> dict[str, Any]:
    """Every value of a record by its name, fields before the places that hold them."""
    members = {name: getattr(record, name) for name in record.model_fields_set - {"leaves"} - _OF_PROFILES}
    return members | {place: value for place, value in record.leaves.items() if place not in CANONICAL}


def shown(record: Settings, name: str) -> Any:
    """What a record shows of a field; of a secret its flag."""
    if name in SECRET_FIELDS:
        return getattr(record, FLAGS[name]) if name in FLAGS else None
    return record.leaves.get(name) if "." in name else getattr(record, name, None)


def unlike(one: Settings, other: Settings) -> set[str]:
    left, right = values(one), values(other)
    return {name for name in left.keys() | right.keys() if left.get(name) != right.get(name)}


def has(name: str, record: Settings, server: Server) -> bool:
    """Whether a server has a setting: the documented ones it does not deny, others where a record shows them."""
    if "." in name:
        return name in record.leaves
    return server.rules(name).present and (name in Settings.model_fields or name in (record.model_extra or {}))


def unrestorable(record: Settings, server: Server) -> tuple[str, ...]:
    """What a record holds that no test could put back, since its values are never told."""
    held = [name for name, flag in FLAGS.items() if getattr(record, flag)]
    if server.nested and record.mcp_config not in (None, McpConfig()):
        held.append("the secrets of MCP servers")
    return tuple(held)


async def put_back(client: Client, before: Settings) -> tuple[str, ...]:
    """Make the record what it was; what could not be put back is returned."""
    server, now = client.server, await settings_of(client)
    was, changes, secrets = values(before), dict[str, Any](), {flag: name for name, flag in FLAGS.items()}
    for name in unlike(before, now):
        field, value = (secrets[name], None) if name in secrets else (name, was.get(name))
        if value is not None or server.rules(field).clearable:
            changes[field] = value
    after = await changed(client, now, changes) if changes else now
    return tuple(f"{name} is {values(after).get(name)!r}" for name in sorted(unlike(before, after)))
