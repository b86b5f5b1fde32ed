"""The dialog of one MCP server: what is left alone stays to the last letter, what is pasted falls into place."""

from pydantic import SecretStr

from quarterdeck.client.models.mcp import McpConfig, SseServer, StdioServer
from tests.tui_settings.conftest import FULL, Sit
from tests.tui_settings.form import FormSeat

LONG = "sentinel-long-" + "x" * 100_000


async def stored_servers(seat: FormSeat) -> McpConfig:
    config = (await seat.stored()).mcp_config
    assert config is not None
    return config


async def save_dialog(seat: FormSeat) -> McpConfig:
    """Take the dialog over, save, and read what is stored."""
    await seat.press("ctrl+s")
    await seat.sees("1 edited")
    await seat.save()
    await seat.sees("Saved · 1 of 1 verified")
    return await stored_servers(seat)


async def test_a_pasted_line_with_variables_falls_into_command_arguments_and_environment(sit: Sit) -> None:
    async with sit(stored={"language": "en"}) as seat:
        await seat.press("a", "enter")
        await seat.type("files")
        await seat.press("tab")
        await seat.paste("$ API_TOKEN=sentinel npx -y \\\n  '@acme/files server' --root=/workspace")
        await seat.sees("put under Environment and", "API_TOKEN", "•••• kept")
        assert "sentinel" not in seat.deck.export_screenshot()
        (server,) = (await save_dialog(seat)).stdio_servers
    assert (server.command, server.args) == ("npx", ("-y", "@acme/files server", "--root=/workspace"))
    assert server.env == {"API_TOKEN": SecretStr("sentinel")}


async def test_arguments_that_no_line_can_show_stay_as_they_are(sit: Sit) -> None:
    args = ("", "two  blanks", "a\nb", LONG, "last")
    config = McpConfig(stdio_servers=(StdioServer(name="odd", command="npx", args=args),))
    async with sit(stored={"mcp_config": config}) as seat:
        await seat.go_to("mcp:0")
        await seat.press("enter")
        await seat.sees('""', "two blanks")
        await seat.press("tab")
        await seat.type("uvx")
        await seat.press("tab", *["down"] * 4, "end")
        await seat.paste("more")
        (server,) = (await save_dialog(seat)).stdio_servers
        await seat.press("enter", "tab", "tab", *["down"] * 3, "end", "x", "ctrl+s")
        await seat.sees("Type the hidden part again")
    assert server.command == "uvx"
    assert server.args == (*args[:4], "lastmore")


async def test_members_the_deck_does_not_know_are_shown_masked_and_kept(sit: Sit) -> None:
    server = SseServer.model_validate(
        {
            "url": "https://x.example.org/sse",
            "headers": {"X-Team": "sentinel"},
            "cwd": "/srv",
            "auth": {"token": "sentinel"},
        }
    )
    async with sit(stored={"mcp_config": McpConfig(sse_servers=(server,))}) as seat:
        await seat.go_to("mcp:0")
        await seat.press("enter")
        await seat.sees("Also kept", "cwd", "/srv", "••••", "X-Team", "•••• kept")
        assert "sentinel" not in seat.deck.export_screenshot()


async def test_headers_are_typed_anew_where_the_service_tells_none(sit: Sit) -> None:
    async with sit(stored=FULL, store="nested") as seat:
        await seat.go_to("mcp:1")
        await seat.press("enter")
        await seat.sees("The service tells nothing", "Headers")
        await seat.press("tab", "tab", "tab")
        await seat.type("X-Team: sentinel-team")
        await seat.sees("X-Team")
        assert "sentinel-team" not in seat.text
        await seat.press("ctrl+s")
        await seat.sees("edited")
        store = seat.settings.record.store
        assert store is not None
        body = store.preview(seat.form.draft.base, seat.form.draft.changes).request.body
        await seat.press("ctrl+s")
        await seat.sees("Review the changes")
        assert "sentinel-team" not in seat.text
        await seat.press("y")
        await seat.sees("Saved · 1 accepted")
        after = store.preview(seat.form.draft.base, {"mcp_config": seat.form.draft.servers.config()}).request.body
    for sent in (body, after):
        servers = sent["agent_settings_diff"]["mcp_config"].values()
        headers = [server["headers"] for server in servers if "headers" in server]
        assert headers == [{"X-Team": SecretStr("sentinel-team")}]


async def test_a_field_longer_than_its_line_stays_whole_unless_all_of_it_is_typed(sit: Sit) -> None:
    model = "a/" + "b" * 19_000
    async with sit(stored={"llm_model": model}) as seat:
        await seat.go_to("llm_model")
        await seat.press("enter", "escape")
        assert not seat.form.draft.edited
        await seat.press("enter", "end", "x")
        await seat.sees("Type the hidden part again")
        await seat.paste("y" * 5_000)
        await seat.sees("4000 characters. Not taken.")
        await seat.press("ctrl+u")
        await seat.type("a/c")
        await seat.press("escape")
        assert seat.form.draft.changes == {"llm_model": "a/c"}


async def test_a_hidden_argument_stays_hidden_when_the_word_before_it_is_edited(sit: Sit) -> None:
    async with sit(stored=FULL) as seat:
        await seat.go_to("mcp:2")
        await seat.press("enter", "tab", "tab", "down", "down", "end", "backspace", "ctrl+s")
        await seat.sees("A hidden argument would be shown")
        assert "sentinel" not in seat.text
        await seat.type("d")
        await seat.press("ctrl+s")
        await seat.sees("As stored")
