from pydantic import SecretStr

from quarterdeck.client.models.mcp import McpConfig, StdioServer
from tests.tui_settings.conftest import FULL, Sit


async def test_servers_are_edited_and_what_is_hidden_of_them_is_kept_or_typed_anew(sit: Sit) -> None:
    async with sit(stored=FULL) as seat:
        before = await seat.stored()
        await seat.go_to("mcp:2")
        await seat.press("enter")
        await seat.sees("MCP server", "npx", "--password", "TOKEN")
        await seat.press("tab")
        await seat.type("uvx")
        await seat.press("ctrl+s")
        await seat.sees("uvx -y @acme/db", "edited")
        await seat.go_to("mcp:1")
        await seat.press("enter")
        await seat.sees("?token=••••")
        await seat.press("ctrl+s")
        await seat.sees("1 edited")
        await seat.press("enter", "end", "x", "ctrl+s")
        await seat.sees("Type the hidden part again")
        await seat.press("escape", "escape")
        await seat.go_to("mcp:0")
        await seat.press("enter")
        await seat.sees("(•) keep", "( ) replace", "( ) clear")
        await seat.press("tab")
        await seat.paste("sentinel-new")
        await seat.press("enter")
        await seat.sees("2 edited")
        assert "sentinel" not in seat.deck.export_screenshot()
        await seat.save()
        await seat.sees("Saved · 2 of 2 verified")
        after = (await seat.stored()).mcp_config
    assert before.mcp_config is not None
    (db,), (events,) = before.mcp_config.stdio_servers, before.mcp_config.sse_servers
    assert after == before.mcp_config.model_copy(
        update={
            "stdio_servers": (db.model_copy(update={"command": "uvx"}),),
            "sse_servers": (events.model_copy(update={"api_key": SecretStr("sentinel-new")}),),
        }
    )


async def test_bad_members_get_their_sentences_and_the_dialog_stays(sit: Sit) -> None:
    async with sit(stored=FULL) as seat:
        await seat.press("a", "enter")
        await seat.type("my files")
        await seat.press("tab")
        await seat.type("npx -y x")
        await seat.press("ctrl+s")
        await seat.sees("letters, digits", "one word")
        await seat.type("db")
        await seat.press("tab", "ctrl+u")
        await seat.type("npx")
        await seat.press("ctrl+s")
        await seat.sees("Another server has this name")
        await seat.press("escape")
        await seat.sees("esc again drops")
        await seat.press("escape")
        await seat.sees("As stored")
        await seat.press("a", "down", "enter")
        await seat.sees("New HTTP server")
        await seat.type("tools.example.org/mcp")
        await seat.press("ctrl+s")
        await seat.sees("Begin the address with http:// or https://.")


async def test_environment_values_are_kept_added_and_dropped(sit: Sit) -> None:
    async with sit(stored=FULL) as seat:
        await seat.go_to("mcp:2")
        await seat.press("enter", "tab", "tab", "tab")
        await seat.press("tab", "tab")
        await seat.type("NAME=value")
        await seat.sees("NAME")
        await seat.press("ctrl+s")
        await seat.sees("edited")
        await seat.press("ctrl+s")
        await seat.sees("NAME added")
        await seat.press("enter")
        await seat.sees("verified")
        config = (await seat.stored()).mcp_config
    assert config is not None
    env = {name: value.get_secret_value() for name, value in config.stdio_servers[0].env.items()}
    assert env == {"TOKEN": "sentinel-variable", "NAME": "value"}


async def test_a_deleted_server_is_struck_until_the_save_and_a_copy_gets_a_free_name(sit: Sit) -> None:
    async with sit(stored=FULL) as seat:
        await seat.go_to("mcp:0")
        await seat.press("d")
        await seat.sees("will be deleted", "1 edited")
        await seat.press("u")
        await seat.sees("As stored")
        await seat.press("d")
        await seat.go_to("mcp:2")
        await seat.press("Y")
        await seat.sees("Copy of an MCP server", "db-2")
        await seat.press("ctrl+s")
        await seat.sees("db-2", "new")
        await seat.save()
        await seat.sees("Saved · 2 of 2 verified")
        config = (await seat.stored()).mcp_config
    assert config is not None
    assert (len(config.sse_servers), len(config.shttp_servers)) == (0, 1)
    first, second = config.stdio_servers
    assert second == first.model_copy(update={"name": "db-2"})


async def test_a_thousand_servers_do_not_stop_the_keys(sit: Sit) -> None:
    many = McpConfig(stdio_servers=tuple(StdioServer(name=f"s{n}", command="npx") for n in range(1000)))
    async with sit(stored={"mcp_config": many, "llm_model": "a/" + "b" * 15_000}) as seat:
        await seat.edit("language", "French")
        await seat.sees("fr · French")
        await seat.go_to("mcp:999")
        await seat.press("d")
        await seat.sees("will be deleted")
