"""The client and the embedded service, together and in one process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr

from quarterdeck.client.client import IN_PROCESS, Client
from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.models.conversation import NewConversation, StartTask
from quarterdeck.client.models.mcp import McpConfig, StdioServer
from quarterdeck.client.models.server import KeyState
from quarterdeck.client.transport import Access
from tests.servers import Mode, open_server


@asynccontextmanager
async def opened(folder: Path, store: Mode = "merge", key: SecretStr | None = None) -> AsyncIterator[Client]:
    """A client of the embedded service; whatever it started is deleted afterwards."""
    service = await open_server(folder, store)
    try:
        async with Client(IN_PROCESS, key=key or service.key, access=Access(app=service.app)) as client:
            yield client
            if key is None:
                async for page in client.sandboxes.pages():
                    for sandbox in page.items:
                        await client.sandboxes.delete(sandbox.id)
    finally:
        await service.close()


async def test_a_wrong_key_is_refused_everywhere(tmp_path: Path) -> None:
    async with opened(tmp_path / "data", key=SecretStr("wrong")) as client:
        assert (await client.describe()).key is KeyState.REFUSED
        for attempt in (client.settings.load(), client.sandboxes.specs(), client.conversations.recent_start_tasks()):
            with pytest.raises(ServiceError) as caught:
                await attempt
            assert caught.value.kind is ErrorKind.AUTH


@pytest.mark.parametrize("described", [True, False])
@pytest.mark.parametrize("store", ["merge", "replace"])
async def test_one_edit_after_another_loses_nothing_however_it_stores(
    tmp_path: Path, store: Mode, described: bool
) -> None:
    servers = McpConfig(
        stdio_servers=(StdioServer(name="fs", command="npx", args=("-y",), env={"T": SecretStr("env-1")}),)
    )
    async with opened(tmp_path / "data", store) as client:
        if described:
            await client.describe()
        assert await client.settings.load() is None
        await client.settings.store(
            None, {"language": "en", "max_budget_per_task": 12.5, "llm_api_key": SecretStr("sk-1")}
        )
        await client.settings.store(await client.settings.load(), {"mcp_config": servers})
        await client.settings.store(await client.settings.load(), {"language": None, "email": "a@example.com"})
        settings = await client.settings.load()
        assert settings is not None
        assert (settings.language, settings.email, settings.max_budget_per_task) == (None, "a@example.com", 12.5)
        assert settings.llm_api_key_set
        assert settings.mcp_config is not None
        assert [server.name for server in settings.mcp_config.stdio_servers] == ["fs"]
        await client.settings.store(settings, {"llm_api_key": None})
        cleared = await client.settings.load()
    assert cleared is not None
    assert not cleared.llm_api_key_set


async def test_a_sandbox_is_started_paused_resumed_and_deleted(tmp_path: Path) -> None:
    async with opened(tmp_path / "data") as client:
        spec = (await client.sandboxes.specs())[0]
        started = await client.sandboxes.start(spec.id)
        await client.sandboxes.pause(started.id)
        batch = await client.sandboxes.read([started.id, "nosuch"])
        assert batch is not None
        assert [sandbox and sandbox.status for sandbox in batch] == ["PAUSED", None]
        await client.sandboxes.resume(started.id)
        batch = await client.sandboxes.read([started.id])
        assert batch is not None
        assert batch[0] is not None
        assert batch[0].status in ("STARTING", "RUNNING")
        await client.sandboxes.delete(started.id)
        assert await client.sandboxes.read([started.id]) == (None,)
        with pytest.raises(ServiceError) as caught:
            await client.sandboxes.pause(started.id)
        assert caught.value.kind is ErrorKind.MISSING


async def test_a_conversation_is_created_listed_and_deleted(tmp_path: Path) -> None:
    async with opened(tmp_path / "data") as client:
        task = await client.conversations.create(NewConversation(message="hello", title="First"))
        assert isinstance(task, StartTask)
        while task.app_conversation_id is None:
            assert task.status != "ERROR", task.detail
            batch = await client.conversations.start_tasks([task.id])
            assert batch is not None
            assert batch[0] is not None
            task = batch[0]
        listed = [item async for page in client.conversations.pages() for item in page.items]
        assert [item.id for item in listed] == [task.app_conversation_id]
        assert [recent.id for recent in await client.conversations.recent_start_tasks()] == [task.id]
        read = await client.conversations.read([task.app_conversation_id, "0" * 32])
        assert read == (listed[0], None)
        await client.conversations.delete(task.app_conversation_id)
        assert await client.conversations.read([task.app_conversation_id]) == (None,)


@pytest.mark.parametrize("store", ["merge", "nested"])
async def test_secrets_live_in_either_kind(tmp_path: Path, store: Mode) -> None:
    async with opened(tmp_path / "data", store) as client:
        await client.describe()
        await client.secrets.create("TOKEN", SecretStr("v1"), "first")
        with pytest.raises(ServiceError) as caught:
            await client.secrets.create("TOKEN", SecretStr("v2"))
        assert caught.value.kind is ErrorKind.CONFLICT
        await client.secrets.update("TOKEN", new_name="OTHER", description="first")
        assert [(secret.name, secret.description) for secret in await client.secrets.list()] == [("OTHER", "first")]
        await client.secrets.delete("OTHER")
        assert await client.secrets.list() == ()
