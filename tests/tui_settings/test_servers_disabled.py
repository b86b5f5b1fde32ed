"""Disabling, converting and duplicates of MCP servers: pressed, looked at, saved, looked at again."""

from pydantic import SecretStr

from quarterdeck.client.models.mcp import McpConfig, ShttpServer, SseServer, StdioServer
from quarterdeck.settings.kept import DisabledServers
from tests.tui_settings.conftest import FULL, Sit
from tests.tui_settings.form import FormSeat


async def stored_servers(seat: FormSeat) -> McpConfig:
    config = (await seat.stored()).mcp_config
    assert config is not None
    return config


async def go_to_disabled(seat: FormSeat) -> None:
    (row,) = (entry.row for entry in seat.form.draft.servers.entries if entry.disabled)
    await seat.go_to(f"mcp:{row}")
    await seat.sees("disabled", "kept here")


async def test_one_disabled_without_its_key_asks_for_it_before_it_is_stored_again(sit: Sit) -> None:
    async with sit(stored=FULL) as seat:
        await seat.go_to("mcp:0")
        for key in ("enter", "escape"):
            await seat.choose("Disable")
            await seat.sees("Disable an MCP server", "With secrets", "0600", "Without them")
            await seat.press(key)
            await seat.sees("As stored")
        await seat.choose("Disable")
        await seat.press("w")
        await seat.sees("will be disabled", "to type")
        await seat.save()
        await seat.sees("verified")
        kept = await seat.deck.state.read(DisabledServers, seat.deck.endpoint.about)
        assert kept is not None
        assert "sentinel-sse-key" not in kept.model_dump_json()
        await go_to_disabled(seat)
        await seat.choose("Enable")
        await seat.sees("To be typed again", "key", "error")
        await seat.press("enter", "tab")
        await seat.paste("sentinel-again")
        await seat.press("ctrl+s")
        await seat.save()
        await seat.sees("verified", "As stored")
        (server,) = (await stored_servers(seat)).sse_servers
    assert server.api_key is not None
    assert server.api_key.get_secret_value() == "sentinel-again"


async def test_a_server_without_secrets_is_disabled_without_a_question(sit: Sit) -> None:
    plain = McpConfig(stdio_servers=(StdioServer(name="files", command="uvx"),))
    async with sit(stored={"mcp_config": plain}) as seat:
        await seat.go_to("mcp:0")
        await seat.choose("Disable")
        await seat.sees("will be disabled")
        await seat.press("u")
        await seat.sees("As stored")


async def test_disabling_where_secrets_are_not_told_says_that_they_go(sit: Sit) -> None:
    async with sit(stored=FULL, store="nested") as seat:
        await seat.go_to("mcp:0")
        await seat.choose("Disable")
        await seat.sees("does not tell its key", "typed again later")
        await seat.press("d")
        await seat.sees("will be disabled")


async def test_a_server_is_made_the_other_type_and_keeps_its_key(sit: Sit) -> None:
    async with sit(stored=FULL) as seat:
        await seat.go_to("mcp:0")
        await seat.choose("Convert to HTTP")
        await seat.sees("It is HTTP from the next save on", "edited")
        await seat.save()
        await seat.sees("verified")
        config = await stored_servers(seat)
        await seat.go_to("mcp:2")
        await seat.choose("Convert to HTTP")
        await seat.sees("only SSE and HTTP can change places")
    assert not config.sse_servers
    converted = next(server for server in config.shttp_servers if server.url == "https://events.example.org/sse")
    assert converted.api_key == SecretStr("sentinel-sse-key")


async def test_an_address_of_the_other_type_is_noticed_in_the_dialog_where_the_type_is_chosen(sit: Sit) -> None:
    config = McpConfig(sse_servers=(SseServer(url="https://tools.example.org/mcp"),))
    async with sit(stored={"mcp_config": config}) as seat:
        await seat.go_to("mcp:0")
        await seat.press("enter")
        await seat.sees("· An address ending in /mcp")
        assert "Time-out" not in seat.text
        await seat.press("shift+tab", "right")
        await seat.sees("(•) HTTP", "Time-out, s")
        assert "· An address" not in seat.text
        await seat.press("ctrl+s")
        await seat.sees("edited")
        await seat.save()
        await seat.sees("verified")
        stored = await stored_servers(seat)
    assert [server.url for server in stored.shttp_servers] == ["https://tools.example.org/mcp"]
    assert not stored.sse_servers


async def test_entries_that_are_there_twice_are_removed_in_one_step(sit: Sit) -> None:
    one = ShttpServer(url="https://tools.example.org/a", api_key=SecretStr("sentinel"))
    other = StdioServer(name="db", command="npx")
    config = McpConfig(shttp_servers=(one, one, one), stdio_servers=(other, other))
    async with sit(stored={"mcp_config": config}) as seat:
        await seat.go_to("mcp:3")
        await seat.sees("f2 drops 3 that appear twice", "twice")
        await seat.choose("Drop duplicates")
        await seat.sees("3 copies go at the next save", "config.toml", "3 edited")
        await seat.press("ctrl+z")
        await seat.sees("As stored", "f2 drops 3")
        await seat.choose("Drop duplicates")
        await seat.save()
        await seat.sees("verified")
        stored = await stored_servers(seat)
        await seat.go_to("mcp:0")
        await seat.press("f2")
        await seat.sees("No MCP server is in the list twice.")
    assert (len(stored.shttp_servers), len(stored.stdio_servers)) == (1, 1)


async def test_a_hidden_member_that_has_no_field_stops_the_dialog_with_its_sentence(sit: Sit) -> None:
    server = SseServer.model_validate({"url": "https://x.example.org/sse", "auth": {"token": "sentinel"}})
    async with sit(stored={"mcp_config": McpConfig(sse_servers=(server,))}) as seat:
        await seat.go_to("mcp:0")
        await seat.choose("Disable")
        await seat.press("w")
        await seat.save()
        await seat.sees("verified")
        await go_to_disabled(seat)
        await seat.choose("Enable")
        await seat.press("enter", "ctrl+s")
        await seat.sees("auth contains something hidden; delete this server")
