"""MCP servers disabled, converted and rid of duplicates; at no moment is one nowhere, here or there."""

from pathlib import Path

from pydantic import SecretStr

from quarterdeck.client.models.mcp import McpServer, ShttpServer, SseServer, StdioServer
from quarterdeck.settings.kept import DisabledServers, disabled_in
from quarterdeck.tui.kept_state import KeptState
from tests.client.fakes import FakeServer
from tests.settings.flat_server import FlatServer
from tests.tui.seat import LOCAL
from tests.tui_settings.conftest import FULL, FormSeat, Sit


async def test_one_disabled_without_its_key_asks_for_it_when_enabled(seat: FormSeat, tmp_path: Path) -> None:
    await seat.go_to("mcp:0")
    for key in ("enter", "escape"):
        await seat.choose("Disable", sees=("Disable an MCP server", "With secrets", "0600", "Without them"))
        await seat.press(key, sees="As stored")
    await seat.choose("Disable", sees="After the next save this machine keeps it, not the service")
    await seat.press("w", sees=("will be disabled", "to type"))
    await seat.save_verified(1)
    assert "events.example.org" in kept_text(tmp_path)
    assert "sentinel" not in kept_text(tmp_path)
    await seat.sees("disabled", "kept here")
    await seat.choose("Enable", sees=("next save. Still to be typed: key.", "! Still to be typed: key.", "error"))
    await seat.press("i", sees=("Reached over the network", "Still to be typed: key."))
    await seat.press("escape", "enter", sees="take over")
    await seat.paste("sentinel-again", "shift+tab")
    await seat.paste("https://events.example.org/new", "ctrl+s", "ctrl+s", sees="key new value")
    old, new = (f"address https://events.example.org/{path}" for path in ("sse", "new"))
    assert f"kept on this machine, {old} → on the service, {new}, key new value" in seat.unwrapped
    await seat.agree(sees="Saved · 1 of 1 verified")
    (server,) = (await seat.servers()).sse_servers
    assert server.api_key == SecretStr("sentinel-again")


async def test_disabling_where_secrets_are_not_told_says_that_they_go(nested: FormSeat) -> None:
    await nested.choose("Disable", row="mcp:0", sees=("does not tell its key", "when you enable it"))
    await nested.press("d", sees="will be disabled")
    await nested.choose("Enable", sees=("It stays on the service.", "As stored"))
    await nested.choose("Disable")
    await nested.press("d", sees="will be disabled")
    await nested.press("ctrl+s")
    await nested.sees("also loses", "SSE https://events.example.org/sse: this server does not tell its key")
    await nested.press("y", sees="Saved")
    await nested.choose("Enable", sees="The service told no key of it")
    await nested.press("u", sees="As stored")
    await nested.choose("Undo save", sees=("Cannot be brought back", "its key and hidden"))


async def test_a_server_is_made_the_other_type_and_keeps_its_key(seat: FormSeat) -> None:
    await seat.choose("Convert to SSE", row="mcp:1", sees=("It is SSE from the next save on", "edited"))
    await seat.choose("Convert to HTTP", sees="As stored")  # even its time-out, which SSE has not
    await seat.choose("Convert to HTTP", row="mcp:0", sees=("It is HTTP from the next save on", "edited"))
    config = await seat.saved_servers(1)
    await seat.choose("Convert to HTTP", row="mcp:2", sees="only SSE and HTTP can change places")
    assert not config.sse_servers
    converted = next(server for server in config.shttp_servers if server.url == "https://events.example.org/sse")
    assert converted.api_key == SecretStr("sentinel-sse-key")


async def test_an_address_of_the_other_type_is_noticed_in_the_dialog_where_the_type_is_chosen(sit: Sit) -> None:
    async with sit(SseServer(url="https://tools.example.org/mcp")) as seat:
        await seat.go_to("mcp:0", "enter", sees="· An address ending in /mcp")
        assert "Time-out" not in seat.text
        await seat.press("shift+tab", "right", sees=("(•) HTTP", "Time-out, s"))
        assert "· An address" not in seat.text
        await seat.press("ctrl+s", sees="edited")
        stored = await seat.saved_servers(1)
    assert [server.url for server in stored.shttp_servers] == ["https://tools.example.org/mcp"]
    assert not stored.sse_servers


async def test_entries_that_are_there_twice_are_removed_in_one_step(sit: Sit, sit_before: Sit) -> None:
    one = ShttpServer(url="https://tools.example.org/a", api_key=SecretStr("sentinel"))
    alike, other = one.model_copy(update={"timeout": 9}), StdioServer(name="db", command="npx")
    async with sit(one, one, one, alike, other, other) as seat:
        await seat.go_to("mcp:4", sees=("f2 here removes 3 duplicates", "twice"))
        await seat.choose("Remove duplicates", sees=("3 duplicates: gone at the next save.", "3 edited"))
        assert "config.toml" not in seat.text  # the local service has none
        await seat.press("ctrl+z", sees=("As stored", "f2 here removes 3"))
        await seat.press("slash", *"db", "enter", sees=("f2 here removes 3", "twice"))
        await seat.press("escape")
        await seat.go_to("mcp:4")
        await seat.choose("Remove duplicates")
        await seat.press("ctrl+s", sees="An equal one stays.")
        await seat.press("escape", sees="3 edited")
        stored = await seat.saved_servers(3)
        await seat.go_to("mcp:0", "f2", "slash", *"alike", sees="No two MCP servers are alike in everything.")
        await seat.press("escape", until=lambda: not seat.deck.screen.is_modal)
        await seat.choose("Paste JSON", sees="Paste MCP servers")
        await seat.paste('[{"command": "uvx", "name": "new"}, {"command": "uvx", "name": "new"}]')
        await seat.press("ctrl+s", sees="f2 here removes 1 duplicate")
    assert (len(stored.shttp_servers), len(stored.stdio_servers)) == (2, 1)
    keeper = FlatServer()
    keeper.record["mcp_config"] = {"shttp_servers": [{"url": one.url}] * 2}
    async with sit_before(FakeServer(keeper)) as seat:
        await seat.go_to("mcp:0", sees="f2 here removes 1 duplicate, likely from")
        await seat.choose("Remove duplicates", sees="What the server's own config.toml")


def kept_text(folder: Path) -> str:
    return "".join(path.read_text() for path in (folder / "state" / "disabled").glob("*.json"))


async def kept(folder: Path) -> tuple[McpServer, ...]:
    return disabled_in(await KeptState(folder / "state").read(DisabledServers, LOCAL.about))


async def disable(seat: FormSeat, row: str, *keys: str) -> None:
    await seat.choose("Disable", row=row, sees="With secrets")
    await seat.press(*keys, sees="will be disabled")


async def test_a_server_is_disabled_with_its_secrets_and_comes_back_as_it_was(sit: Sit, tmp_path: Path) -> None:
    async with sit(stored=FULL) as seat:
        before, servers = await seat.stored(), await seat.servers()
        await disable(seat, "mcp:2", "s")
        assert await kept(tmp_path) == ()
        await seat.press("ctrl+s", sees=("on the service → kept", "Its secrets go into a private file"))
        await seat.press("escape")
        assert (await seat.saved_servers(1)).stdio_servers == ()
        await seat.sees("disabled")
        assert await kept(tmp_path) == servers.stdio_servers
    async with sit() as seat:
        await seat.until(lambda: any(entry.disabled for entry in seat.form.draft.servers.entries))
        (row,) = (entry.row for entry in seat.form.draft.servers.entries if entry.disabled)
        await seat.choose("Enable", row=f"mcp:{row}", sees="1 edited")
        await seat.press("ctrl+s", sees=("kept on this machine", "on the service"))
        await seat.agree(sees=("Saved · 1 of 1 verified", "As stored"))
        assert await seat.stored() == before
        assert await kept(tmp_path) == ()
        await disable(seat, seat.form.row.id, "s")  # the cursor is still on it
        await seat.save_verified(1)
        posts = seat.posts
        await seat.press("d", "ctrl+s", sees=("Review the changes", "Kept on this machine only"))
        await seat.press("r", sees="this concerns only what this machine keeps")
        await seat.agree(sees=("Done on this machine", "As stored"))
        assert seat.posts == posts
    assert await kept(tmp_path) == ()


async def test_what_cannot_be_kept_here_is_not_taken_from_the_server(seat: FormSeat, tmp_path: Path) -> None:
    before = await seat.stored()
    await disable(seat, "mcp:2", "s")
    folder = tmp_path / "state" / "disabled"
    folder.parent.mkdir(exist_ok=True)
    folder.write_text("in the way")
    await seat.save(sees=("Not saved:", "1 edited"))
    assert seat.posts == 0
    assert await seat.stored() == before


async def test_two_decks_disable_without_losing_what_the_other_keeps(sit: Sit, tmp_path: Path) -> None:
    async with sit(stored=FULL) as ann, sit() as ben:
        await disable(ann, "mcp:2", "s")
        await disable(ben, "mcp:0", "s")
        for seat in (ann, ben):
            await seat.save_verified(1)
        assert len(await kept(tmp_path)) == 2
        stored = await ann.servers()
        assert sum(entry.disabled for entry in ben.form.draft.servers.entries) == 2
    assert (stored.stdio_servers, stored.sse_servers) == ((), ())
    assert "sentinel" in kept_text(tmp_path)
