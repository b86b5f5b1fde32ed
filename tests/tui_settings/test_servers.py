"""MCP servers in the form and in their dialog: what is left alone stays to the last letter, here or on the server."""

from pathlib import Path

from pydantic import SecretStr

from quarterdeck.client.models.mcp import McpConfig, McpServer, ShttpServer, SseServer, StdioServer, listed
from quarterdeck.settings.kept import DisabledServers, disabled_in
from quarterdeck.tui.kept_state import KeptState
from tests.client.fakes import FakeServer
from tests.client.settings_servers import DOWN, FlatServer
from tests.tui.seat import LOCAL
from tests.tui_settings.conftest import FULL, FormSeat, Sit, written


async def test_servers_are_edited_and_what_is_hidden_of_them_is_kept_or_typed_anew(seat: FormSeat) -> None:
    before = await seat.servers()
    await seat.go_to("mcp:2", "enter", "tab", "tab", "down", "down", "end", "backspace", "ctrl+s")
    await seat.sees("A hidden argument would be shown")
    await seat.type("d", "ctrl+s", sees="As stored")
    await seat.press("enter", sees=("MCP server", "npx", "--password", "TOKEN"))
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
    await seat.press("escape", "escape", sees="As stored")
    await seat.press("a", "down", "enter", sees="New HTTP server")
    await seat.paste('npx -y mcp-remote https://x.example/mcp --header "Authorization: Bearer sentinel"')
    await seat.until(lambda: "add a server of type stdio. Not taken." in seat.unwrapped)
    await seat.paste(" https://x.example/mcp\n", "ctrl+s", sees=("HTTP", "https://x.example/mcp", "1 edited"))


async def test_environment_values_are_kept_added_and_dropped(seat: FormSeat) -> None:
    await seat.go_to("mcp:2", "enter")
    seat.at_once(*["tab"] * 5, *"NAME=sesame")  # letters typed at once fall into the name and the hidden value
    await seat.sees("NAME", "••••••", lacks="sesame")
    await seat.press("ctrl+s", sees="edited")
    await seat.press("ctrl+s", sees="NAME added")
    await seat.press("escape")
    (server,) = (await seat.saved_servers(1)).stdio_servers
    assert server.env == {"TOKEN": SecretStr("sentinel-variable"), "NAME": SecretStr("sesame")}


async def test_a_deleted_server_is_struck_until_the_save_and_a_copy_gets_a_free_name(seat: FormSeat) -> None:
    await seat.press("slash", *"events.ex", "enter", "Y", sees="Copy of an MCP server")
    await seat.retype("https://other.example/sse", "ctrl+s", sees="https://other.e")  # the filter would hide it
    await seat.press("D", sees=("Deleted; ctrl+z", "As stored"), until=lambda: "https://other.e" not in seat.text)
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
        await seat.until(lambda: "in place of the arguments that were there" in seat.unwrapped)
        assert seat.text.count("•••• pasted") == 2
        assert "•••• kept" not in seat.text
        (server,) = (await save_dialog(seat)).stdio_servers
    assert (server.command, server.args) == ("uvx", ("other",))
    assert server.env == {"API_TOKEN": SecretStr("sentinel-anew"), "FOO": SecretStr("bar")}


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
        parts = {"cwd": "/srv", "header X-Team": "••••", "auth": "••••", "odd": "••••"}
        await seat.press("escape", "i", sees=[f"{name:<13}  {value}" for name, value in parts.items()])
        await seat.press("escape", "enter", *["tab"] * 6, "right", sees="( ) keep  (•) remove")
        (after,) = (await save_dialog(seat)).sse_servers
    assert after == SseServer.model_validate({"url": "https://x.example.org/sse", **hidden})


async def test_headers_are_typed_anew_where_the_service_tells_none(nested: FormSeat) -> None:
    await nested.go_to("mcp:1", "enter", sees=("The service tells nothing", "Headers"))
    await nested.press("tab", "tab", "tab", *"X-Team:", "ctrl+s", sees=("X-Team", "! A header has no value"))
    await nested.press("tab", *"sentinel-team", "ctrl+s", sees="edited")
    body = nested.body_of(nested.form.draft.changes)
    await nested.press("ctrl+s", sees="Review the changes")
    await nested.press("y", sees="Saved · 1 accepted")
    for sent in (body, nested.body_of({"mcp_config": nested.form.draft.servers.config()})):
        servers = sent["agent_settings_diff"]["mcp_config"].values()
        assert [each["headers"] for each in servers if "headers" in each] == [{"X-Team": SecretStr("sentinel-team")}]


async def test_a_field_longer_than_its_line_stays_whole_unless_all_of_it_is_typed(sit: Sit) -> None:
    model = "a/" + "b" * 19_000
    async with sit(stored={"llm_model": model}) as seat:
        await seat.go_to("llm_model", "enter", "escape", sees="As stored")
        await seat.press("enter", "end", "x", sees="Type the hidden part again")
        await seat.paste("y" * 5_000, sees="4000 characters. Not taken.")
        await seat.retype("a/c", "escape")
        assert seat.form.draft.changes == {"llm_model": "a/c"}


async def test_one_disabled_without_its_key_asks_for_it_when_enabled(seat: FormSeat, tmp_path: Path) -> None:
    await seat.go_to("mcp:0")
    for key in ("enter", "escape"):
        await seat.choose("Disable", sees=("Disable an MCP server", "With secrets", "0600", "Without them"))
        await seat.press(key, sees="As stored")
    await seat.choose("Disable", sees="After the next save this machine keeps it, not the service")
    await seat.press("w", sees=("will be disabled", "to type"))
    await seat.save_verified(1)
    assert "events.example.org" in written(tmp_path, "disabled")
    assert "sentinel" not in written(tmp_path, "disabled")
    await seat.press("slash", *"disabled", "enter", sees=("kept here", "Kept on this machine only"), lacks="stdio")
    await seat.press("escape", sees="stdio")
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
        await seat.press("shift+tab", "right", sees=("(•) HTTP", "Time-out, s"), lacks="· An address")
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
        await seat.paste_json('[{"command": "uvx", "name": "new"}, {"command": "uvx", "name": "new"}]', sees="found")
        await seat.press("ctrl+s", sees="f2 here removes 1 duplicate")
    assert (len(stored.shttp_servers), len(stored.stdio_servers)) == (2, 1)
    keeper = FlatServer()
    keeper.record["mcp_config"] = {"shttp_servers": [{"url": one.url}] * 2}
    async with sit_before(FakeServer(keeper)) as seat:
        await seat.go_to("mcp:0", sees="f2 here removes 1 duplicate, likely from")
        await seat.choose("Remove duplicates", sees="What the server's own config.toml")


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
        await seat.press("enter", sees=("Done on this machine", "As stored"))
        assert seat.posts == posts
    assert await kept(tmp_path) == ()


async def test_what_cannot_be_kept_here_is_not_taken_from_the_server(seat: FormSeat, tmp_path: Path) -> None:
    before = await seat.stored()
    await disable(seat, "mcp:2", "s")
    folder = tmp_path / "state" / "disabled"
    folder.parent.mkdir(exist_ok=True)
    folder.write_text("in the way")
    await seat.press("ctrl+s", sees=("Not saved:", "1 edited"))
    assert seat.posts == 0
    assert await seat.stored() == before


async def test_what_would_be_kept_here_is_not_where_the_save_is_refused(sit_before: Sit, tmp_path: Path) -> None:
    store = FlatServer(DOWN, mcp_config={"stdio_servers": [{"name": "files", "command": "npx"}]})
    async with sit_before(FakeServer(store)) as seat:
        await seat.choose("Disable", row="mcp:0", sees="will be disabled")
        await seat.save(sees=("Not saved: Cannot connect", "1 edited"))
    assert (store.stores > 0, written(tmp_path, "disabled")) == (True, "")


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
    assert "sentinel" in written(tmp_path, "disabled")


async def test_what_another_deck_made_of_a_disabled_server_is_asked_about(sit: Sit, tmp_path: Path) -> None:
    async with sit(StdioServer(name="files", command="npx")) as ann:
        async with sit() as ben:
            await ben.go_to("mcp:0", "enter", "tab", sees="MCP server")
            await ben.type("deno", "ctrl+s", sees="deno")
            await ann.choose("Disable", row="mcp:0", sees="will be disabled")
            await ann.save_verified(1)
            await ben.press("ctrl+s", sees=("Changed here and elsewhere", "gone from the server"))
            await ben.press("t", sees="is stored already")
        async with sit(size=(60, 20)) as ben:
            for seat, command in ((ann, "uvx"), (ben, "deno")):
                await seat.go_to("mcp:0", "enter", "tab", sees="Disabled MCP server: kept here, with what you type")
                await seat.type(command, "ctrl+s", sees=command)
            await ann.press("ctrl+s", sees="show the request")
            await ann.agree(sees="Done on this machine")
            await ben.press("ctrl+s", sees=("Changed elsewhere, too", "Changed here and elsewhere", "uvx", "deno"))
            await ben.press("t", sees="It is stored already; nothing was sent.")
        assert await kept(tmp_path) == (StdioServer(name="files", command="uvx"),)
