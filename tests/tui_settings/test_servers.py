"""MCP servers in the form and in their dialog: what is left alone stays to the last letter, here or on the server."""

import json
from pathlib import Path

from pydantic import SecretStr

from quarterdeck.client.models.mcp import McpConfig, McpServer, ShttpServer, SseServer, StdioServer, listed
from quarterdeck.settings.kept import DisabledServers
from quarterdeck.tui.kept_state import KeptState
from tests.client.fakes import FakeServer, Gated
from tests.client.settings_servers import DOWN, FlatServer
from tests.tui.user import LOCAL
from tests.tui_settings.conftest import FULL, Decks, FormUser, written


async def test_servers_are_edited_and_what_is_hidden_of_them_is_kept_or_typed_anew(user: FormUser) -> None:
    before = await user.servers()
    await user.go_to("mcp:2", "enter", "tab", "tab", "down", "down", "end", "backspace", "ctrl+s")
    await user.sees("A hidden argument would be shown")
    await user.type("d", "ctrl+s", sees="As stored")
    await user.press("enter", sees=("MCP server", "npx", "--password", "TOKEN"))
    await user.press("tab", *"uvx", "ctrl+s", sees=("uvx -y @acme/db", "edited"))
    await user.go_to("mcp:1", "enter", sees="?token=••••")
    await user.press("ctrl+s", sees="1 edited")
    await user.press("enter", "end", "x", "ctrl+s", sees="Type the hidden part again")
    await user.press("escape", "escape")
    await user.go_to("mcp:0", "enter", "tab", sees=("(•) keep", "( ) replace", "( ) clear"))
    await user.paste("sentinel-new", "enter", sees="2 edited")
    after = await user.saved_servers(2)
    (db,), (events,) = before.stdio_servers, before.sse_servers
    assert after.stdio_servers == (db.model_copy(update={"command": "uvx"}),)
    assert after.sse_servers == (events.model_copy(update={"api_key": SecretStr("sentinel-new")}),)
    assert after.shttp_servers == before.shttp_servers


async def test_bad_members_get_their_sentences_and_the_dialog_stays(user: FormUser) -> None:
    await user.press("a", "enter", *"my files", "tab", *"npx -y x", "ctrl+s", sees=("letters, digits", "one word"))
    await user.retype("db", "tab", "ctrl+u")
    await user.type("npx", "ctrl+s", sees="Another server has this name")
    await user.type("first" + "x" * 90, "tab", sees="dbfirstxxx")
    await user.press("escape", sees="esc again drops")
    await user.press("escape", sees="As stored")
    await user.press("a", "down", "enter", sees="New HTTP server")
    await user.type("http://localhost", sees="· A sandbox looks for")
    assert user.text.index("Address") < user.text.index("· A sandbox looks for")
    await user.retype("tools.example.org/mcp", "tab", "tab")
    await user.type("soon", "ctrl+s", sees=("Begin the address with http:// or https://.", "This is not a number"))
    await user.press("home", *"https://", "ctrl+s", until=lambda: "Begin the address" not in user.text)
    await user.press("escape", "escape", sees="As stored")
    await user.press("a", "down", "enter", sees="New HTTP server")
    await user.paste('npx -y mcp-remote https://x.example/mcp --header "Authorization: Bearer sentinel"')
    await user.until(lambda: "add a server of type stdio. Not taken." in user.unwrapped)
    await user.paste(" https://x.example/mcp\n", "ctrl+s", sees=("HTTP", "https://x.example/mcp", "1 edited"))


async def test_environment_values_are_kept_added_and_dropped(user: FormUser) -> None:
    await user.go_to("mcp:2", "enter")
    await user.press(*["tab"] * 6, "v", "ctrl+s", sees="A value has no name")
    await user.press("tab", "tab", "tab", "backspace", "shift+tab")
    user.at_once(*"NAME=sesame")  # letters typed at once fall into the name and the hidden value
    await user.sees("NAME", "••••••", lacks="sesame")
    await user.press("shift+tab", "end", "=", "ctrl+s", "ctrl+s", sees="NAME added")
    await user.press("escape")
    (server,) = (await user.saved_servers(1)).stdio_servers
    assert server.env == {"TOKEN": SecretStr("sentinel-variable"), "NAME": SecretStr("sesame")}


async def test_a_deleted_server_is_struck_until_the_save_and_a_copy_gets_a_free_name(user: FormUser) -> None:
    await user.press("slash", *"events.ex", "enter", "Y", sees="Copy of an MCP server")
    await user.retype("https://other.example/sse", "ctrl+s", sees="https://other.e")  # the filter would hide it
    await user.press("D", sees=("Deleted; ctrl+z", "As stored"), until=lambda: "https://other.e" not in user.text)
    await user.go_to("mcp:0", "d", sees=("will be deleted", "1 edited", "Deleted at the next save; ctrl+z takes it"))
    await user.press("d", sees="It will be deleted at the next save; u takes that back.")
    await user.press("u", sees="As stored")
    await user.press("d")
    await user.go_to("mcp:2", "f2", sees=("server on this machine only", "Delete the MCP server at the next save"))
    await user.press("Y", sees=("Copy of an MCP server", "db-2"))
    await user.press("ctrl+s", sees=("db-2", "new"))
    await user.press("f2", sees="Delete the MCP server", lacks="at the next save")
    await user.press("escape", "u", sees="Deleted; ctrl+z takes it back.", until=lambda: "db-2" not in user.text)
    assert user.form.row.id == "mcp:2"
    await user.press("ctrl+z", sees=("db-2", "new"))
    assert user.form.row.id == "mcp:3"
    config = await user.saved_servers(2)
    assert (len(config.sse_servers), len(config.shttp_servers)) == (0, 1)
    first, second = config.stdio_servers
    assert second == first.model_copy(update={"name": "db-2"})


async def test_the_cursor_stays_with_its_server_when_one_is_added_or_saved(user: FormUser) -> None:
    await user.go_to("mcp:2")
    base, first = await user.stored(), SseServer(url="https://first.example/sse")
    await user.client.settings.store(base, {"mcp_config": McpConfig.of((first, *listed(base.mcp_config)))})
    await user.press("ctrl+r", sees=("…rst.example/sse", "changed on server"))
    await user.press("d")
    config = await user.saved_servers(1)
    assert (len(config.sse_servers), len(config.shttp_servers), len(config.stdio_servers)) == (2, 1, 0)
    await user.press("a", "down", "down", "enter", sees="New SSE server")
    await user.type("https://added.example/sse", "ctrl+s", sees="1 edited")
    await user.saved_servers(1)
    assert [each.server for each in [user.form.row.entry] if each] == [SseServer(url="https://added.example/sse")]


async def save_dialog(user: FormUser) -> McpConfig:
    await user.press("ctrl+s", sees="1 edited")
    return await user.saved_servers(1)


async def test_a_pasted_line_with_variables_falls_into_command_arguments_and_environment(deck: Decks) -> None:
    async with deck(stored={"language": "en"}) as user:
        await user.press("a", "enter", *"files")
        await user.paste("$ API_TOKEN=sentinel npx -y \\\n  '@acme/files server' --root=/workspace")
        await user.sees("put under Environment and", "API_TOKEN", "•••• pasted")
        (server,) = (await save_dialog(user)).stdio_servers
        assert (server.command, server.args) == ("npx", ("-y", "@acme/files server", "--root=/workspace"))
        assert server.env == {"API_TOKEN": SecretStr("sentinel")}
        await user.go_to("mcp:0", "enter", "tab", "ctrl+u", sees="•••• kept")
        await user.paste("API_TOKEN=sentinel-anew FOO=bar uvx other", sees=("API_TOKEN", "FOO"))
        await user.until(lambda: "in place of the arguments that were there" in user.unwrapped)
        assert user.text.count("•••• pasted") == 2
        assert "•••• kept" not in user.text
        (server,) = (await save_dialog(user)).stdio_servers
    assert (server.command, server.args) == ("uvx", ("other",))
    assert server.env == {"API_TOKEN": SecretStr("sentinel-anew"), "FOO": SecretStr("bar")}


async def test_arguments_that_no_line_can_show_stay_as_they_are(deck: Decks) -> None:
    args = ("", "two  blanks", "a\nb", "x" * 100_000, "last")
    async with deck(StdioServer(name="odd", command="npx", args=args)) as user:
        await user.go_to("mcp:0", "enter", sees=('""', "two  blanks"))
        await user.press("tab", *"uvx", "tab", *["down"] * 4, "end")
        await user.paste("more", "enter", *"-y", "enter", *"two words")
        (server,) = (await save_dialog(user)).stdio_servers
        await user.press("enter", "tab", "tab", *["down"] * 3, "end", "x", "ctrl+s", sees="Type the hidden part again")
    assert (server.command, server.args) == ("uvx", (*args[:4], "lastmore", "-y", "two words"))


async def test_members_the_deck_does_not_know_are_shown_masked_and_kept(deck: Decks) -> None:
    hidden = {"headers": {"X-Team": "sentinel"}, "auth": {"token": "sentinel"}, "odd": [{"tok": "sentinel"}, "*"]}
    server = SseServer.model_validate({"url": "https://x.example.org/sse", "sse_read_timeout": 33, **hidden})
    async with deck(server) as user:
        await user.go_to("mcp:0", "enter")
        await user.sees("sse_read_timeout: 33", "(•) keep  ( ) remove", "odd: ", "••••", "X-Team", "•••• kept")
        parts = {"sse_read_timeout": "33", "header X-Team": "••••", "auth": "••••", "odd": "••••"}
        await user.press("escape", "i", sees=[f"{name:<16}  {value}" for name, value in parts.items()])
        await user.press("escape", "enter", *["tab"] * 6, "right", sees="( ) keep  (•) remove")
        (after,) = (await save_dialog(user)).sse_servers
    assert after == SseServer.model_validate({"url": "https://x.example.org/sse", **hidden})


async def test_headers_and_a_directory_are_typed_where_the_service_keeps_them(nested: FormUser) -> None:
    await nested.go_to("mcp:1", "enter", sees=("The service tells nothing", "Headers"))
    await nested.press("tab", "tab", "tab", *"X-Team:", "ctrl+s", sees=("X-Team", "! A header has no value"))
    await nested.press("tab", *"sentinel-team", "ctrl+s", sees="edited")
    await nested.go_to("mcp:2", "enter", *["tab"] * 5, *"/srv", "ctrl+s")
    body = nested.body_of(nested.form.draft.changes)
    await nested.press("ctrl+s", sees="Review the changes")
    await nested.press("y", sees="Saved · 1 verified, 1 accepted")
    for sent in (body, nested.body_of({"mcp_config": nested.form.draft.servers.config()})):
        servers = sent["agent_settings_diff"]["mcp_config"].values()
        assert [each["headers"] for each in servers if "headers" in each] == [{"X-Team": SecretStr("sentinel-team")}]
        assert [each["cwd"] for each in servers if "cwd" in each] == ["/srv"]


async def test_a_field_longer_than_its_line_stays_whole_unless_all_of_it_is_typed(deck: Decks) -> None:
    async with deck(stored={"llm_model": "a/" + "b" * 19_000}) as user:
        await user.go_to("llm_model", "enter", "escape", sees="As stored")
        await user.press("enter", "end", "x", sees="Type the hidden part again")
        await user.paste("y" * 5_000, sees="4000 characters. Not taken.")
        await user.retype("a/c", "escape")
        assert user.form.draft.changes == {"llm_model": "a/c"}


async def test_one_disabled_without_its_key_asks_for_it_when_enabled(user: FormUser, tmp_path: Path) -> None:
    await user.go_to("mcp:0")
    for key in ("enter", "escape"):
        await user.choose("Disable", sees=("Disable an MCP server", "With secrets", "0600", "Without them"))
        await user.press(key, sees="As stored")
    await user.choose("Disable", sees="After the next save this machine keeps it, not the service")
    await user.press("w", sees=("will be disabled", "to type"))
    await user.save_verified(1)
    assert "events.example.org" in written(tmp_path, "disabled")
    assert "sentinel" not in written(tmp_path, "disabled")
    await user.press("slash", *"disabled", "enter", sees=("kept here", "Kept on this machine only"), lacks="stdio")
    await user.press("escape", "f2", sees="Put it back on the service")
    await user.press("escape", sees="stdio")
    await user.choose("Enable", sees=("next save. Still to be typed: key.", "! Still to be typed: key.", "error"))
    await user.press("i", sees=("Reached over the network", "Still to be typed: key."))
    await user.press("escape", "enter", sees="( ) set one", lacks=") keep")
    await user.press("escape", "D", sees=("will be deleted", "Deleted at the next save; ctrl+z takes it back."))
    await user.press("ctrl+z", "enter", sees="take over")
    await user.paste("sentinel-again", "shift+tab")
    await user.paste("https://events.example.org/new", "ctrl+s", "ctrl+s", sees=f"key new\n▌{' ' * 26}value")
    old, new = (f"address https://events.example.org/{path}" for path in ("sse", "new"))
    await user.until(lambda: f"kept on this machine, {old} → on the service, {new}, key new value" in user.unwrapped)
    await user.agree(sees="Saved · 1 of 1 verified")
    assert [each.api_key for each in (await user.servers()).sse_servers] == [SecretStr("sentinel-again")]
    await user.choose("Undo save", sees="The secrets it has now go into a private")
    assert "Cannot be brought back" not in user.text


async def test_disabling_where_secrets_are_not_told_says_that_they_go(nested: FormUser) -> None:
    await nested.choose("Disable", row="mcp:0", sees=("does not tell its key", "when you enable it"))
    await nested.press("d", sees="will be disabled")
    await nested.choose("Enable", sees=("It stays on the service.", "As stored"))
    await nested.choose("Disable")
    await nested.press("d", sees="will be disabled")
    said = "SSE https://events.example.org/sse: this server does not tell its key"
    await nested.press("ctrl+s", sees=("also loses", said))
    await nested.press("y", sees="Saved")
    await nested.choose("Enable", sees="The service told no key of it")
    await nested.press("u", sees="As stored")
    await nested.choose("Undo save", sees=("Cannot be brought back", "its key and hidden"))
    assert "if it had any; Keys and hidden values" in nested.unwrapped


async def test_a_server_is_made_the_other_type_and_keeps_its_key(user: FormUser) -> None:
    await user.choose("Convert to SSE", row="mcp:1", sees=("It is SSE from the next save on", "edited"))
    await user.choose("Convert to HTTP", sees="As stored")  # even its time-out, which SSE has not
    await user.choose("Convert to HTTP", row="mcp:0", sees=("It is HTTP from the next save on", "edited"))
    config = await user.saved_servers(1)
    await user.choose("Convert", row="mcp:2", sees="only SSE and HTTP can change places")
    assert not config.sse_servers
    converted = next(server for server in config.shttp_servers if server.url == "https://events.example.org/sse")
    assert converted.api_key == SecretStr("sentinel-sse-key")


async def test_an_address_of_the_other_type_is_noticed_in_the_dialog_where_the_type_is_chosen(deck: Decks) -> None:
    async with deck(SseServer(url="https://tools.example.org/mcp")) as user:
        await user.go_to("mcp:0", "enter", sees="· An address ending in /mcp")
        assert "Time-out" not in user.text
        await user.press("shift+tab", "right", sees=("(•) HTTP", "Time-out, s"), lacks="· An address")
        await user.press("ctrl+s", sees="edited")
        stored = await user.saved_servers(1)
    assert [server.url for server in stored.shttp_servers] == ["https://tools.example.org/mcp"]
    assert not stored.sse_servers


async def test_entries_that_are_there_twice_are_removed_in_one_step(deck: Decks, deck_at: Decks) -> None:
    one = ShttpServer(url="https://tools.example.org/a", api_key=SecretStr("sentinel"))
    alike, other = one.model_copy(update={"timeout": 9}), StdioServer(name="db", command="npx")
    async with deck(one, one, one, alike, other, other) as user:
        await user.go_to("mcp:4", sees=("f2 here removes 3 duplicates", "twice"))
        await user.choose("Remove duplicates", sees=("3 duplicates: gone at the next save.", "3 edited"))
        assert "config.toml" not in user.text  # the local service has none
        await user.press("ctrl+z", sees=("As stored", "f2 here removes 3"))
        await user.press("slash", *"db", "enter", sees=("f2 here removes 3", "twice"))
        await user.press("escape")
        await user.go_to("mcp:4")
        await user.choose("Remove duplicates")
        await user.press("ctrl+s", sees="An equal one stays.")
        await user.press("escape", sees="3 edited")
        stored = await user.saved_servers(3)
        await user.go_to("language")
        await user.choose("Undo save", sees=("Nothing of the last save", "there twice stays there once."))
        await user.press("escape", sees="As stored")
        await user.go_to("mcp:0", "f2", "slash", *"alike", sees="No two MCP servers are alike in everything.")
        await user.press("escape", until=lambda: not user.deck.screen.is_modal)
        await user.paste_json('[{"command": "uvx", "name": "new"}, {"command": "uvx", "name": "new"}]', sees="found")
        await user.press("ctrl+s", sees="f2 here removes 1 duplicate")
    assert (len(stored.shttp_servers), len(stored.stdio_servers)) == (2, 1)
    keeper = FlatServer()
    keeper.record["mcp_config"] = {"shttp_servers": [{"url": one.url}] * 2}
    async with deck_at(FakeServer(keeper)) as user:
        await user.go_to("mcp:0", sees="f2 here removes 1 duplicate, likely from")
        await user.choose("Remove duplicates", sees="What the server's own config.toml")


async def test_what_somebody_else_adds_while_servers_are_pasted_is_not_taken_away(deck_at: Decks) -> None:
    db, theirs, mine = ({"name": name, "command": "uvx"} for name in ("db", "theirs", "mine"))
    flat = FlatServer(mcp_config={"stdio_servers": [db]})
    server = Gated(flat, lambda request: len(flat.record["mcp_config"]["stdio_servers"]) == 2)
    async with deck_at(server) as user:
        flat.record["mcp_config"] = {"stdio_servers": [db, theirs]}
        await user.press("ctrl+r", until=lambda: server.waited)
        await user.paste_json(json.dumps([mine]), sees="1 server found")
        server.gate.set()
        await user.until(lambda: "reading…" not in user.text)
        await user.press("ctrl+s", sees="mine  uvx")
        await user.save(sees="Saved")
    assert [each["name"] for each in flat.record["mcp_config"]["stdio_servers"]] == ["db", "theirs", "mine"]


async def kept(folder: Path) -> tuple[McpServer, ...]:
    return (await KeptState(folder / "state").read(DisabledServers, LOCAL.about)).servers


async def disable(user: FormUser, row: str, *keys: str) -> None:
    await user.choose("Disable", row=row, sees="With secrets")
    await user.press(*keys, sees="will be disabled")


async def test_a_server_is_disabled_with_its_secrets_and_comes_back_as_it_was(deck: Decks, tmp_path: Path) -> None:
    async with deck(stored=FULL) as user:
        before, servers = await user.stored(), await user.servers()
        await disable(user, "mcp:2", "s")
        assert await kept(tmp_path) == ()
        await user.press("ctrl+s", sees=("on the service → kept", "The secrets it has now go into a private"))
        await user.press("escape")
        assert (await user.saved_servers(1)).stdio_servers == ()
        await user.sees("disabled")
        assert await kept(tmp_path) == servers.stdio_servers
    async with deck() as user:
        await user.until(lambda: any(entry.disabled for entry in user.form.draft.servers.entries))
        (row,) = (entry.row for entry in user.form.draft.servers.entries if entry.disabled)
        await user.choose("Enable", row=f"mcp:{row}", sees="1 edited")
        await user.press("ctrl+s", sees=("kept on this machine", "on the service"))
        await user.agree(sees=("Saved · 1 of 1 verified", "As stored"))
        assert (await user.stored(), await kept(tmp_path)) == (before, ())
        await disable(user, user.form.row.id, "s")  # the cursor is still on it
        await user.save_verified(1)
        posts = user.posts
        await user.press("d", "ctrl+s", sees=("Review the changes", "Kept on this machine only"))
        await user.press("r", sees="this concerns only what this machine keeps")
        await user.press("enter", sees=("Done on this machine", "As stored"))
        assert await kept(tmp_path) == ()
        await user.choose("Undo save", sees=("This takes back the save of", "kept on this machine"))
        await user.agree(sees=("Done on this machine", "As stored"))
        assert user.posts == posts
    there = written(tmp_path, "disabled")
    assert ("@acme/db" in there, "sentinel" in there) == (True, False)


async def test_what_cannot_be_kept_here_is_not_taken_from_the_server(user: FormUser, tmp_path: Path) -> None:
    before = await user.stored()
    await disable(user, "mcp:2", "s")
    folder = tmp_path / "state" / "disabled"
    folder.parent.mkdir(exist_ok=True)
    folder.write_text("in the way")
    await user.press("ctrl+s", sees=("Not saved:", "1 edited"))
    assert (user.posts, await user.stored()) == (0, before)


async def test_what_would_be_kept_here_is_not_where_the_save_is_refused(deck_at: Decks, tmp_path: Path) -> None:
    store = FlatServer(DOWN, mcp_config={"stdio_servers": [{"name": "files", "command": "npx"}]})
    async with deck_at(FakeServer(store)) as user:
        await user.choose("Disable", row="mcp:0", sees="will be disabled")
        await user.save(sees=("Not saved: Cannot connect", "1 edited"))
    assert (store.stores > 0, written(tmp_path, "disabled")) == (True, "")


async def test_what_another_deck_made_of_a_disabled_server_is_asked_about(deck: Decks, tmp_path: Path) -> None:
    async with deck(StdioServer(name="files", command="npx")) as ann:
        async with deck() as ben:
            await ben.go_to("mcp:0", "enter", "tab", sees="MCP server")
            await ben.type("deno", "ctrl+s", sees="deno")
            await ann.choose("Disable", row="mcp:0", sees="will be disabled")
            await ann.save_verified(1)
            await ben.press("ctrl+s", sees=("Changed here and elsewhere", "gone from the server"))
            await ben.press("t", sees="is stored already")
        async with deck(size=(60, 20)) as ben:
            for user, command in ((ann, "uvx"), (ben, "deno")):
                await user.go_to("mcp:0", "enter", "tab", sees="Disabled MCP server: kept here, with what you type")
                await user.type(command, "ctrl+s", sees=command)
            await ann.press("ctrl+s", sees="show the request")
            await ann.agree(sees="Done on this machine")
            await ben.press("ctrl+s", sees=("Changed elsewhere, too", "Changed here and elsewhere", "uvx", "deno"))
            await ben.press("t", sees="It is stored already; nothing was sent.")
        assert await kept(tmp_path) == (StdioServer(name="files", command="uvx"),)
