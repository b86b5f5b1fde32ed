import asyncio
from pathlib import Path

from quarterdeck.config.connections import Connection
from tests.client.fakes import Answer, FakeServer, Gated, to
from tests.client.settings_servers import FlatServer
from tests.tui.seat import WIDE, answering, local, seated
from tests.tui_settings.conftest import FULL, FormSeat, Sit


async def test_bad_input_gets_its_sentence_and_nothing_is_sent(seat: FormSeat) -> None:
    await seat.fill("max_budget_per_task", "-1", sees="0 or more")
    await seat.press("escape", sees=("0 or more", "error", "1 error"))
    await seat.press("g", "ctrl+s")
    assert seat.form.row.id == "max_budget_per_task"
    await seat.press("u", sees="As stored")
    await seat.go_to("llm_api_key", "enter")
    await seat.paste("one\ntwo", sees="has several")
    await seat.press("escape", "ctrl+s", "u", sees="As stored")
    assert seat.posts == 0


async def test_a_secret_is_kept_unless_something_is_typed_or_chosen(seat: FormSeat) -> None:
    await seat.go_to("llm_api_key", "enter", "right", sees="(•) replace")
    await seat.press("enter", sees="As stored")
    await seat.press("enter", "left", sees="(•) clear")
    await seat.type("typed-1", sees=("(•) replace", "•••••••"))
    await seat.press("f4", sees="A secret is not written to a")
    await seat.press("ctrl+t", sees="typed-1")
    await seat.press("ctrl+u", sees=("(•) keep", "As stored"))
    await seat.paste("  pasted-1 ", sees=("(•) replace", "Spaces around the pasted key", "pasted-1"))
    await seat.type("2")
    assert "Spaces around" not in seat.text
    await seat.press("ctrl+u")


async def test_escape_keeps_the_edit_and_undo_takes_it_back(seat: FormSeat) -> None:
    await seat.fill("git_user_name", "Grace Hopper", "ctrl+z")
    assert seat.form.draft.changes == {"git_user_name": "Grace"}
    await seat.press("ctrl+y")
    assert seat.form.draft.changes == {"git_user_name": "Grace Hopper"}
    await seat.press("ctrl+z", "ctrl+z")
    assert seat.form.draft.changes == {"git_user_name": "G"}  # no step takes back a space that nobody sees
    await seat.press("ctrl+y", "escape", sees=("Grace", "was Ada Lovelace", "edited", "*1"))
    await seat.press("ctrl+z", sees="As stored")
    await seat.press("ctrl+y", sees="1 edited")
    await seat.press("x", sees=("was Ada Lovelace", "edited"))
    assert seat.form.draft.changes == {"git_user_name": None}
    await seat.press("u", sees="As stored")


async def test_switches_and_choices(seat: FormSeat) -> None:
    await seat.go_to("enable_default_condenser", "enter", sees=("(•) on", "( ) off"))
    await seat.press("right", "escape", "x", sees="always on or off")
    await seat.go_to("user_consents_to_analytics", "enter", sees=("(•) not set", "( ) on", "( ) off"))
    for _ in range(2):
        await seat.click("← →")
    await seat.press("enter")
    switched = {"enable_default_condenser": False, "user_consents_to_analytics": False}
    assert seat.form.draft.changes == switched
    await seat.go_to("remote_runtime_resource_factor", "enter", "down", "down", sees="2; type to find")
    await seat.press("enter")
    assert seat.form.draft.changes == switched | {"remote_runtime_resource_factor": 2}
    await seat.press("enter", "3", sees=("as typed", "this value does"))
    await seat.press("enter")
    assert seat.form.draft.changes == switched | {"remote_runtime_resource_factor": 3}
    await seat.go_to("language", "enter", sees=f"{' ' * 26}ja  Japanese")
    await seat.click("Japanese", until=lambda: seat.form.editor is None)
    assert seat.form.draft.changes["language"] == "ja"
    await seat.go_to("security_analyzer", "enter", *"gray", sees=("grayswan", "offered by this"))
    await seat.press("enter")
    assert seat.form.draft.changes["security_analyzer"] == "grayswan"
    await seat.press("enter", sees="grayswan; type to find")
    await seat.press("escape")
    await seat.go_to("agent", "enter", *"My", "enter", until=lambda: seat.form.editor is None)
    assert seat.form.draft.changes["agent"] == "My"


async def test_a_list_without_rows_is_found_by_its_name(sit: Sit) -> None:
    async with sit() as seat:
        await seat.press("slash", *"mcp", sees=("a adds one", "MCP servers"))
        await seat.press("enter", "D", sees="There is none yet; a adds one.")
        untold = "Not told before settings are saved. a sets one."
        await seat.press("slash", "ctrl+u", *"git", "space", *"tokens", sees=(untold, "Git tokens"), lacks="Base URL")
        await seat.press("enter", "a", "enter", sees=("Token of github", "Tokens are not told before settings are"))


async def test_help_that_is_longer_than_its_lines_is_cut_with_a_sign(sit: Sit) -> None:
    async with sit(stored={"llm_base_url": "http://127.0.0.1:3188/v1"}) as seat:
        await seat.go_to("llm_base_url", sees="This is looked up from the server")
        await seat.until(lambda: any(line.rstrip().endswith("…") for line in seat.text.splitlines()[-5:-2]))
        await seat.press("i", sees=("llm_base_url", "the provider's own address."))
        await seat.press("escape")
        await seat.resize(120, 36, sees="set: the provider's")


async def test_what_undo_and_redo_change_is_shown_where_a_filter_hides_it(seat: FormSeat) -> None:
    await seat.edit("git_user_name", "Grace")
    await seat.add_command("search")
    for key, row in (("ctrl+z", "mcp:"), ("ctrl+z", "git_user_name"), ("ctrl+y", "git_user_name"), ("ctrl+y", "mcp:3")):
        await seat.press("slash", *"language", "enter", sees="Language", until=lambda: len(seat.form.view.rows) == 1)
        await seat.press(key, until=lambda: seat.form.view.query == "")
        assert row == "mcp:" or seat.form.row.id == row
    await seat.press("slash", *"search", "enter", until=lambda: len(seat.form.view.rows) < 4)
    await seat.press("ctrl+z", sees="1 edited")
    assert seat.form.view.query == "search"  # it was in sight


async def test_fields_say_how_they_stand_and_are_reached_by_filter_tab_and_mouse(seat: FormSeat) -> None:
    await seat.sees("anthropic/claude-sonnet-4-5", "stored", "not stored", "server default", "As stored")
    assert seat.form.row.id == "llm_model"
    await seat.press("G", sees=("E-mail verified", "not set", "kept as it is"))
    await seat.press("slash", *"key")
    assert seat.form.row.id == "llm_api_key"
    await seat.press("enter", "down", "escape", sees="As stored")
    assert seat.form.row.id == "search_api_key"
    await seat.press("slash", *"budget", sees="Budget per task", lacks="Base URL")
    await seat.type("zz", "enter", sees="Nothing matches")
    for key in ("enter", "a", "i", "D"):
        await seat.press(key, sees="Nothing matches the filter; esc shows all fields.")
    await seat.press("f2", sees="do it")
    await seat.press("escape", "escape", "g", sees="Base URL")
    await seat.press("tab")
    assert seat.form.row.id == "agent"
    await seat.press("down", "enter", "tab")
    assert seat.form.row.id == "max_budget_per_task"
    await seat.press("escape", "shift+tab", "shift+tab")
    assert seat.form.row.id == "llm_model"
    await seat.click("Max iterations")
    assert seat.form.row.id == "max_iterations"
    await seat.click("Max iterations", until=lambda: seat.form.editor is not None)
    await seat.type("77", "enter")
    assert seat.form.draft.changes == {"max_iterations": 77}


async def test_edits_survive_other_screens_and_are_saved_through_a_new_connection(seat: FormSeat) -> None:
    await seat.edit("git_user_name", "Grace", "2", "1", "3", sees=("1 edited", "Grace"))
    before = seat.deck.session
    seat.deck.connecting.open(seat.deck.endpoint)
    while seat.deck.session in (None, before) or seat.session.server.kind is None:
        await asyncio.sleep(0)
    await seat.burst("ctrl+s", sees="Review the changes")
    await seat.press("enter", sees="Saved · 1 of 1 verified")


async def test_no_way_out_loses_edits_unasked(seat: FormSeat) -> None:
    await seat.edit("git_user_name", "Grace")
    for key, answer in (("ctrl+q", "enter"), ("Q", "escape"), ("q", "k"), ("escape", "enter")):
        await seat.press(key, sees=("Unsaved settings", "Keep editing", "Discard"))
        await seat.press(answer, until=lambda: seat.deck.screen is seat.settings)
        await seat.sees("1 edited", "Grace")
    await seat.press("1", "ctrl+q", sees=("Unsaved settings", "[3 Settings"))
    await seat.press("escape", until=lambda: seat.deck.screen is seat.settings)
    assert seat.posts == 0
    await seat.press("escape", sees="Unsaved settings")
    await seat.press("d", until=lambda: seat.deck.current_mode == "conversations")
    assert not seat.form.draft.edited
    await seat.press("3")
    await seat.edit("git_user_name", "Grace", "escape", sees="Unsaved settings")
    await seat.press("s", sees="show the request")
    await seat.press("enter", until=lambda: seat.deck.current_mode == "conversations")
    assert (await seat.stored()).git_user_name == "Grace"
    await seat.press("3")
    await seat.go_to("git_user_name")
    seat.at_once("enter", *"dskd", "ctrl+q", "k")
    await seat.until(lambda: seat.form.draft.edited and not seat.deck.screen.is_modal)
    assert seat.deck.return_value is None
    await seat.burst("ctrl+q", "d", until=lambda: seat.deck.return_value == 0)


async def test_text_of_the_server_does_nothing_to_the_terminal(sit_before: Sit) -> None:
    hostile = "a/\x1b]0;owned\x07[/b][@click=app.quit]model\u202e"
    server = FakeServer({"GET /api/settings": [Answer({"llm_model": hostile, "strange[/]": "\x1b[2J"})]})
    async with sit_before(server) as seat:
        await seat.sees("[@click=app.quit", lacks="\x1b")
        await seat.press("enter", sees="[@click=app.quit]model", lacks="\x1b")
        await seat.press("escape", sees="As stored")


async def test_a_refused_key_and_a_server_that_comes_back() -> None:
    server = FlatServer()
    server.refusal = Answer({"detail": "Unauthorized"}, 401)
    async with seated(answering(FakeServer(server)), Connection("far", "http://far.test")) as opened:
        await opened.sees("Connection", "K: enter it.")
        await opened.press("escape")
        seat = await FormSeat.at(opened, loaded=False)
        await seat.sees("The key is missing or not the right one", "enters a key")
        server.refusal = None
        await seat.press("ctrl+r", sees="a/b")


async def test_a_resized_terminal_keeps_the_cursor_in_sight_and_the_field_that_is_edited(sit: Sit) -> None:
    async with sit(size=WIDE) as seat:
        await seat.press("G", "up", "escape", until=lambda: seat.deck.current_mode == "conversations")
        await seat.resize(60, 20)
        await seat.press("3", sees="▌ Account e-mail")
        await seat.resize(48, 20)
        await seat.go_to("language", sees="en          web only")
        await seat.resize(*WIDE)
        await seat.fill("git_user_name", "Grac")
        await seat.resize(60, 20)
        await seat.type("e", sees="Grace")
        await seat.resize(*WIDE)
        await seat.press("enter", sees=("Grace", "was not set", "edited"))
        await seat.fill("git_user_name", "Grace " * 5 + "Hopper", sees="Hopper")
        await seat.resize(60, 20, sees="Hopper")


async def test_a_record_read_while_a_field_is_edited_takes_nothing_from_it(seat: FormSeat) -> None:
    await seat.fill("git_user_name", "Gra")
    await seat.client.settings.store(await seat.stored(), {"language": "it"})
    await seat.press("ctrl+r", until=lambda: seat.form.draft.value("language") == "it")
    await seat.type("ce", "enter")
    assert seat.form.draft.changes == {"git_user_name": "Grace"}
    assert seat.form.draft.value("language") == "it"


async def test_what_somebody_else_saved_is_marked_until_it_was_looked_at(sit: Sit) -> None:
    async with sit(stored=FULL, size=WIDE) as seat:
        before, servers = await seat.stored(), await seat.servers()
        (events,) = servers.sse_servers
        moved = servers.model_copy(update={"sse_servers": (events.model_copy(update={"api_key": None}),)})
        await seat.client.settings.store(before, {"max_iterations": 77, "mcp_config": moved})
        await seat.press("ctrl+r", sees="77")
        assert "changed on server" in seat.line_of("Max iterations")
        await seat.go_to("mcp:1", sees="nts.example.org/sse")
        assert "changed on server" in seat.line_of("nts.example.org/sse")
        assert "changed on server" not in seat.line_of("//tools.")
        await seat.go_to("max_iterations", sees=("It has changed on the server", "changed on server"))
        await seat.press("down")
        assert "changed on server" not in seat.line_of("Max iterations")


async def test_nothing_counts_as_changed_in_the_first_record_that_somebody_saves(sit: Sit) -> None:
    async with sit(sees="Nothing stored yet") as seat:
        await seat.client.settings.store(None, {"language": "it"})
        await seat.press("ctrl+r", sees="As stored")
        await seat.go_to("language", sees="it · Italian")
        assert "changed on server" not in seat.text
        await seat.go_to("sandbox_api_key")
        assert "changed on server" not in seat.text


async def test_fields_that_conversations_do_not_go_by_say_so(sit_before: Sit) -> None:
    flat = {"GET /api/settings": [Answer({"llm_model": "a/b", "max_iterations": 50})]}
    async with sit_before(FakeServer(flat)) as seat:
        await seat.go_to("max_iterations")
        assert "V0 only" in seat.line_of("Max iterations")
        assert "server default · V0 only" in seat.line_of("Budget per task")
        assert "V0 only" not in seat.line_of("Base URL")
        await seat.press("enter", *"60", "enter")
        assert "edited · V0 only" in seat.line_of("Max iterations")
        await seat.go_to("language")
        assert "web only" in seat.line_of("Language")


async def test_the_groups_stand_beside_the_fields_or_in_one_line_above(seat: FormSeat) -> None:
    await seat.edit("language", "French")
    await seat.fill("max_iterations", "-1", "escape")
    assert "*1 !1" in seat.line_of(" Agent  ")
    assert "*1" in seat.line_of("Interface")
    await seat.until(lambda: seat.form.view.lists.secrets is not None)
    assert "LLM profiles" not in seat.form.view.groups  # which a flat server has not
    await seat.resize(60, 20, until=lambda: "▌Agent *1 !1  Sandbox" in seat.text)
    await seat.press("tab", until=lambda: "▌Sandbox  MCP servers" in seat.text)
    await seat.click("MCP servers")
    assert seat.form.row.group == "MCP servers"


async def test_the_menu_of_a_row_has_what_can_be_done_with_it(seat: FormSeat) -> None:
    await seat.go_to("secret:", "f2", sees=("New value", "Add a secret, at once"))
    assert "Drop the edit" not in seat.text
    await seat.press("escape")
    await seat.go_to("git_user_name")
    for key in ("f2", "ctrl+o"):
        await seat.press(key, sees=("Revert", "Not set", "Copy name", "Nothing is edited here."))
        await seat.press("u", sees=("Copy name", "Nothing is edited here."))
        await seat.press("escape")
    await seat.press("f2", "y")
    assert seat.deck.clipboard == "git_user_name"
    await seat.sees("Copied the name git_user_name, if your terminal takes copies (OSC 52).")
    await seat.press("f2", "x", sees="1 edited")
    await seat.press("f2", "u", sees="As stored")
    await seat.go_to("mcp:0", "f2", sees=("Disable", "Check", "Copy as new", "Delete"))
    await seat.press("D", sees=("1 edited", "will be deleted"))


async def test_fields_are_edited_pasted_into_as_it_was_and_reviewed_by_one_burst_of_keys(seat: FormSeat) -> None:
    words = "अदिति  নமி\u200c 👍🏽"
    await seat.go_to("git_user_name")
    seat.at_once("enter", "ctrl+u")
    seat.paste_at_once(f"{words}\n")
    await seat.burst("x", "tab", "ctrl+u", *"x@d.org", "shift+tab", "ctrl+s", sees=("x@d.org", "show the request"))
    await seat.press("enter", sees="Saved · 2 of 2 verified")
    after = await seat.stored()
    assert (after.git_user_name, after.git_user_email) == (f"{words}x", "x@d.org")


async def test_the_first_visit_may_be_typed_ahead(tmp_path: Path) -> None:
    async with seated(local(tmp_path / "data"), sees="No conversations.") as seat:
        await seat.burst("3", "enter", *"duty", "enter", "j", sees=("duty", "1 edit"))


async def test_a_filter_may_be_typed_while_the_settings_are_still_read(sit_before: Sit) -> None:
    server = Gated(FlatServer(), to("/api/settings"))
    async with sit_before(server, loaded=False) as seat:
        await seat.until(lambda: server.waited)
        await seat.burst("slash", *"ask", "enter", "x", sees=("/ ask", "Not set: the settings are not loaded."))
        await seat.burst("slash", *"ask before", sees=("/ ask before", "enter keep it"))
        server.gate.set()
        await seat.sees("Ask before actions")
        await seat.press("!", sees="/ ask before!")
        await seat.press("backspace", "enter", sees="Ask before actions")
        assert seat.form.row.id == "confirmation_mode"
        assert not seat.form.draft.edited
