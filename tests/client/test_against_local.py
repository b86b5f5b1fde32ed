"""The client and the embedded service, together and in one process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr

from quarterdeck.client.client import IN_PROCESS, Client
from quarterdeck.client.models.mcp import McpConfig, StdioServer
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
