"""Two decks on one real server: every edit is there whoever was first, and each save verifies itself and is undone."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.limits import Limits
from quarterdeck.client.models.mcp import McpConfig, ShttpServer, StdioServer
from quarterdeck.client.models.settings import Settings
from quarterdeck.client.transport import Access
from quarterdeck.config.connections import Connection
from quarterdeck.tui.app import Deck
from quarterdeck.tui.kept_state import KeptState
from tests.live.conftest import Target
from tests.live.kit import changed, settings_of, unlike
from tests.tui.seat import connecting, seated_at
from tests.tui_settings.form import FormSeat

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]

PACE = Limits(per_second=2)
"""Each of two decks asks so seldom that both together keep a server's pace."""
HELD = McpConfig(
    shttp_servers=(ShttpServer(url="https://two.example/mcp", timeout=30),),
    stdio_servers=(StdioServer(name="three", command="npx", args=("-y", "tool")),),
)
BEFORE = {"git_user_name": "Before", "max_iterations": 11, "language": "en", "mcp_config": HELD}


@asynccontextmanager
async def deck_on(target: Target, folder: Path) -> AsyncIterator[FormSeat]:
    """A deck at its settings, with a notebook of its own."""

    @asynccontextmanager
    async def connect(endpoint: Connection, key: SecretStr | None = None) -> AsyncIterator[Client]:
        async with Client(endpoint.url or "", key or target.key, access=Access(limits=PACE)) as client:
            yield client

    endpoint = Connection(target.label, target.url)
    deck = Deck(endpoint, connecting(connect, KeptState(folder / "state")), crash_folder=folder)
    async with seated_at(deck) as seat:
        yield await FormSeat.at(seat)


def commands(found: Settings) -> list[str]:
    """The names of the stdio servers, in their order."""
    return [server.name for server in (found.mcp_config or McpConfig()).stdio_servers]


@pytest.mark.parametrize("ann_is_first", [True, False], ids=["as-opened", "other-way-round"])
async def test_every_edit_is_there_whoever_was_first(
    editable: Client, target: Target, tmp_path: Path, ann_is_first: bool
) -> None:
    before = await changed(editable, await settings_of(editable), BEFORE)
    async with AsyncExitStack() as open_decks:
        ann = await open_decks.enter_async_context(deck_on(target, tmp_path / "ann"))
        ben = await open_decks.enter_async_context(deck_on(target, tmp_path / "ben"))
        await ann.fill("git_user_name", "Ann")
        await ann.press("enter")
        await ann.add_command("of-ann")
        await ben.fill("max_iterations", "77")
        await ben.press("enter")
        await ben.add_command("of-ben")
        for seat in (ann, ben) if ann_is_first else (ben, ann):
            await seat.save_verified(2)
        after = await settings_of(editable)
        assert (after.git_user_name, after.max_iterations) == ("Ann", 77)
        assert sorted(commands(after)) == ["of-ann", "of-ben", "three"]
        assert unlike(before, after) <= {"git_user_name", "max_iterations", "mcp_config"}
        last = ben if ann_is_first else ann
        await last.go_to("llm_model")
        await last.choose("Undo save")
        await last.agree()
        await last.sees("Saved · 2 of 2 verified", "As stored")
    undone = await settings_of(editable)
    left = ("Ann", 11, ["three", "of-ann"]) if ann_is_first else ("Before", 77, ["three", "of-ben"])
    assert (undone.git_user_name, undone.max_iterations, commands(undone)) == left
