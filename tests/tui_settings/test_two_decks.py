"""Two decks on one server: whoever saves first, every edit is there in the end."""

import pytest

from quarterdeck.client.models.settings import Settings
from tests.servers import Mode
from tests.tui_settings.conftest import FULL, Sit


def commands(found: Settings) -> dict[str, str]:
    assert found.mcp_config is not None
    return {server.name: server.command for server in found.mcp_config.stdio_servers}


def addresses(found: Settings) -> list[str]:
    assert found.mcp_config is not None
    config = found.mcp_config
    return [server.url for server in config.sse_servers] + [server.url for server in config.shttp_servers]


@pytest.mark.parametrize(
    ("store", "first_is_first"), [("merge", True), ("merge", False), ("replace", False), ("nested", True)]
)
async def test_different_edits_are_all_there(sit: Sit, store: Mode, first_is_first: bool) -> None:
    async with sit(stored=FULL, store=store) as ann, sit(store=store) as ben:
        before = await ann.stored()
        await ann.edit("git_user_name", "Ann")
        await ann.add_command("search")
        await ben.edit("max_iterations", "77")
        await ben.add_command("files")
        await ben.go_to("mcp:2")
        await ben.press("enter", "tab")
        await ben.type("bunx")
        await ben.press("ctrl+s")
        await ben.sees("bunx")
        savers = [(ann, 2), (ben, 3)]
        for seat, count in savers if first_is_first else reversed(savers):
            await seat.save_verified(count)
        after = await ann.stored()
    assert commands(before) == {"db": "npx"}
    assert commands(after) == {"db": "bunx", "search": "uvx", "files": "uvx"}
    edits = {"git_user_name": "Ann", "max_iterations": 77, "mcp_config": after.mcp_config, "leaves": after.leaves}
    assert after == before.model_copy(update=edits)
    assert addresses(after) == addresses(before)
    if store != "nested":  # that one loses untold secrets, as the review said first
        assert after.mcp_config is not None
        assert before.mcp_config is not None
        assert after.mcp_config.sse_servers == before.mcp_config.sse_servers
        assert after.mcp_config.shttp_servers == before.mcp_config.shttp_servers


@pytest.mark.parametrize("store", ["replace", "nested"])
async def test_the_same_field_is_asked_about_with_both_shown(sit: Sit, store: Mode) -> None:
    async with sit(stored=FULL, store=store) as ann, sit(store=store) as ben:
        await ann.edit("git_user_name", "Ann")
        await ben.edit("git_user_name", "Ben")
        await ann.save_verified(1)
        await ben.press("ctrl+s")
        await ben.sees("Ann", "Ben")
        assert (await ann.stored()).git_user_name == "Ann"
