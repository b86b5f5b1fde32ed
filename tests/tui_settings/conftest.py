"""Decks on the settings screen, on services of their own, and somebody who goes to a field, types, pastes, saves."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Self

import pytest
from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.models.mcp import McpConfig, McpServer, ShttpServer, SseServer, StdioServer
from quarterdeck.client.models.settings import Settings, SettingsChanges
from quarterdeck.config.connections import Connection
from quarterdeck.tui.kept_state import KeptState
from quarterdeck.tui.screens.settings import SettingsScreen
from quarterdeck.tui.widgets.form.form import SettingsForm
from tests.client.fakes import FakeServer
from tests.servers import Mode
from tests.tui.user import LOCAL, NARROW, Until, User, Words, answering, at_deck, local

TOKEN = SecretStr("sentinel-variable")
ARGS = ("-y", "@acme/db", "--password", "sentinel-argument")
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
        stdio_servers=(StdioServer(name="db", command="npx", args=ARGS, env={"TOKEN": TOKEN}),),
    ),
}
"""Settings of somebody who has used the service for a while; each secret in them begins with "sentinel"."""


def written(folder: Path, kind: str) -> str:
    return "".join(file.read_text() for file in (folder / "state" / kind).glob("*.json"))


class FormUser(User):
    @classmethod
    async def at(cls, user: User, *, loaded: bool = True) -> Self:
        own = cls(user.deck, user.pilot)
        await own.press("3", until=lambda: own.deck.current_mode == "settings")
        if loaded:
            await own.until(lambda: any(isinstance(screen, SettingsScreen) for screen in own.deck.opened))
            await own.until(lambda: own.settings.record.loaded)
            await own.sees("LLM", "Model")
        return own

    @property
    def settings(self) -> SettingsScreen:
        return next(screen for screen in self.deck.opened if isinstance(screen, SettingsScreen))

    @property
    def form(self) -> SettingsForm:
        return self.settings.form

    @property
    def client(self) -> Client:
        return self.session.client

    async def stored(self) -> Settings:
        found = await self.client.settings.load()
        assert found is not None
        return found

    async def servers(self) -> McpConfig:
        config = (await self.stored()).mcp_config
        assert config is not None
        return config

    @property
    def posts(self) -> int:
        return sum(request.method == "POST" for request in self.client.log)

    async def pause(self) -> None:
        """Wait until all is painted; whatever is on the screen then, no secret is."""
        await super().pause()
        assert "sentinel" not in self.text

    async def type(self, words: str, *keys: str, sees: Words = (), until: Until = lambda: True) -> None:
        self.at_once(*words)
        await self.press(*keys, sees=sees, until=until)

    async def go_to(self, row: str, *keys: str, sees: Words = (), until: Until = lambda: True) -> None:
        def is_there() -> bool:
            self.form.list.move_to(row)
            return self.form.row.id == row

        await self.until(is_there)
        await self.press(*keys, sees=sees, until=until)

    async def fill(self, key: str, words: str, *keys: str, sees: Words = ()) -> None:
        """Type a value into a field, in place of what is there, then press keys."""
        await self.go_to(key, "enter")
        await self.type(words, *keys, sees=sees)

    async def edit(self, key: str, words: str, *keys: str, sees: Words = ()) -> None:
        await self.fill(key, words, "enter", *keys, sees=sees)

    async def edits(self, *, sees: Words = (), **fields: str) -> None:
        for key, words in fields.items():
            await self.edit(key, words)
        await self.press(sees=sees)

    async def paste_json(self, text: str, *, sees: Words) -> None:
        await self.choose("Paste JSON", sees="Paste MCP servers as JSON")
        await self.paste(text, sees=sees)

    async def choose(self, label: str, *, row: str = "", sees: Words = ()) -> None:
        """Open the menu of a row, or of that with the cursor, and take what is called so there."""
        if row:
            await self.go_to(row)
        await self.press("f2", sees="do it")
        line = self.line_of(f" {label} ")
        await self.press(line[: line.index(f" {label} ")].split()[-1], sees=sees)

    async def agree(self, *, sees: Words = ()) -> None:
        """Agree to a review, even where something is lost."""
        await self.sees("show the request")
        await self.press("y" if "y save" in self.text else "enter", sees=sees)

    async def add_command(self, name: str) -> None:
        await self.press("a", "enter", sees="New stdio server")
        await self.type(name, "tab")
        await self.type("uvx", "ctrl+s", sees=f"{name}  uvx")

    def body_of(self, changes: SettingsChanges) -> Any:
        return self.client.settings.preview(self.form.draft.base, changes).request.body

    async def save_verified(self, count: int) -> None:
        """Save, agree even where something is lost, and see that all of it is stored."""
        await self.save(sees=(f"Saved · {count} of {count} verified", "As stored"))

    async def save(self, *, sees: Words = ()) -> None:
        await self.press("ctrl+s")
        await self.agree(sees=sees)

    async def saved_servers(self, count: int) -> McpConfig:
        await self.save_verified(count)
        return await self.servers()


Decks = Callable[..., AbstractAsyncContextManager[FormUser]]


@pytest.fixture
def deck(tmp_path: Path) -> Decks:
    """Opens decks on one embedded service, with one folder of state; it holds `stored` or these servers at first."""

    @asynccontextmanager
    async def opened(
        *servers: McpServer,
        stored: SettingsChanges | None = None,
        size: tuple[int, int] = NARROW,
        store: Mode = "merge",
        endpoint: Connection = LOCAL,
        sees: Words = (),
    ) -> AsyncIterator[FormUser]:
        connect = local(tmp_path / "data", store)
        stored = {"mcp_config": McpConfig.of(servers)} if servers else stored
        if stored is not None:
            async with connect(LOCAL, None) as client:
                await client.describe()
                await client.settings.store(None, stored)
        async with at_deck(connect, endpoint, size=size, state=KeptState(tmp_path / "state")) as user:
            at_form = await FormUser.at(user)
            await at_form.press(sees=sees)
            yield at_form

    return opened


@pytest.fixture
async def user(deck: Decks) -> AsyncIterator[FormUser]:
    async with deck(stored=FULL) as user:
        yield user


@pytest.fixture
async def nested(deck: Decks) -> AsyncIterator[FormUser]:
    """A deck on the settings of that somebody at a service with nested ones."""
    async with deck(stored=FULL, store="nested") as user:
        yield user


@pytest.fixture
def deck_at(tmp_path: Path) -> Decks:
    """Opens decks on a server that answers by a script, with one folder of state."""

    @asynccontextmanager
    async def opened(server: FakeServer, *, loaded: bool = True) -> AsyncIterator[FormUser]:
        endpoint = Connection("far", "http://far.test")
        async with at_deck(answering(server), endpoint, state=KeptState(tmp_path / "state")) as user:
            yield await FormUser.at(user, loaded=loaded)

    return opened
