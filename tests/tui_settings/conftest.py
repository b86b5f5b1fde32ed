"""Decks on the settings screen, on services of their own."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from pydantic import SecretStr

from quarterdeck.client.models.mcp import McpConfig, ShttpServer, SseServer, StdioServer
from quarterdeck.client.models.settings import SettingsChanges
from quarterdeck.config.connections import Connection
from quarterdeck.local.service import LocalService
from quarterdeck.tui.kept_state import KeptState
from tests.client.fakes import FakeServer
from tests.servers import Mode, open_server
from tests.tui.seat import LOCAL, NARROW, answering, seated, served_by
from tests.tui_settings.form import FormSeat

FULL: SettingsChanges = {
    "llm_model": "anthropic/claude-sonnet-4-5",
    "llm_api_key": SecretStr("sentinel-llm-key"),
    "llm_base_url": "https://llm.example.com/v1",
    "language": "en",
    "max_iterations": 200,
    "max_budget_per_task": 5.0,
    "confirmation_mode": True,
    "enable_sound_notifications": True,
    "git_user_name": "Ada Lovelace",
    "git_user_email": "ada@example.org",
    "mcp_config": McpConfig(
        sse_servers=(SseServer(url="https://events.example.org/sse", api_key=SecretStr("sentinel-sse-key")),),
        shttp_servers=(ShttpServer(url="https://tools.example.org/mcp?token=sentinel-query", timeout=30),),
        stdio_servers=(
            StdioServer(
                name="db",
                command="npx",
                args=("-y", "@acme/db", "--password", "sentinel-argument"),
                env={"TOKEN": SecretStr("sentinel-variable")},
            ),
        ),
    ),
}
"""Settings of somebody who has used the service for a while; each secret in them begins with "sentinel"."""

Sit = Callable[..., AbstractAsyncContextManager[FormSeat]]


@pytest_asyncio.fixture
async def sit(tmp_path: Path) -> AsyncIterator[Sit]:
    """Opens decks on one embedded service, with one folder of state; `stored` is what the service holds at first."""
    services: dict[Mode, LocalService] = {}

    @asynccontextmanager
    async def opened(
        *,
        stored: SettingsChanges | None = None,
        size: tuple[int, int] = NARROW,
        store: Mode = "merge",
        endpoint: Connection = LOCAL,
    ) -> AsyncIterator[FormSeat]:
        if store not in services:
            services[store] = await open_server(tmp_path / "data", store)
        connect = served_by(services[store])
        if stored is not None:
            async with connect(LOCAL, None) as client:
                await client.describe()
                await client.settings.store(None, stored)
        kept = KeptState(tmp_path / "state")
        async with seated(connect, endpoint, size=size, state=kept) as seat:
            yield await FormSeat.at(seat)

    yield opened
    for service in services.values():
        await service.aclose()


@pytest_asyncio.fixture
async def seat(sit: Sit) -> AsyncIterator[FormSeat]:
    """A deck on the settings of that somebody."""
    async with sit(stored=FULL) as seat:
        yield seat


@pytest_asyncio.fixture
async def nested(sit: Sit) -> AsyncIterator[FormSeat]:
    """A deck on the settings of that somebody at a service with nested ones."""
    async with sit(stored=FULL, store="nested") as seat:
        yield seat


@pytest.fixture
def sit_before(tmp_path: Path) -> Sit:
    """Opens decks on a server that answers by a script, with one folder of state."""

    @asynccontextmanager
    async def opened(server: FakeServer) -> AsyncIterator[FormSeat]:
        endpoint = Connection("far", "http://far.test")
        async with seated(answering(server), endpoint, state=KeptState(tmp_path / "state")) as seat:
            yield await FormSeat.at(seat)

    return opened
