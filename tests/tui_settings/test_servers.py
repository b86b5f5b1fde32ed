"""MCP servers in the form and in their dialog: what is left alone stays to the last letter."""

from pydantic import SecretStr

from quarterdeck.client.models.mcp import McpConfig, SseServer, StdioServer, listed
from tests.tui_settings.conftest import FormSeat, Sit


async def test_servers_are_edited_and_what_is_hidden_of_them_is_kept_or_typed_anew(seat: FormSeat) -> None:
    before = await seat.servers()
    await seat.go_to("mcp:2", "enter", sees=("MCP server", "npx", "--password", "TOKEN"))
    await seat.press("tab", *"uvx", "ctrl+s", sees=("uvx -y @acme/db", "edited"))
    await seat.go_to("mcp:1", "enter", sees="?token=••••")
    await seat.press("ctrl+s", sees="1 edited")
    await seat.press("enter", "end", "x", "ctrl+s", sees="Type the hidden part again")
    await seat.press("escape", "escape")
    await seat.go_to("mcp:0", "enter", sees=("(•) keep", "( ) replace", "( ) clear"))
    await seat.press("tab")
    await seat.paste("sentinel-new", "enter", sees="2 edited")
    after = await seat.saved_servers(2)
    (db,), (events,) = before.stdio_servers, before.sse_servers
    assert after.stdio_servers == (db.model_copy(update={"command": "uvx"}),)
    assert after.sse_servers == (events.model_copy(update={"api_key": SecretStr("sentinel-new")}),)
    assert after.shttp_servers == before.shttp_servers


async def test_bad_members_get_their_sentences_and_the_dialog_stays(seat: FormSeat) -> None:
    await seat.press("a", "enter", *"my files", "tab", *"npx -y x", "ctrl+s", sees=("letters, digits", "one word"))
    await seat.retype("db", "tab", "ctrl+u")
    await seat.type("npx", "ctrl+s", sees="Another server has this name")
    await seat.press("escape", sees="esc again drops")
    await seat.press("escape", sees="As stored")
    await seat.press("a", "down", "enter", sees="New HTTP server")
    await seat.type("http://localhost", sees="· This is looked up inside")
    assert seat.text.index("Address") < seat.text.index("· This is looked up inside")
    await seat.retype("tools.example.org/mcp", "tab", "tab")
    await seat.type("soon", "ctrl+s", sees=("Begin the address with http:// or https://.", "This is not a number"))
    await seat.press("home", *"https://", "ctrl+s", until=lambda: "Begin the address" not in seat.text)


async def test_environment_values_are_kept_added_and_dropped(seat: FormSeat) -> None:
    await seat.go_to("mcp:2", "enter")
    seat.at_once(*["tab"] * 5, *"NAME=sesame")  # letters typed at once fall into the name and the hidden value
    await seat.sees("NAME", "••••••")
    assert "sesame" not in seat.text
    await seat.press("ctrl+s", sees="edited")
    await seat.press("ctrl+s", sees="NAME added")
    await seat.press("escape")
    (server,) = (await seat.saved_servers(1)).stdio_servers
    assert server.env == {"TOKEN": SecretStr("sentinel-variable"), "NAME": SecretStr("sesame")}


async def test_a_deleted_server_is_struck_until_the_save_and_a_copy_gets_a_free_name(seat: FormSeat) -> None:
    await seat.go_to("mcp:0", "d", sees=("will be deleted", "1 edited", "Deleted at the next save; ctrl+z takes it"))
    await seat.press("d", sees="It will be deleted at the next save; u takes that back.")
    await seat.press("u", sees="As stored")
    await seat.press("d")
    await seat.go_to("mcp:2", "Y", sees=("Copy of an MCP server", "db-2"))
    await seat.press("ctrl+s", sees=("db-2", "new"))
    await seat.press("u", sees="Deleted; ctrl+z takes it back.", until=lambda: "db-2" not in seat.text)
    assert seat.form.row.id == "mcp:2"
    await seat.press("ctrl+z", sees=("db-2", "new"))
    assert seat.form.row.id == "mcp:3"
    config = await seat.saved_servers(2)
    assert (len(config.sse_servers), len(config.shttp_servers)) == (0, 1)
    first, second = config.stdio_servers
    assert second == first.model_copy(update={"name": "db-2"})


async def test_a_copy_that_the_filter_hides_is_shown_with_all_others_under_the_cursor(seat: FormSeat) -> None:
    await seat.press("slash", *"events.ex", "enter", "Y", sees="Copy of an MCP server")
    await seat.retype("https://other.example/sse", "ctrl+s", sees="https://other.e")
    await seat.press("D", sees=("Deleted; ctrl+z", "As stored"), until=lambda: "https://other.e" not in seat.text)


async def test_the_cursor_stays_with_its_server_when_one_is_added_or_saved(seat: FormSeat) -> None:
    await seat.go_to("mcp:2")
    base, first = await seat.stored(), SseServer(url="https://first.example/sse")
    await seat.client.settings.store(base, {"mcp_config": McpConfig.of((first, *listed(base.mcp_config)))})
    await seat.press("ctrl+r", sees=("…rst.example/sse", "changed on server"))
    await seat.press("d")
    config = await seat.saved_servers(1)
    assert (len(config.sse_servers), len(config.shttp_servers), len(config.stdio_servers)) == (2, 1, 0)
    await seat.press("a", "down", "down", "enter", sees="New SSE server")
    await seat.type("https://added.example/sse", "ctrl+s", sees="1 edited")
    await seat.saved_servers(1)
    entry = seat.form.row.entry
    assert entry is not None
    assert entry.server == SseServer(url="https://added.example/sse")


async def save_dialog(seat: FormSeat) -> McpConfig:
    """Take the dialog over, save, and read what is stored."""
    await seat.press("ctrl+s", sees="1 edited")
    return await seat.saved_servers(1)


async def test_a_pasted_line_with_variables_falls_into_command_arguments_and_environment(sit: Sit) -> None:
    async with sit(stored={"language": "en"}) as seat:
        await seat.press("a", "enter", *"files")
        await seat.paste("$ API_TOKEN=sentinel npx -y \\\n  '@acme/files server' --root=/workspace")
        await seat.sees("put under Environment and", "API_TOKEN", "•••• pasted")
        (server,) = (await save_dialog(seat)).stdio_servers
        assert (server.command, server.args) == ("npx", ("-y", "@acme/files server", "--root=/workspace"))
        assert server.env == {"API_TOKEN": SecretStr("sentinel")}
        await seat.go_to("mcp:0", "enter", "tab", "ctrl+u", sees="•••• kept")
        await seat.paste("API_TOKEN=sentinel-anew FOO=bar uvx other", sees=("API_TOKEN", "FOO"))
        assert seat.text.count("•••• pasted") == 2
        assert "•••• kept" not in seat.text
        (server,) = (await save_dialog(seat)).stdio_servers
    assert (server.command, server.args) == ("uvx", ("other",))
    assert server.env == {"API_TOKEN": SecretStr("sentinel-anew"), "FOO": SecretStr("bar")}


async def test_a_command_line_that_is_pasted_into_an_address_is_not_taken(seat: FormSeat) -> None:
    await seat.press("a", "down", "enter", sees="New HTTP server")
    await seat.paste('npx -y mcp-remote https://x.example/mcp --header "Authorization: Bearer sentinel"')
    await seat.until(lambda: "add a server of type stdio. Not taken." in seat.unwrapped)
    await seat.paste(" https://x.example/mcp\n", "ctrl+s", sees=("HTTP", "https://x.example/mcp", "1 edited"))


async def test_arguments_that_no_line_can_show_stay_as_they_are(sit: Sit) -> None:
    args = ("", "two  blanks", "a\nb", "x" * 100_000, "last")
    async with sit(StdioServer(name="odd", command="npx", args=args)) as seat:
        await seat.go_to("mcp:0", "enter", sees=('""', "two  blanks"))
        await seat.press("tab", *"uvx", "tab", *["down"] * 4, "end")
        await seat.paste("more", "enter", *"-y", "enter", *"two words")
        (server,) = (await save_dialog(seat)).stdio_servers
        await seat.press("enter", "tab", "tab", *["down"] * 3, "end", "x", "ctrl+s", sees="Type the hidden part again")
    assert server.command == "uvx"
    assert server.args == (*args[:4], "lastmore", "-y", "two words")


async def test_members_the_deck_does_not_know_are_shown_masked_and_kept(sit: Sit) -> None:
    hidden = {"headers": {"X-Team": "sentinel"}, "auth": {"token": "sentinel"}, "odd": [{"tok": "sentinel"}, "*"]}
    server = SseServer.model_validate({"url": "https://x.example.org/sse", "cwd": "/srv", **hidden})
    async with sit(server) as seat:
        await seat.go_to("mcp:0", "enter")
        await seat.sees("Also kept", "(•) keep  ( ) remove", "cwd /srv", "••••", "X-Team", "•••• kept")
        await seat.press("escape", "i", sees=("cwd  /srv", "header X-Team  ••••", "auth  ••••", "odd  ••••"))
        await seat.press("escape", "enter", *["tab"] * 6, "right", sees="( ) keep  (•) remove")
        (after,) = (await save_dialog(seat)).sse_servers
    assert after == SseServer.model_validate({"url": "https://x.example.org/sse", **hidden})


async def test_headers_are_typed_anew_where_the_service_tells_none(nested: FormSeat) -> None:
    await nested.go_to("mcp:1", "enter", sees=("The service tells nothing", "Headers"))
    await nested.press("tab", "tab", "tab", *"X-Team: sentinel-team", sees="X-Team")
    await nested.press("ctrl+s", sees="edited")
    body = nested.body_of(nested.form.draft.changes)
    await nested.press("ctrl+s", sees="Review the changes")
    await nested.press("y", sees="Saved · 1 accepted")
    after = nested.body_of({"mcp_config": nested.form.draft.servers.config()})
    for sent in (body, after):
        servers = sent["agent_settings_diff"]["mcp_config"].values()
        headers = [server["headers"] for server in servers if "headers" in server]
        assert headers == [{"X-Team": SecretStr("sentinel-team")}]


async def test_a_field_longer_than_its_line_stays_whole_unless_all_of_it_is_typed(sit: Sit) -> None:
    model = "a/" + "b" * 19_000
    async with sit(stored={"llm_model": model}) as seat:
        await seat.go_to("llm_model", "enter", "escape", sees="As stored")
        await seat.press("enter", "end", "x", sees="Type the hidden part again")
        await seat.paste("y" * 5_000, sees="4000 characters. Not taken.")
        await seat.retype("a/c", "escape")
        assert seat.form.draft.changes == {"llm_model": "a/c"}


async def test_a_hidden_argument_stays_hidden_when_the_word_before_it_is_edited(seat: FormSeat) -> None:
    await seat.go_to("mcp:2", "enter", "tab", "tab", "down", "down", "end", "backspace", "ctrl+s")
    await seat.sees("A hidden argument would be shown")
    await seat.type("d", "ctrl+s", sees="As stored")
