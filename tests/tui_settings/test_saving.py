from datetime import datetime
from pathlib import Path
from stat import S_IMODE

import pytest

from quarterdeck.client.models.mcp import McpConfig, StdioServer
from quarterdeck.config.connections import Connection
from quarterdeck.settings.kept import Journal
from tests.client.fakes import Answer, Asked, FakeServer, Gated
from tests.client.settings_servers import LOST, STORED, FlatServer
from tests.servers import Mode
from tests.tui_settings.conftest import FULL, Decks, FormUser, written


async def test_a_secret_is_replaced_and_cleared_and_never_on_the_screen(user: FormUser) -> None:
    await user.go_to("llm_api_key", "enter")
    await user.paste("  sentinel-pasted-key ", "enter", sees="new value")
    await user.press("ctrl+s", sees="stored → new value")
    await user.press("r", sees="$LLM_API_KEY")
    await user.press("enter", sees="Saved · 1 accepted")
    await user.press("x", sees="will be cleared")
    await user.save(sees=("Saved · 1 of 1 verified", "not stored"))
    await user.resize(34, 24, sees="Saved · 1")
    await user.resize(60, 24)
    await user.edit("llm_api_key", "sentinel-typed", sees="•  was not stored")
    await user.edit("sandbox_api_key", "sentinel-typed", sees="2 edited")
    await user.press(lacks="was this")
    assert (await user.stored()).llm_api_key_set is False


async def test_what_was_read_back_after_a_save_is_as_new_as_the_save(deck_at: Decks) -> None:
    async with deck_at(FakeServer(FlatServer())) as user:
        user.deck.clock = lambda: datetime(2026, 3, 14, 9, 30).astimezone()
        await user.press("ctrl+r", sees="read 09:30")
        await user.edit("language", "French")
        user.later(minutes=15)
        await user.save(sees=("09:45 Saved · 1 of 1 verified", "read 09:45"))


async def test_what_a_replacing_server_would_lose_is_said_first_and_enter_does_not_do(deck: Decks) -> None:
    async with deck(stored=FULL, store="replace") as user:
        await user.fill("language", "French", "ctrl+s")
        await user.sees("This save also loses", "Sandbox API key", "What is typed again is kept.")
        await user.press("enter", sees="y saves all the same")
        assert user.posts == 0
        await user.press("escape", sees=("Not saved; your edits are kept.", "1 edited"))
        await user.press("u", sees="As stored", lacks="your edits are kept")


async def test_what_somebody_else_saves_before_and_during_the_review_is_kept(user: FormUser) -> None:
    await user.edit("language", "French")
    await user.client.settings.store(await user.stored(), {"git_user_name": "Grace"})
    await user.press("ctrl+s", sees="Review the changes")
    await user.client.settings.store(await user.stored(), {"max_iterations": 77})
    await user.press("ctrl+s", sees="^s does nothing here")
    await user.press("enter", sees="Something has changed since you last looked")
    await user.press("enter", sees="It is asked again: y saves all the same")
    await user.press("y", sees="Saved · 1 of 1 verified")
    after = await user.stored()
    assert (after.language, after.git_user_name, after.max_iterations) == ("fr", "Grace", 77)


async def test_a_field_both_saved_is_asked_about(user: FormUser) -> None:
    await user.edits(language="French", git_user_name="Grace", max_iterations="77", condenser_max_size="99")
    long = "Edsger Wybe Dijkstra, once of Rotterdam, then of Nuenen and of Austin"
    theirs = {"language": "it", "git_user_name": long, "git_user_email": "theirs@host", "condenser_max_size": 88}
    await user.client.settings.store(await user.stored(), theirs)
    await user.press("ctrl+r", sees="Fields you edited were changed elsewhere, too")
    await user.go_to("git_user_email", sees="theirs@host")
    await user.go_to("git_user_name", "i", sees=("elsewhere, too", "loaded      Ada Lovelace", "after save  Grace"))
    await user.press("escape", "ctrl+s")
    await user.sees("Changed here and elsewhere", "fr · French", "it · Italian", "Language  was en · English")
    await user.press("t", sees=("Changed here and elsewhere", "was Ada Lovelace", "Grace", "Edsger", "of Austin"))
    await user.press("m", sees=("Changed here and elsewhere", "99", "88"))
    await user.press("t", sees=("Review the changes", "77"))
    await user.press("enter", sees="verified")
    after = await user.stored()
    assert (after.language, after.git_user_name, after.max_iterations) == ("it", "Grace", 77)


async def test_a_server_both_changed_is_asked_about_and_escape_goes_on_editing(user: FormUser) -> None:
    await user.add_command("files")
    await user.save_verified(1)
    await user.go_to("mcp:3", "enter", "tab", *"bunx", "ctrl+s", sees="bunx")
    held = await user.servers()
    theirs = McpConfig(stdio_servers=(*held.stdio_servers[:1], StdioServer(name="files", command="npx")))
    await user.client.settings.store(await user.stored(), {"mcp_config": theirs})
    await user.press("ctrl+s", sees=("Changed here and elsewhere", "stdio files", "command npx"))
    assert "command bunx" in user.line_of("Mine")
    await user.press("escape", sees=("Not saved; your edits are kept.", "1 edited"))
    assert (await user.servers()).stdio_servers[1].command == "npx"


async def save_a_name(user: FormUser) -> None:
    await user.edit("git_user_name", "Grace")
    await user.save()


async def test_what_the_server_complains_of_or_did_not_take_stays_edited(deck_at: Decks) -> None:
    tools = {"loc": ["body", "mcp_config", "stdio_servers"], "input": "sentinel-input"}
    of_old, of_new = (tools | {"loc": [*tools["loc"], n], "msg": f"no tool {n}"} for n in range(2))
    of_name = {"loc": ["body", "git_user_name"], "msg": "name is taken", "type": "value_error", "input": "Grace"}
    store = FlatServer(*(Answer({"detail": [each]}, 422) for each in (of_old, of_new, of_name)))
    store.record["mcp_config"] = {"stdio_servers": [{"name": "db", "command": "uvx"}]}
    async with deck_at(FakeServer(store)) as user:
        await save_a_name(user)
        await user.until(lambda: "The server says: no tool 0" in user.unwrapped)
        assert user.form.row.id == "mcp:0"
        await user.add_command("web")
        await user.save(sees="! The server says: no tool 1")
        assert user.form.row.id == "mcp:1"
        await user.edit("language", "French", sees=("3 edited", "1 error"))  # until that tool is another
        await user.go_to("mcp:1", "enter", "end", "2", "ctrl+s", sees=("web2", "3 edited · not saved yet"))
        await user.save(sees=("The server says: name is taken", "error"))
        assert user.form.row.id == "git_user_name"
        store.answers, store.ignores = [STORED], {"git_user_name"}
        await save_a_name(user)
        await user.press(sees="not what was saved", until=lambda: "meant Grace holds Ada" in user.unwrapped)
        await user.press("escape", sees=("only 2 of 3 verified", "1 edited", "is Ada. Your"))


async def test_a_refusal_of_a_member_of_a_tool_stands_at_that_member(deck_at: Decks) -> None:
    of_member = {"loc": ["body", "mcp_config", "sse_servers", 0, "odd"], "msg": "Extra inputs are not permitted"}
    store = FlatServer(Answer({"detail": [of_member]}, 422), STORED)
    store.record["mcp_config"] = {"sse_servers": [{"url": "https://x.example/sse", "cred": "a", "odd": "b"}]}
    async with deck_at(FakeServer(store)) as user:
        await user.go_to("mcp:0", "enter", *"https://y.example/sse", "ctrl+s")
        await user.save(sees="The server says: odd: Extra inputs")
        await user.press("enter", sees=("cred", "odd", "! The server says: odd: Extra inputs"))
        await user.press("right", "ctrl+s", sees="1 edited · not saved yet")
        await user.save_verified(1)
    assert store.record["mcp_config"]["sse_servers"] == [{"url": "https://y.example/sse", "cred": "a"}]


async def test_what_an_unknown_server_may_lose_is_named_before_and_what_it_lost_after_a_save(deck_at: Decks) -> None:
    store = FlatServer(llm_api_key_set=True, provider_tokens_set={"github": None}, theme="red")

    def forgetful(asked: Asked) -> Answer | Exception:
        if asked.path == "/api/secrets":
            return Answer({"custom_secrets": [] if store.stores else [{"name": "DEPLOY_KEY"}]})
        answer = store(asked)
        if store.stores:
            store.record |= {"provider_tokens_set": {}, "llm_api_key_set": False}
            store.record.pop("theme", None)
        return answer

    async with deck_at(FakeServer(forgetful)) as user:
        await user.fill("git_user_name", "Grace", "ctrl+s")
        await user.sees("This save also loses", "! API key: this server's release is not known", "▌    neither tells")
        also = "Git tokens (github) and custom secrets: this server's release is not known"
        await user.until(lambda: also in user.unwrapped)
        await user.press("y", sees="What the server holds is not what was saved")
        await user.until(lambda: "meant DEPLOY_KEY holds not there" in user.unwrapped)
        for lost in ("Provider tokens", "Custom secrets", "theme"):
            assert f"{lost} (not changed by this save)" in user.unwrapped


async def test_going_back_while_the_review_is_still_read_sends_nothing(deck_at: Decks) -> None:
    held: set[str] = set()
    server = Gated(FlatServer(), lambda request: request.url.path in held)
    async with deck_at(server) as user:
        await user.edit("git_user_name", "Grace")
        held.add("/api/settings")
        await user.press("ctrl+s", sees="Review the changes", until=lambda: server.waited)
        await user.press("escape", until=lambda: not user.deck.screen.is_modal)
        server.gate.set()
        await user.sees("Not saved; your edits are kept.", "1 edited")
        assert not server.sent("POST")


@pytest.mark.parametrize("then", ["it is answered", "it is asked"])
async def test_leaving_waits_a_moment_for_a_save_and_never_calls_it_unsent(deck_at: Decks, then: str) -> None:
    server = Gated(FlatServer(), lambda request: request.method == "POST", acts_first=True)
    async with deck_at(server) as user:
        await save_a_name(user)
        await user.until(lambda: server.sent("POST"))
        await user.sees("Saving…")
        await user.press("ctrl+q", sees="Waiting for the answer to: save of the settings; ctrl+q again asks now.")
        await user.press("ctrl+q")
        await user.sees("1 edit whose save is not answered yet: it may still happen.", "Keep editing", "Discard")
        assert "review and save them" not in user.text
        await user.press("k", "ctrl+q", sees="Waiting for the answer to: save of the settings")
        if then == "it is answered":
            server.gate.set()
        else:
            await user.press("ctrl+q", sees="whose save is not answered yet")
            server.gate.set()
        await user.until(lambda: user.deck.return_code is not None)
        assert (user.deck.return_code, [*user.deck.exit_messages]) == (0, [])


async def test_a_save_that_is_refused_while_leaving_is_asked_about_says_so(deck_at: Decks) -> None:
    server = Gated(FlatServer(Answer({"detail": "No"}, 403)), lambda request: request.method == "POST")
    async with deck_at(server) as user:
        await save_a_name(user)
        await user.until(lambda: server.waited)
        await user.press("escape", sees="1 edit whose save is not answered yet")
        server.gate.set()
        await user.sees("The save has ended, with 1 edit left:", "Not saved: ", "Keep editing", "Discard")
        assert "not answered yet" not in user.text
        await user.press("k", sees="1 edited")


async def test_a_save_that_ends_at_another_connection_leaves_that_ones_form_alone(deck_at: Decks) -> None:
    server, server.lost = Gated(FlatServer(), lambda request: request.method == "POST"), LOST
    async with deck_at(server) as user:
        await save_a_name(user)
        await user.until(lambda: server.waited)
        user.deck.connecting.open(Connection("another", "http://another.test"))
        await user.until(lambda: not user.form.draft.edited)
        server.gate.set()
        await user.sees("The save of the settings of far: ", "As stored", lacks="Grace")


async def test_a_refusal_is_said_and_the_edits_are_kept_and_it_is_no_first_run(deck_at: Decks) -> None:
    store = FlatServer()
    refusals = {403: "The server does not allow this", 404: "The settings are not where they were"}
    refusals[405] = "The server does not take POST there (status 405)."
    async with deck_at(FakeServer(store)) as user:
        await user.edit("git_user_name", "Grace")
        for status in (405, 410):
            store.refusal = Answer({"detail": "Gone"}, status)
            await user.press("ctrl+r", "ctrl+s", sees=("1 edited", "Not saved"), lacks="changed on server")
        assert (user.form.draft.was("llm_model"), store.stores) == ("a/b", 0)
        store.refusal = None
        for status, words in refusals.items():
            store.answers = [Answer({"detail": "Not Found"}, status)]
            await save_a_name(user)
            await user.until(lambda: f"Not saved: {words}"[:60] in user.unwrapped)  # noqa: B023
            assert user.form.draft.changes == {"git_user_name": "Grace"}
            assert "not saved yet" not in user.text  # beside the words about the save
        await user.edit("git_user_name", "Grace Hopper")
        assert "Not saved" not in user.text
        await user.choose("Undo save")
        assert not (await user.deck.state.read(Journal, user.deck.endpoint.about)).saves


async def test_when_somebody_was_faster_the_save_begins_anew(deck_at: Decks) -> None:
    store = FlatServer(Answer({"detail": "It changed"}, 409), STORED)
    async with deck_at(FakeServer(store)) as user:
        await user.edit("git_user_name", "Grace", "ctrl+s", sees="Review the changes")
        store.meanwhile = {"language": "fr"}
        await user.press("y", until=lambda: "It changed. Changed there meanwhile: Language." in user.unwrapped)
        await user.agree(sees="Saved · 1 of 1 verified")
        assert store.stores == 2


@pytest.mark.parametrize(("store", "first_is_first"), [("replace", False), ("nested", True)])
async def test_different_edits_are_all_there(deck: Decks, store: Mode, first_is_first: bool) -> None:
    async with deck(stored=FULL, store=store) as ann, deck(store=store) as ben:
        before, held_before = await ann.stored(), await ann.servers()
        await ann.edit("git_user_name", "Ann")
        await ann.add_command("search")
        await ben.edit("max_iterations", "77")
        await ben.add_command("files")
        await ben.go_to("mcp:2", "enter", "tab", *"bunx", "ctrl+s", sees="bunx")
        savers = [(ann, 2), (ben, 3)]
        for user, count in savers if first_is_first else reversed(savers):
            await user.save_verified(count)
        after, held = await ann.stored(), await ann.servers()
    commands = {server.name: server.command for server in held.stdio_servers}
    assert commands == {"db": "bunx", "search": "uvx", "files": "uvx"}
    edits = {"git_user_name": "Ann", "max_iterations": 77, "mcp_config": held, "leaves": after.leaves}
    assert after == before.model_copy(update=edits)
    remote = ((*config.sse_servers, *config.shttp_servers) for config in (held, held_before))
    for now, then in zip(*remote, strict=True):
        assert now.url == then.url
        assert store == "nested" or now == then  # that one loses untold secrets, as the review said first


@pytest.mark.parametrize("store", ["replace", "nested"])
async def test_a_save_is_taken_back_and_that_is_taken_back_too(deck: Decks, store: Mode) -> None:
    async with deck(stored=FULL, store=store) as user:
        before = await user.stored()
        await user.edits(git_user_name="Grace", max_iterations="77")
        await user.save_verified(2)
        saved = await user.stored()
        await user.choose("Undo save", sees=("This takes back the save of", "Grace → Ada Lovelace", "77 → 200"))
        if store == "replace":
            await user.sees("y save and lose it", "esc go back")
            await user.press("enter", sees="y saves all the same, esc goes back")
        await user.agree(sees=("Saved · 2 of 2 verified", "As stored"))
        assert await user.stored() == before
    async with deck(store=store) as user:
        await user.choose("Undo save", sees="Ada Lovelace → Grace")
        await user.agree(sees=("Saved · 2 of 2 verified", "As stored"))
        assert await user.stored() == saved
        await user.edit("git_user_name", "Ann")
        await user.until(lambda: "verified" not in user.text)
        await user.choose("Undo save", sees="Save or drop your edits first")


async def test_no_secret_is_in_the_journal_and_what_is_not_taken_back_is_named(user: FormUser, tmp_path: Path) -> None:
    await user.edits(llm_api_key="sentinel-other", git_user_name="Grace", language="French")
    await user.save(sees="Saved · 2 verified, 1 accepted")
    assert "fr" in written(tmp_path, "journal")
    assert "sentinel" not in written(tmp_path, "journal")
    assert {S_IMODE(file.stat().st_mode) for file in (tmp_path / "state").rglob("*.json")} == {0o600}
    await user.client.settings.store(await user.stored(), {"git_user_name": "Ann"})
    await user.choose("Undo save")
    await user.sees("Cannot be brought back", "API key", "Changed again since, and left alone: Author name.")
    await user.sees("fr · French → en · English")
    await user.press("escape", sees=("Not undone; all is as it was.", "As stored"))


async def test_a_deleted_server_comes_back_with_its_secrets_to_be_typed(user: FormUser, tmp_path: Path) -> None:
    await user.go_to("mcp:2", "d", "ctrl+s", sees=("deleted", "An undo brings it back without secrets."))
    await user.press("r", sees=("curl", "it listens on no port", "↑ ↓ scroll  r hide the request"))
    await user.press("r", sees="show the request")
    await user.agree(sees="Saved · 1 of 1 verified")
    assert "@acme/db" in written(tmp_path, "journal")
    assert "sentinel" not in written(tmp_path, "journal")
    await user.choose("Undo save", sees=("The last save, taken back as edits", "Type what is missing"))
    await user.press("escape", sees=("1 edited · 1 error", "Type the hidden part again"))
    assert user.posts == 1


async def test_when_nothing_can_be_taken_back_one_line_says_so(deck: Decks) -> None:
    async with deck(stored=FULL) as user:
        await user.press("f2", sees="No save from here is noted")
        await user.press("escape")
        assert user.posts == 0
        await user.go_to("llm_api_key", "x")
        await user.save_verified(1)
        await user.choose("Undo save", sees=("Nothing of the last save can be undone", "It is the save of", "API key"))
        assert "takes back" not in user.text
