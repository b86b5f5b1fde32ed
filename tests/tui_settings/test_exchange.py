import asyncio
import json
import socket
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pydantic import SecretStr

from quarterdeck.client.models.mcp import ShttpServer, SseServer, StdioServer
from tests.client.fakes import answering, plain, raw_server
from tests.tui.user import PATIENCE
from tests.tui_settings.conftest import FULL, Decks, FormUser

pytestmark = pytest.mark.usefixtures("here")


async def export_to(user: FormUser, path: Path) -> None:
    await user.choose("Export", sees=("Export the settings", "settings-local-service.toml"))
    await user.retype(path.name, "enter")


async def import_from(user: FormUser, path: Path) -> None:
    await user.choose("Import", sees=("Import settings", "settings-local-service.toml"))
    await user.type(path.name, "enter")


async def test_what_is_exported_comes_back_as_edits(user: FormUser, tmp_path: Path) -> None:
    path = tmp_path / "kept.toml"
    before = await user.stored()
    await export_to(user, path.with_suffix(".yaml"))
    await user.sees("The name has to end in .toml or .json.")
    await user.press("escape", "escape", until=lambda: not user.deck.screen.is_modal)
    assert not path.with_suffix(".yaml").exists()
    await export_to(user, path)
    await user.sees("Written to", "without secrets")
    assert "sentinel" not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    await user.client.settings.store(before, {"language": "it", "git_user_name": "Grace"})
    await user.go_to("git_user_name", "ctrl+r", sees="Grace")
    await user.go_to("llm_model")
    await import_from(user, path)
    await user.sees("kept.toml is read.", "2 edited")
    assert user.form.row.id in ("language", "git_user_name")
    assert user.posts == 1
    await user.press("ctrl+z", sees="As stored")
    await user.press("ctrl+y")
    await user.save_verified(2)
    assert await user.stored() == before


async def test_a_file_that_is_there_goes_only_after_a_yes(user: FormUser, tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text("mine")
    await export_to(user, path)
    await user.sees("Write over the file?", "mine.json is there already.", lacks="go on")
    await user.press("enter", sees=("Export the settings", "mine.json"))
    await user.press("escape", "escape")
    assert path.read_text() == "mine"
    await export_to(user, path)
    await user.sees("Write over the file?")
    await user.press("y", sees="Written to")
    await user.choose("Export", sees="Export the settings")
    await user.retype("no-such-folder/x.toml", "enter", until=lambda: "No such file or directory." in user.unwrapped)
    await user.retype(str(tmp_path), "enter", until=lambda: " not a file." in user.unwrapped)
    assert json.loads(path.read_text())["settings"]["llm_model"] == FULL["llm_model"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_what_of_a_file_cannot_be_taken_over_is_said_and_left_alone(user: FormUser, tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_bytes(b"language = ")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    (tmp_path / "folder").mkdir()
    wrong = {"broken.toml": "neither JSON nor TOML", "bytes.toml": "not text in UTF-8", "gone.toml": "is not there"}
    for name, sentence in (wrong | {"folder": "not a regular file"}).items():
        await import_from(user, tmp_path / name)
        await user.sees("Import settings", sentence)
        await user.press("escape", "escape")
    await user.sees("As stored")
    odd = {"max_iterations": "many", "agent": 5, "enable_sound_notifications": "yes", "llm_api_key": 5}
    known = {"language": "fr", "email": None} | odd
    path, always = tmp_path / "odd.json", "enable_default_condenser"
    path.write_text(json.dumps({"settings": {"shoe_size": 44, "x": {}, **known}, "not_set": ["y", always], "stray": 3}))
    await import_from(user, path)
    await user.sees("Read from odd.json", "Left alone: max_iterations: This is not a whole")
    foreign = "shoe_size, x: this server does not have it, or lets nobody change it."
    said = (*(f"{key}: This is not" for key in odd), f"{always}: This server keeps the stored value")
    for each in (*said, foreign, "stray: outside the table [settings]."):
        assert f"Left alone: {each}" in user.unwrapped
    await user.press("escape", sees="1 edited")
    assert user.form.draft.changes == {"language": "fr"}


async def test_a_check_says_what_answered_from_this_machine_and_sends_only_its_own_key(deck: Decks) -> None:
    async with (
        raw_server(answering(plain(b"", "405 No"))) as server,
        deck(ShttpServer(url=f"{server.url}/mcp", api_key=SecretStr("sentinel-own"))) as user,
    ):
        said = "Check: 405 in", "answers 405 from this machine", "network may differ"
        await user.choose("Check", row="mcp:0", sees=said)
        await user.choose("Convert to SSE")
        await user.until(lambda: "405 in" not in user.text)
    (head,) = server.heads
    assert b"authorization: bearer sentinel-own" in head.lower()
    assert b"x-session-api-key" not in head.lower()


async def test_all_are_checked_at_once_from_the_palette_and_no_command_is_run(deck: Decks, tmp_path: Path) -> None:
    made = tmp_path / "made"
    good = StdioServer(name="good", command="touch", args=(str(made),))
    gate, answer = asyncio.Event(), answering(plain(b""))

    async def held(head: bytes, writer: asyncio.StreamWriter) -> None:
        await gate.wait()
        await answer(head, writer)

    async with raw_server(held) as server:
        addresses = SseServer(url=f"{server.url}/sse"), SseServer(url="http://127.0.0.1:1/mcp")
        async with deck(*addresses, good, StdioServer(name="bad", command="two words"), store="nested") as user:
            await user.go_to("mcp:2", "ctrl+p", until=lambda: user.deck.screen is not user.settings)
            await user.type("mcp check", sees="Check all MCP ")
            await user.press("enter", sees="Checking MCP servers: 3 of 4")
            await user.go_to("mcp:0", sees="Check: checking.")
            gate.set()
            said = "200 in", "no connection", "form good", "1 of 2 addresses good, 1 of 2 commands of good"
            await user.go_to("mcp:3", sees=said)
            assert "…p://127.0.0.1:1/mcp no connection" in user.line_of("no connection")
            await user.choose("Check", row="mcp:2", sees="a command is never run from here")
            await user.choose("Check", row="mcp:3", sees="The command is one word")
    assert not made.exists()


async def test_slow_look_ups_hold_nothing_up(user: FormUser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(5))  # as on one processor
    looked_up = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: looked_up.wait(2 * PATIENCE) and [])
    await user.paste_json(json.dumps({f"s{n}": {"url": f"https://s{n}.test/mcp"} for n in range(9)}), sees="9 servers")
    await user.press("ctrl+s", sees="9 edited")
    await user.choose("Check all", sees="Checking MCP servers: 1 of 12")
    await user.go_to("language")
    await export_to(user, tmp_path / "x.toml")
    await user.until((tmp_path / "x.toml").exists)
    looked_up.set()


async def test_what_is_still_to_be_typed_of_a_server_goes_where_it_is_not_shown(user: FormUser) -> None:
    text = '// mine\n{"files": {"command": "npx", /* all */ "env": {"MODE": "x", "TOKEN": "a-${TOKEN}",},},}'
    await user.paste_json(text, sees="1 server found.")
    await user.press("ctrl+s", sees=("files", "1 edited"))
    await user.press("enter", "ctrl+s", sees="Still to be typed: TOKEN.")
    await user.press(*"sentinel", "ctrl+s", sees="1 edited")
    (files,) = [server for server in (await user.saved_servers(1)).stdio_servers if server.name == "files"]
    assert files.env == {"MODE": SecretStr("x"), "TOKEN": SecretStr("sentinel")}


async def test_what_is_wrong_with_a_pasted_server_is_said_in_sight(deck: Decks) -> None:
    async with deck(size=(60, 20)) as user:
        variables = {"ONE": "1", "TWO": "2", "THREE": "3", "TOKEN": "****"}
        db = {"command": "uvx", "args": ["a", "b", "c", "d"], "env": variables}
        await user.paste_json(json.dumps({"db": db}), sees="1 server found")
        await user.press("ctrl+s", sees="1 server found")
        await user.go_to("mcp:0", "enter", sees="MCP server")
        await user.press("ctrl+s", sees="! The value of TOKEN is a mask")


async def test_pasted_json_becomes_edits_in_one_step(user: FormUser) -> None:
    servers = {
        "db": {"command": "uvx", "args": ["mcp-db"], "env": {"TOKEN": "$TOKEN"}},
        "files": {"command": "npx", "args": ["-y", "@acme/files"]},
        "off": {"command": "npx", "env": {"TOKEN": "pasted-off"}, "disabled": True},
        "far": {"url": "https://far.example.org/sse", "headers": {"Authorization": "Bearer pasted-far"}, "type": "sse"},
    }
    found = "4 servers found, 1 is there already and will be edited, 1 is switched"
    await user.paste_json(json.dumps({"mcpServers": servers}, indent=1), sees=found)
    assert "switched off there" not in user.text  # it is disabled here, too
    await user.press("ctrl+s", sees=("4 servers found", "4 edited"))
    await user.until(lambda: "without secrets; ctrl+s reviews" in user.unwrapped)
    assert user.form.row.id == "mcp:2"  # the first that is another now
    await user.go_to("mcp:5", sees=("will be disabled", "to type"))
    assert " typed " in user.line_of("far")
    await user.press("ctrl+z", sees="As stored")
    await user.press("ctrl+y")
    config = await user.saved_servers(3)
    assert [server.name for server in config.stdio_servers] == ["db", "files"]
    assert "pasted-" not in user.text
    db = next(server for server in config.stdio_servers if server.name == "db")
    assert (db.command, db.args, db.env) == ("uvx", ("mcp-db",), {"TOKEN": SecretStr("sentinel-variable")})
    far = next(server for server in config.sse_servers if "far" in server.url)
    assert (far.api_key, len(config.sse_servers), len(config.shttp_servers)) == (SecretStr("pasted-far"), 2, 1)


async def test_of_many_servers_all_are_taken_in_and_of_many_notes_on_them_each_can_be_read(user: FormUser) -> None:
    pasted = json.dumps({"mcpServers": {f"s{n}": {"command": "npx", "args": ["-y", "x" * 80]} for n in range(900)}})
    assert len(pasted) > 100_000
    await user.paste_json(pasted, sees="900 servers found.")
    await user.press("ctrl+s", sees="900 edited")
    await user.press("ctrl+z", sees="As stored")
    many = {f"s{n}": {"command": "npx", f"odd{n}": 1} for n in range(7)}
    off = '{"db": {"command": "uvx", "disabled": true}}'
    await user.paste_json(off, sees="db: it is switched off there, and on here.")
    await user.press("ctrl+u")
    await user.paste(json.dumps(many), sees=("odd3", "and 3 more notes like these, shown once it is taken over."))
    await user.press("ctrl+s", sees=("Notes on what was pasted", "s6: this service has no place for odd6."))
    await user.press("escape", sees="7 edited")
    assert user.form.row.id == "mcp:3"


async def test_text_that_holds_no_servers_says_where_and_is_not_lost_by_one_escape(user: FormUser) -> None:
    await user.choose("Paste JSON", sees="Paste MCP servers")
    await user.press("f4", sees="No other program can use this terminal.")
    await user.press("ctrl+s", sees="Paste or type the JSON first.")
    await user.paste("[\n" * 40, "ctrl+z", "ctrl+y", "ctrl+z")
    await user.paste('{"mcpServers":\n {"a": }}', sees="This is not JSON: look at line 2, column 8.")
    await user.press("ctrl+s", sees="Nothing can be taken over yet")
    await user.press("escape", sees="esc again drops")
    await user.press("escape", sees="As stored", until=lambda: user.deck.screen is user.settings)


async def test_copies_and_files_hold_no_secret_and_can_be_pasted_back(user: FormUser, tmp_path: Path) -> None:
    await user.go_to("mcp:2", "y", sees=("Copied stdio db as JSON without secrets", "if your terminal takes", "writes"))
    one = user.deck.clipboard
    assert list(json.loads(one)["mcpServers"]) == ["db"]
    await user.press("ctrl+p", *"copy all mcp", sees="Copy all MCP ")
    await user.press("down", "enter", sees="Copied 3 servers as JSON without secrets")
    everything = user.deck.clipboard
    assert "sentinel" not in one + everything
    await user.paste_json(everything, sees="3 servers found, 3 are there already, unchanged.")
    await user.press("escape", "escape", until=lambda: user.deck.screen is user.settings)
    path = tmp_path / "servers.json"
    await user.choose("JSON to file", sees="1 MCP server as JSON. No secret is in it.")
    await user.retype(str(path), "enter", sees="without secrets;")
    assert (path.read_text(), path.stat().st_mode & 0o777) == (f"{one}\n", 0o600)
