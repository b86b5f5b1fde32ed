import asyncio
from pathlib import Path

from quarterdeck.config.connections import Connection
from tests.client.fakes import Answer, FakeServer, Gated, to
from tests.client.settings_servers import FlatServer
from tests.tui.user import WIDE, answering, at_deck, local
from tests.tui_settings.conftest import FULL, Decks, FormUser


async def test_bad_input_gets_its_sentence_and_nothing_is_sent(user: FormUser) -> None:
    await user.fill("max_budget_per_task", "-1", sees="0 or more")
    await user.press("escape", sees=("0 or more", "error", "1 error"))
    await user.press("g", "ctrl+s")
    assert user.form.row.id == "max_budget_per_task"
    await user.press("u", sees="As stored")
    await user.go_to("llm_api_key", "enter")
    await user.paste("one\ntwo", sees="has several")
    await user.press("escape", "ctrl+s", "u", sees="As stored")
    assert user.posts == 0


async def test_a_secret_is_kept_unless_something_is_typed_or_chosen(user: FormUser) -> None:
    await user.go_to("llm_api_key", "enter", "right", sees="(•) replace")
    await user.press("enter", sees="As stored")
    await user.press("enter", "left", sees="(•) clear")
    await user.type("typed-1", sees=("(•) replace", "•••••••"))
    await user.press("f4", sees="A secret is not written to a")
    await user.press("ctrl+t", sees="typed-1")
    await user.press("ctrl+u", sees=("(•) keep", "As stored"))
    await user.paste("  pasted-1 ", sees=("(•) replace", "Spaces around the pasted key", "pasted-1"))
    await user.press("2", lacks="Spaces around")
    await user.press("ctrl+u")


async def test_escape_keeps_the_edit_and_undo_takes_it_back(user: FormUser) -> None:
    await user.fill("git_user_name", "Grace Hopper", "ctrl+z")
    assert user.form.draft.changes == {"git_user_name": "Grace"}
    await user.press("ctrl+y", until=lambda: user.form.draft.changes == {"git_user_name": "Grace Hopper"})
    await user.press("ctrl+z", "ctrl+z")
    assert user.form.draft.changes == {"git_user_name": "G"}  # no step takes back a space that nobody sees
    await user.press("ctrl+y", "escape", sees=("Grace", "was Ada Lovelace", "edited", "*1"))
    await user.press("ctrl+z", sees="As stored")
    await user.press("ctrl+y", sees="1 edited")
    await user.press("x", sees=("was Ada Lovelace", "edited"))
    assert user.form.draft.changes == {"git_user_name": None}
    await user.press("u", sees="As stored")


async def test_switches_and_choices(user: FormUser) -> None:
    await user.go_to("enable_default_condenser", "enter", sees=("(•) on", "( ) off"))
    await user.press("right", "escape", "x", sees="always on or off")
    await user.go_to("user_consents_to_analytics", "enter", sees=("(•) not set", "( ) on", "( ) off"))
    for _ in range(2):
        await user.click("← →")
    await user.press("enter")
    switched = {"enable_default_condenser": False, "user_consents_to_analytics": False}
    assert user.form.draft.changes == switched
    await user.go_to("remote_runtime_resource_factor", "enter", "down", "down")
    await user.press("enter")
    assert user.form.draft.changes == switched | {"remote_runtime_resource_factor": 2}
    await user.press("enter", "3", sees=("as typed", "this value does"))
    await user.press("enter")
    assert user.form.draft.changes == switched | {"remote_runtime_resource_factor": 3}
    await user.go_to("language", "enter", sees=f"{' ' * 26}ja  Japanese")
    await user.click("Japanese", until=lambda: user.form.editor is None)
    assert user.form.draft.changes["language"] == "ja"
    await user.go_to("security_analyzer", "enter", *"gray", sees=("grayswan", "offered by this"))
    await user.press("enter")
    assert user.form.draft.changes["security_analyzer"] == "grayswan"
    await user.press("enter", sees="▌ Security analyzer       grayswan")
    await user.press("escape")
    await user.go_to("agent", "enter", *"My", "enter", until=lambda: user.form.editor is None)
    assert user.form.draft.changes["agent"] == "My"


async def test_a_list_without_rows_is_found_by_its_name(deck: Decks) -> None:
    async with deck() as user:
        await user.press("slash", *"mcp", sees=("a adds one", "MCP servers"))
        await user.press("enter", "D", sees="There is none yet.", lacks="D Delete")
        untold = "Not told before settings are saved. a sets one."
        await user.press("slash", "ctrl+u", *"git", "space", *"tokens", sees=(untold, "Git tokens"), lacks="Base URL")
        await user.press("enter", "D", until=lambda: user.text.count("Not told before settings are saved.") == 2)
        await user.press("a", "enter", sees=("Token of github", "Tokens are not told before settings are"))


async def test_help_that_is_longer_than_its_lines_is_cut_with_a_sign(deck: Decks) -> None:
    async with deck(stored={"llm_base_url": "http://127.0.0.1:3188/v1"}) as user:
        await user.go_to("llm_base_url", sees="Server and sandboxes look for this")
        await user.until(lambda: any(line.rstrip().endswith("…") for line in user.text.splitlines()[-5:-2]))
        await user.press("i", sees=("llm_base_url", "the provider's own address."))
        await user.press("escape")
        await user.resize(120, 36, sees="set: the provider's")


async def test_what_undo_and_redo_change_is_gone_to_and_shown_where_a_filter_hides_it(user: FormUser) -> None:
    await user.edit("git_user_name", "Grace")
    await user.add_command("search")
    for key, row in (("ctrl+z", "mcp:"), ("ctrl+z", "git_user_name"), ("ctrl+y", "git_user_name"), ("ctrl+y", "mcp:3")):
        await user.press("slash", *"language", "enter", sees="esc show", until=lambda: len(user.form.view.rows) == 1)
        await user.press(key, until=lambda: user.form.view.query == "")
        assert row == "mcp:" or user.form.row.id == row
    await user.press("slash", *"search", "enter", until=lambda: len(user.form.view.rows) < 4)
    await user.press("ctrl+z", sees=("1 edited", " / search"))  # it was in sight
    await user.press("escape", "g", "ctrl+y", "g", "ctrl+z", until=lambda: user.form.row.id.startswith("mcp:"))
    await user.press("g", "ctrl+z", until=lambda: user.form.row.id == "git_user_name")


async def test_fields_say_how_they_stand_and_are_reached_by_filter_tab_and_mouse(user: FormUser) -> None:
    await user.sees("anthropic/claude-sonnet-4-5", "stored", "not stored", "server default", "As stored")
    assert user.form.row.id == "llm_model"
    await user.press("G", sees=("E-mail verified", "not set", "kept as it is"))
    await user.press("slash", *"key")
    assert user.form.row.id == "llm_api_key"
    await user.press("enter", "down", "escape", sees="As stored")
    assert user.form.row.id == "search_api_key"
    await user.press("slash", *"budget", sees="Budget per task", lacks="Base URL")
    await user.type("zz", "enter", sees="Nothing matches")
    for key in ("enter", "a", "i", "D"):
        await user.press(key, sees="Nothing matches the filter; esc shows all fields.")
    await user.press("f2", sees="do it")
    await user.press("escape", "escape", "g", sees="Base URL")
    await user.press("tab", until=lambda: user.form.row.id == "agent")
    await user.press("down", "enter", "tab", until=lambda: user.form.row.id == "max_budget_per_task")
    await user.press("escape", "shift+tab", "shift+tab", sees="▌ Model")  # scrolled, too
    await user.click("Max iterations")
    assert user.form.row.id == "max_iterations"
    await user.click("Max iterations", until=lambda: user.form.editor is not None)
    await user.type("77", "enter")
    assert user.form.draft.changes == {"max_iterations": 77}


async def test_edits_survive_other_screens_and_are_saved_through_a_new_connection(user: FormUser) -> None:
    await user.edit("git_user_name", "Grace", "2", "1", "3", sees=("1 edited", "Grace"))
    before = user.deck.session
    user.deck.connecting.open(user.deck.endpoint)
    while user.deck.session in (None, before) or user.session.server.kind is None:
        await asyncio.sleep(0)
    await user.burst("ctrl+s", sees="Review the changes")
    await user.press("enter", sees="Saved · 1 of 1 verified")


async def test_no_way_out_loses_edits_unasked(user: FormUser) -> None:
    await user.edit("git_user_name", "Grace")
    for key, answer in (("ctrl+q", "enter"), ("Q", "escape"), ("q", "k"), ("escape", "enter")):
        await user.press(key, sees=("Unsaved settings", "Keep editing", "Discard"))
        await user.press(answer, sees=("1 edited", "Grace"), until=lambda: user.deck.screen is user.settings)
    await user.press("1", "ctrl+q", sees=("Unsaved settings", "[3 Settings"))
    await user.press("escape", until=lambda: user.deck.screen is user.settings)
    assert user.posts == 0
    await user.press("escape", sees="Unsaved settings")
    await user.press("d", until=lambda: user.deck.current_mode == "conversations")
    assert not user.form.draft.edited
    await user.press("3")
    await user.edit("git_user_name", "Grace", "escape", sees="Unsaved settings")
    await user.press("s", sees="show the request")
    await user.press("enter", until=lambda: user.deck.current_mode == "conversations")
    assert (await user.stored()).git_user_name == "Grace"
    await user.press("3")
    await user.go_to("git_user_name")
    user.at_once("enter", *"dskd", "ctrl+q", "k")
    await user.until(lambda: user.form.draft.edited and not user.deck.screen.is_modal)
    assert user.deck.return_value is None
    await user.burst("ctrl+q", "d", until=lambda: user.deck.return_value == 0)


async def test_text_of_the_server_does_nothing_to_the_terminal(deck_at: Decks) -> None:
    hostile = "a/\x1b]0;owned\x07[/b][@click=app.quit]model\u202e"
    server = FakeServer({"GET /api/settings": [Answer({"llm_model": hostile, "strange[/]": "\x1b[2J"})]})
    async with deck_at(server) as user:
        await user.sees("[@click=app.quit", lacks="\x1b")
        await user.press("enter", sees="[@click=app.quit]model", lacks="\x1b")
        await user.press("escape", sees="As stored")


async def test_a_refused_key_and_a_server_that_comes_back() -> None:
    server, server.refusal = FlatServer(), Answer({"detail": "Unauthorized"}, 401)
    async with at_deck(answering(FakeServer(server)), Connection("far", "http://far.test")) as opened:
        await opened.sees("Connection", "K: enter it.")
        await opened.press("escape")
        user = await FormUser.at(opened, loaded=False)
        await user.sees("The key is missing or not the right one", "enters a key")
        server.refusal = None
        await user.press("ctrl+r", sees="a/b")


async def test_a_resized_terminal_keeps_the_cursor_in_sight_and_the_field_that_is_edited(deck: Decks) -> None:
    async with deck(size=WIDE) as user:
        await user.press("G", "up", "escape", until=lambda: user.deck.current_mode == "conversations")
        await user.resize(60, 20)
        await user.press("3", sees="▌ Account e-mail")
        await user.resize(48, 20)
        await user.go_to("language", sees="en          web only")
        await user.resize(*WIDE)
        await user.fill("git_user_name", "Grac")
        await user.resize(60, 20)
        await user.type("e", sees="Grace")
        await user.resize(*WIDE)
        await user.press("enter", sees=("Grace", "was not set", "edited"))
        await user.fill("git_user_name", "Grace " * 5 + "Hopper", sees="Hopper")
        await user.resize(60, 20, sees="Hopper")
        await user.press("ctrl+u", *"Grace Brewster Hopp", "enter", sees="Grace Brewster Hopp")
        assert "was" not in user.line_of("Grace Brewster")  # it would be cut behind that word


async def test_a_record_read_while_a_field_is_edited_takes_nothing_from_it(user: FormUser) -> None:
    await user.fill("git_user_name", "Gra")
    await user.client.settings.store(await user.stored(), {"language": "it"})
    await user.press("ctrl+r", until=lambda: user.form.draft.value("language") == "it")
    await user.type("ce", "enter")
    assert (user.form.draft.changes, user.form.draft.value("language")) == ({"git_user_name": "Grace"}, "it")


async def test_what_somebody_else_saved_is_marked_until_it_was_looked_at(deck: Decks) -> None:
    async with deck(stored=FULL, size=WIDE) as user:
        before, servers = await user.stored(), await user.servers()
        (events,) = servers.sse_servers
        moved = servers.model_copy(update={"sse_servers": (events.model_copy(update={"api_key": None}),)})
        await user.client.settings.store(before, {"max_iterations": 77, "mcp_config": moved})
        await user.press("ctrl+r", sees="77")
        assert "changed on server" in user.line_of("Max iterations")
        await user.go_to("mcp:1", sees="nts.example.org/sse")
        assert "changed on server" in user.line_of("nts.example.org/sse")
        assert "changed on server" not in user.line_of("//tools.")
        await user.go_to("max_iterations", sees=("It has changed on the server", "changed on server"))
        await user.press("down")
        assert "changed on server" not in user.line_of("Max iterations")


async def test_nothing_counts_as_changed_in_the_first_record_that_somebody_saves(deck: Decks) -> None:
    async with deck(sees="No settings stored yet") as user:
        await user.client.settings.store(None, {"language": "it"})
        await user.press("ctrl+r", sees="As stored")
        await user.go_to("language", sees="it · Italian")
        assert "changed on server" not in user.text
        await user.go_to("sandbox_api_key")
        assert "changed on server" not in user.text


async def test_fields_that_conversations_do_not_go_by_say_so(deck_at: Decks) -> None:
    async with deck_at(FakeServer({"GET /api/settings": [Answer({"llm_model": "a/b", "max_iterations": 50})]})) as user:
        await user.go_to("max_iterations")
        assert "V0 only" in user.line_of("Max iterations")
        assert "server default · V0 only" in user.line_of("Budget per task")
        assert "V0 only" not in user.line_of("Base URL")
        await user.press("enter", *"60", "enter")
        assert "edited · V0 only" in user.line_of("Max iterations")
        await user.go_to("language")
        assert "web only" in user.line_of("Language")


async def test_the_groups_stand_beside_the_fields_or_in_one_line_above(user: FormUser) -> None:
    await user.edit("language", "French")
    await user.fill("max_iterations", "-1", "escape")
    assert "*1 !1" in user.line_of(" Agent  ")
    assert "*1" in user.line_of("Interface")
    await user.until(lambda: user.form.view.lists.secrets is not None)
    assert "LLM profiles" not in user.form.view.groups  # which a flat server has not
    await user.resize(60, 20, until=lambda: "▌Agent *1 !1  Sandbox" in user.text)
    await user.press("tab", until=lambda: "▌Sandbox  MCP servers" in user.text)
    await user.click("MCP servers")
    assert user.form.row.group == "MCP servers"


async def test_the_menu_of_a_row_has_what_can_be_done_with_it(user: FormUser) -> None:
    await user.go_to("secret:", "f2", sees=("New value", "Add a secret, at once"))
    assert "Drop the edit" not in user.text
    await user.press("escape")
    await user.go_to("git_user_name")
    for key in ("f2", "ctrl+o"):
        await user.press(key, sees=("Revert", "Not set", "Copy name", "Nothing is edited here."))
        await user.press("u", sees=("Copy name", "Nothing is edited here."))
        await user.press("escape")
    await user.press("f2", "y", sees="Copied the name git_user_name, if your terminal takes copies (OSC 52).")
    assert user.deck.clipboard == "git_user_name"
    await user.press("f2", "x", sees="1 edited")
    await user.press("f2", "u", sees="As stored")
    await user.go_to("mcp:0", "f2", sees=("Disable", "Check", "Copy as new", "Delete"))
    await user.press("D", sees=("1 edited", "will be deleted"))


async def test_fields_are_edited_pasted_into_as_it_was_and_reviewed_by_one_burst_of_keys(user: FormUser) -> None:
    words = "अदिति  নமி\u200c 👍🏽"
    await user.go_to("git_user_name")
    user.at_once("enter", "ctrl+u")
    user.paste_at_once(f"{words}\n")
    await user.burst("x", "tab", "ctrl+u", *"x@d.org", "shift+tab", "ctrl+s", sees=("x@d.org", "show the request"))
    await user.press("enter", sees="Saved · 2 of 2 verified")
    after = await user.stored()
    assert (after.git_user_name, after.git_user_email) == (f"{words}x", "x@d.org")


async def test_the_first_visit_may_be_typed_ahead(tmp_path: Path) -> None:
    async with at_deck(local(tmp_path / "data"), sees="No conversations.") as user:
        await user.burst("3", "enter", *"duty", "enter", "j", sees=("duty", "1 edit"))


async def test_a_filter_may_be_typed_while_the_settings_are_still_read(deck_at: Decks) -> None:
    server = Gated(FlatServer(), to("/api/settings"))
    async with deck_at(server, loaded=False) as user:
        await user.until(lambda: server.waited)
        await user.burst("slash", *"ask", "enter", "x", sees=("/ ask", "Not set: the settings are not loaded."))
        await user.burst("slash", *"ask before", sees=("/ ask before", "enter keep it"))
        server.gate.set()
        await user.sees("Ask before actions")
        await user.press("!", sees="/ ask before!")
        await user.press("backspace", "enter", sees="Ask before actions")
        assert user.form.row.id == "confirmation_mode"
        assert not user.form.draft.edited
