from quarterdeck.client.models.mcp import McpConfig, StdioServer
from tests.tui_settings.conftest import FULL, Sit


async def test_a_server_is_edited_and_its_secrets_are_kept(sit: Sit) -> None:
    async with sit(stored=FULL) as seat:
        before = await seat.stored()
        await seat.go_to("mcp:2")
        await seat.press("enter")
        await seat.sees("MCP server", "npx", "--password", "TOKEN")
        await seat.press("tab")
        await seat.type("uvx")
        await seat.press("ctrl+s")
        await seat.sees("uvx -y @acme/db", "edited")
        await seat.save()
        await seat.sees("Saved · 1 of 1 verified")
        after = await seat.stored()
    assert before.mcp_config is not None
    (db,) = before.mcp_config.stdio_servers
    assert after.mcp_config == before.mcp_config.model_copy(
        update={"stdio_servers": (db.model_copy(update={"command": "uvx"}),)}
    )


async def test_an_address_with_a_hidden_part_is_kept_or_typed_anew(sit: Sit) -> None:
    async with sit(stored=FULL) as seat:
        await seat.go_to("mcp:1")
        await seat.press("enter")
        await seat.sees("?token=••••")
        await seat.press("ctrl+s")
        await seat.sees("As stored")
        await seat.press("enter", "end", "x", "ctrl+s")
        await seat.sees("Type the hidden part again")


async def test_a_key_is_replaced_in_the_dialog(sit: Sit) -> None:
    async with sit(stored=FULL) as seat:
        await seat.go_to("mcp:0")
        await seat.press("enter")
        await seat.sees("(•) keep", "( ) replace", "( ) clear")
        await seat.press("tab")
        await seat.paste("sentinel-new")
        await seat.press("enter")
        await seat.sees("edited")
        assert "sentinel" not in seat.deck.export_screenshot()
        await seat.save()
        await seat.sees("Saved · 1 of 1 verified")
        config = (await seat.stored()).mcp_config
    assert config is not None
    assert config.sse_servers[0].api_key is not None
    assert config.sse_servers[0].api_key.get_secret_value() == "sentinel-new"


async def test_bad_members_get_their_sentences_and_the_dialog_stays(sit: Sit) -> None:
    async with sit(stored=FULL) as seat:
        await seat.press("a", "enter")
        await seat.type("my files")
        await seat.press("tab")
        await seat.type("npx -y x")
        await seat.press("ctrl+s")
        await seat.sees("letters, digits", "one word")
        await seat.press("escape")
        await seat.sees("esc again drops")
        await seat.press("escape")
        await seat.sees("As stored")


async def test_an_address_without_a_scheme_and_a_name_that_is_taken(sit: Sit) -> None:
    async with sit(stored=FULL) as seat:
        await seat.press("a", "down", "enter")
        await seat.sees("New HTTP server")
        await seat.type("tools.example.org/mcp")
        await seat.press("ctrl+s")
        await seat.sees("Begin the address with http:// or https://.")
        await seat.press("escape", "escape")
        await seat.until(lambda: seat.deck.screen is seat.settings)
        await seat.press("a", "enter")
        await seat.sees("New stdio server")
        await seat.type("db")
        await seat.press("tab")
        await seat.type("npx")
        await seat.press("ctrl+s")
        await seat.sees("Another server has this name")


async def test_a_pasted_command_line_falls_into_command_and_arguments(sit: Sit) -> None:
    async with sit(stored={"language": "en"}) as seat:
        await seat.press("a", "enter")
        await seat.type("files")
        await seat.press("tab")
        await seat.paste("npx -y '@acme/files server' /workspace")
        await seat.sees("put under Arguments")
        await seat.press("ctrl+s")
        await seat.save()
        await seat.sees("Saved · 1 of 1 verified")
        config = (await seat.stored()).mcp_config
    assert config == McpConfig(
        stdio_servers=(StdioServer(name="files", command="npx", args=("-y", "@acme/files server", "/workspace")),)
    )


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


async def test_a_deleted_server_is_struck_until_the_save_and_comes_back(sit: Sit) -> None:
    async with sit(stored=FULL) as seat:
        await seat.go_to("mcp:0")
        await seat.press("d")
        await seat.sees("will be deleted", "1 edited")
        await seat.press("u")
        await seat.sees("As stored")
        await seat.press("d")
        await seat.save()
        await seat.sees("Saved · 1 of 1 verified")
        config = (await seat.stored()).mcp_config
    assert config is not None
    assert not config.sse_servers
    assert len(config.stdio_servers) == len(config.shttp_servers) == 1


async def test_a_copy_gets_a_free_name_and_keeps_the_secrets(sit: Sit) -> None:
    async with sit(stored=FULL) as seat:
        await seat.go_to("mcp:2")
        await seat.press("Y")
        await seat.sees("Copy of an MCP server", "db-2")
        await seat.press("ctrl+s")
        await seat.sees("db-2", "new")
        await seat.save()
        await seat.sees("Saved · 1 of 1 verified")
        config = (await seat.stored()).mcp_config
    assert config is not None
    first, second = config.stdio_servers
    assert second == first.model_copy(update={"name": "db-2"})


async def test_servers_two_people_added_are_both_there(sit: Sit) -> None:
    async with sit(stored=FULL) as seat:
        await seat.press("a", "enter")
        await seat.type("mine")
        await seat.press("tab")
        await seat.type("npx")
        await seat.press("ctrl+s")
        theirs = await seat.stored()
        assert theirs.mcp_config is not None
        added = (*theirs.mcp_config.stdio_servers, StdioServer(name="theirs", command="uvx"))
        await seat.client.settings.store(
            theirs, {"mcp_config": theirs.mcp_config.model_copy(update={"stdio_servers": added})}
        )
        await seat.save()
        await seat.sees("Saved · 1 of 1 verified")
        config = (await seat.stored()).mcp_config
    assert config is not None
    assert {server.name for server in config.stdio_servers} == {"db", "mine", "theirs"}


async def test_a_thousand_servers_do_not_stop_the_keys(sit: Sit) -> None:
    many = McpConfig(stdio_servers=tuple(StdioServer(name=f"s{n}", command="npx") for n in range(1000)))
    async with sit(stored={"mcp_config": many, "llm_model": "a/" + "b" * 15_000}) as seat:
        await seat.fill("language", "French")
        await seat.press("enter")
        await seat.sees("fr · French")
        await seat.go_to("mcp:999")
        await seat.press("d")
        await seat.sees("will be deleted")
