import pytest

from quarterdeck.client.models.mcp import StdioServer
from quarterdeck.config.connections import Connection
from quarterdeck.settings.fields import Control
from quarterdeck.tui import screen
from tests.client.fakes import Answer, FakeServer, Gated, to
from tests.client.settings_servers import LOST, FlatServer, NestedServer
from tests.conftest import Home
from tests.servers import Mode
from tests.tui.user import WIDE, Words
from tests.tui_settings.conftest import FULL, Decks, FormUser

VERIFICATION, TIMEOUT = "agent_settings.verification", "agent_settings.llm.timeout"
KIND, MAJOR = "agent_settings.agent_kind", {"prominence": "major", "value_type": "string"}


async def test_on_a_first_run_every_list_of_choices_opens_and_takes_one(deck: Decks) -> None:
    async with deck(store="nested", sees="No settings stored yet") as user:
        await user.go_to("enable_default_condenser")
        assert user.line_of("Condense memory").split()[-3:] == ["on", "server", "default"]
        for entry in user.form.draft.fields.fields:
            if entry.control is Control.SELECT and not (entry.minor or entry.extra):
                await user.go_to(entry.key, "enter", "escape")
        assert not user.form.draft.edited
        await user.fill("security_analyzer", "none", "enter")
        await user.sees("· It has no effect while the\n")  # whole beside the scroll bar
        await user.save_verified(1)


async def test_canonical_fields_are_saved_as_differences(deck: Decks) -> None:
    async with deck(stored=FULL, store="nested", size=WIDE) as user:
        before = await user.stored()
        await user.fill("security_analyzer", "invariant", "escape", sees=("This server takes only llm,", "1 error"))
        await user.edits(security_analyzer="none", max_iterations="77")
        await user.go_to("confirmation_mode", "x", sees="always on or off")
        await user.save_verified(2)
        after = await user.stored()
    assert (after.security_analyzer, after.max_iterations) == ("none", 77)
    changed = {place for place in before.leaves if before.leaves[place] != after.leaves[place]}
    assert changed == {"conversation_settings.security_analyzer", "conversation_settings.max_iterations"}


async def test_lesser_fields_are_found_by_a_search_and_stay_once_they_are_edited(nested: FormUser) -> None:
    await nested.sees("more: / finds them.")
    assert TIMEOUT not in nested.text
    await nested.go_to("more:LLM", "x", sees="Not for this row; f2 shows what can be done here.")
    await nested.press("enter", *"seconds", "enter", sees=("Timeout", "300"))
    await nested.press("slash", "escape", sees="6 more:")
    await nested.press("slash", *"seconds", "enter", "enter")
    await nested.type("60", "enter", "slash", "escape", sees=("was 300", "5 more:"))
    await nested.press("enter", "ctrl+u", *"300", sees=("As stored", "enter done"))
    await nested.press("tab", until=lambda: nested.form.row.id == "more:LLM")
    await nested.press("ctrl+z", sees=("was 300", "5 more:"))
    await nested.press("ctrl+s", sees=("Timeout", "300 → 60", TIMEOUT))
    await nested.press("enter", sees=("Saved · 1 of 1 verified", "5 more:"))
    assert (await nested.stored()).leaves[TIMEOUT] == 60


async def test_a_field_that_is_not_here_or_has_no_effect_now_says_why(nested: FormUser) -> None:
    await nested.go_to("enable_solvability_analysis", sees=("Solvability analysis", "not on this server"))
    for key in ("enter", "x"):
        await nested.press(key, sees=("This server has no such setting.", "As stored"))
    await nested.go_to(f"{VERIFICATION}.critic_api_key", sees=("needs Enable critic", "It has no effect while"))
    await nested.go_to(f"{VERIFICATION}.enable_iterative_refinement", sees="▌ Enable iterative refin… off")
    await nested.press("enter", sees="▌ Enable iterative refin… ( ) on  (•) off")
    await nested.press("escape")
    await nested.go_to(f"{VERIFICATION}.critic_enabled", "enter", "left", "enter", "down", "down")
    await nested.sees("was off", "edited", "Critic API Key", lacks="needs Enable critic")


async def test_json_is_checked_for_its_form(nested: FormUser) -> None:
    await nested.press("slash", *"headers", "enter", "enter", *"[1]", sees="not a JSON object")
    await nested.press("ctrl+u")
    await nested.paste('{"X-Team": "secret-of-team"}', "enter", "slash", "escape", "ctrl+s")
    await nested.sees("Review the changes", '{"X-Team": "••••"}')
    await nested.press("enter", sees="Saved · 1 of 1 verified")
    assert (await nested.stored()).leaves["agent_settings.llm.extra_headers"] == {"X-Team": "secret-of-team"}
    await nested.press("slash", *"headers", "enter", "enter", sees='{"X-Team": "••••"}')
    await nested.press("end", "backspace", *', "a": 1}', "escape", sees=("hidden part", "1 error"))
    assert "secret-of-team" not in nested.text


async def test_another_agent_kind_is_warned_of_and_brings_its_own_fields(nested: FormUser) -> None:
    await nested.edit(KIND, "acp")
    await nested.press("ctrl+s", sees=("This save also loses", "with openhands go all settings", "openhands", "acp"))
    await nested.press("enter", sees="y saves all the same")
    await nested.press("y", sees="Saved · 1 of 1 verified")
    await nested.go_to("agent_settings.acp_server", sees="claude-code")
    await nested.go_to("enable_default_condenser", sees="not for this agent")
    assert (await nested.stored()).leaves[KIND] == "acp"
    await nested.choose("Undo save", sees=("Cannot be brought back", "All other settings that its"))


async def test_what_goes_with_another_kind_of_condenser_is_named_and_comes_back_by_an_undo(nested: FormUser) -> None:
    condenser = "agent_settings.condenser"
    await nested.client.settings.store(await nested.stored(), {f"{condenser}.keep_first": 4, "condenser_max_size": 99})
    await nested.press("ctrl+r", "slash", *"condenser kind", "enter", sees="llm_summarizing")
    await nested.edit(f"{condenser}.condenser_kind", "no_op", "ctrl+s", sees="This save also loses")
    said = "Condenser Kind: with llm_summarizing go its settings: Condense after events 99, Keep first 4."
    await nested.until(lambda: said in nested.unwrapped)
    await nested.press("y", sees=("Saved · 1 of 1 verified", "As stored"))
    assert f"{condenser}.keep_first" not in (await nested.stored()).leaves
    await nested.press("slash", *"keep first", sees="Nothing matches", until=lambda: "Keep first" not in nested.text)
    await nested.choose("Undo save", sees="Undo the last save")
    await nested.agree(sees="Saved · 3 of 3 verified")
    after = await nested.stored()
    assert (after.leaves[f"{condenser}.keep_first"], after.leaves[f"{condenser}.max_size"]) == (4, 99)
    await nested.choose("Undo save", sees="also loses")
    assert "Cannot be brought back" not in nested.text


async def test_secrets_of_servers_are_asked_for_again_and_then_kept_for_this_run(nested: FormUser) -> None:
    await nested.go_to("mcp:0", sees="not told")
    await nested.press("d", "ctrl+s", sees=("This save also loses", ", db: their keys"))
    await nested.press("escape", "u")
    await nested.go_to("mcp:2", "enter", sees="loses it unless you type it again.")
    await nested.press("tab", "tab", "tab", *"TOKEN", "tab", *"sentinel-again", "ctrl+s")
    await nested.go_to("mcp:0", "d", "ctrl+s", sees=("Review the changes", ", db: their keys", "not given again"))
    await nested.press("y", sees=("verified", "typed"))
    await nested.press("ctrl+r")
    await nested.add_command("files")
    await nested.press("ctrl+s", sees=("Review the changes", "added", "r"), lacks="MCP server db:")
    body = nested.body_of(nested.form.draft.changes)
    await nested.press("y", sees="Saved · 1 of 1 verified")
    assert body["agent_settings_diff"]["mcp_config"]["db"]["env"]["TOKEN"].get_secret_value() == "sentinel-again"
    await nested.paste_json('{"db": {"url": "https://b.example"}}', sees="its name is taken; it is called db-2.")
    await nested.press("escape", "escape")
    await nested.edit("language", "French")
    await nested.press("slash", *"agent", sees="Ask before actions", lacks="Temperature")


async def test_a_typed_key_that_somebody_else_has_dropped_is_neither_shown_nor_sent_again(nested: FormUser) -> None:
    await nested.go_to("mcp:0", "enter", "tab", *"sentinel-again", "ctrl+s")
    await nested.save(sees=("1 accepted", "As stored", "typed"))
    await nested.press("enter", sees="API key", lacks="auth")
    await nested.press("escape")
    await nested.client.settings.store(await nested.stored(), {"mcp_config": await nested.servers()})
    await nested.press("ctrl+r", sees="changed on server", lacks="typed")
    await nested.go_to("mcp:2", "d", "ctrl+s", sees="This save also loses")
    await nested.until(lambda: "MCP servers events-example-org, tools-example-org: their keys" in nested.unwrapped)


async def test_of_many_servers_that_lose_their_secrets_a_few_are_named(deck: Decks) -> None:
    async with deck(*(StdioServer(name=f"s{n}", command="npx") for n in range(1100)), store="nested") as user:
        await user.go_to("mcp:1099", "d", "ctrl+s", sees=("s1099", "deleted"))
        await user.until(lambda: "MCP servers s0, s1, s2 and 1,096 more: their keys" in user.unwrapped)


async def test_values_that_a_field_cannot_have_are_shown_and_stay_as_they_are(deck_at: Decks) -> None:
    choices = [{"value": "low", "label": "Low"}, {"value": "high", "label": "High"}]
    effort = {"key": "agent_context.effort", "label": "Effort", "choices": choices, **MAJOR}
    fast = {"key": "agent_context.fast", "label": "Fast, by its longest name", **MAJOR, "value_type": "boolean"}
    keeper = NestedServer(fields=[effort, fast])
    keeper.agent["agent_context"] = {"effort": ["low"], "fast": "yes"}
    async with deck_at(FakeServer(keeper)) as user:
        await user.go_to("agent_settings.agent_context.effort", "enter", "escape", "down", sees="longest n… yes")
        await user.resize(120, 36, sees=('["low"]', "Fast, by its longest name yes"))
        await user.press("enter", sees=("As stored", "Fast, by its longest name ( ) not set"))
        await user.press("right", "enter", until=lambda: user.form.draft.edited)


@pytest.mark.parametrize("store", ["merge", "nested"])
async def test_a_secret_is_made_described_given_a_value_and_deleted(deck: Decks, store: Mode) -> None:
    async with deck(stored=FULL, store=store) as user:
        await user.go_to("secret:")
        await user.press(sees=("changes act at once", "a Add"), lacks="enter Add")
        await user.press("a", sees="New secret")
        await user.type("API_TOKEN", "tab", *"sentinel-value", "tab")
        await user.type("for tests", "enter", sees=("The secret API_TOKEN is stored.", "value stored"))
        await user.press("a", *"API-TOKEN", "enter", sees="letters, digits and _ only")
        await user.retype("API_TOKEN", "enter", sees="Nothing is typed.")
        await user.type("sentinel-value", "enter", sees="A secret with the name API_TOKEN is there already.")
        await user.press("escape", "escape", until=lambda: not user.deck.screen.is_modal)
        await user.go_to("secret:API_TOKEN", sees=("enter Describe", "D Delete"))
        await user.press("enter", "end", "!", "enter", sees=("for tests!", "The secret API_TOKEN is changed."))
        await user.press("i", sees=("Sandboxes get it as a variable", "for tests!", "value stored"))
        await user.press("escape", "f2", "slash", *"value", "enter", sees="New value of API_TOKEN")
        assert ("cannot change a value" in user.text) is (store == "merge")
        await user.type("sentinel-other", "enter", sees=("has a new value", "for tests!"))
        await user.press("d", sees="Delete the secret API_TOKEN?")
        await user.press("enter")
        assert [secret.name for secret in await user.client.secrets.list()] == ["API_TOKEN"]
        await user.press("d", "y", sees=("The secret API_TOKEN is deleted.", "As stored"))
        assert await user.client.secrets.list() == ()


async def set_token(user: FormUser, downs: int, token: str, *, sees: Words = ()) -> None:
    await user.press("a", sees="Set the token of a git provider")
    await user.press(*["down"] * downs, "enter", sees="Token of")
    await user.type(token, "enter", sees=sees)


@pytest.mark.parametrize("store", ["replace", "nested"])
async def test_a_token_is_set_unless_it_is_refused_beside_others_and_all_are_cleared(deck: Decks, store: Mode) -> None:
    async with deck(stored=FULL, store=store) as user:
        await user.go_to("token:")
        await set_token(user, 0, "refused", sees=("! A provider did not confirm its token: github.", "no provider."))
        await user.retype("sentinel-one", "tab", *"http://x", "enter", sees="! Leave it out: the server puts https://")
        await user.press("ctrl+u", "enter", sees=("The token of github is stored.", "token stored"))
        await set_token(user, 1, "sentinel-two", sees=("The token of gitlab is stored.", "▌ gitlab"))
        await user.press("enter", sees=("•••• kept; type to replace", "or an address with"))
        await user.press("tab", *"git.example.org", "enter", sees=("git.example.org", "github"))
        await user.press("d", sees="All of them go: github, gitlab.")
        await user.press("y", sees=("All git tokens are cleared.", "None yet. a sets one."))
        assert not (await user.stored()).provider_tokens_set


async def test_profiles_are_saved_activated_renamed_and_deleted_ten_at_most(nested: FormUser) -> None:
    await nested.go_to("profile:", "a", sees="room for 10")
    await nested.type("my model", "enter", sees="A name has 1 to 64 letters")
    await nested.client.profiles.save("taken")
    await nested.retype("taken", "enter", sees="A profile with the name taken is there already.")
    await nested.client.profiles.delete("taken")
    await nested.retype("claude", "enter", sees="The profile claude is saved.")
    await nested.go_to("profile:claude", sees=("enter Activate", "a New"))
    await nested.press("enter", sees="It takes the place of the LLM settings")
    await nested.press("y", sees=("The profile claude is active.", "sonnet-4-5 active"))
    await nested.edit("llm_base_url", "https://other.example.org", "ctrl+s", sees="claude is not the active one then")
    await nested.press("enter", sees="The profile claude is not active any more; enter", lacks="sonnet-4-5 active")
    await nested.go_to("profile:claude", "enter", "y", sees=("The profile claude is active.", "sonnet-4-5 active"))
    await nested.until(lambda: nested.form.draft.value("llm_base_url") == "https://llm.example.com/v1")
    await nested.choose("Rename")
    await nested.press("end", *"-2", "enter", sees="The profile is called claude-2.")
    await nested.go_to("profile:claude-2", "d", sees="It is the active one: none is active then.")
    await nested.press("y", sees="None yet. a saves the LLM settings as one.")
    for number in range(10):
        await nested.client.profiles.save(f"p{number}")
    await nested.press("ctrl+r", sees="p0")
    await nested.edit("llm_base_url", "https://new.example.org")
    await nested.go_to("profile:p0", "enter", sees="You have edits of the LLM settings")
    await nested.press("ctrl+z")
    await nested.go_to("profile:p0", "a", sees="There are 10 profiles")


async def test_a_profile_without_a_key_says_so_and_none_stands_among_other_fields(deck: Decks) -> None:
    async with deck(stored={"llm_model": "openai/gpt-5"}, store="nested") as user:
        await user.client.profiles.save("bare")
        await user.press("ctrl+r", sees=("bare", "openai/gpt-5 · no key"))
        await user.go_to("profile:bare", "f2", sees="Put it in use, in place of the LLM settings")
        await user.press("escape", "G", lacks="llm_profiles", until=lambda: user.form.row.group == "Other")
        await user.press("a", sees="Not for this row")


async def test_nothing_is_edited_on_a_read_only_connection(deck: Decks) -> None:
    async with deck(stored=FULL) as user:
        await user.edit("language", "French")
    async with deck(stored=FULL, store="nested", endpoint=Connection("local service", read_only=True)) as user:
        refused = [("token:", "a", "Add"), ("language", "a", "Add MCP"), ("language", "enter", "Edit")]
        for row, key, label in (*refused, ("language", "x", "Not set"), ("mcp:0", "d", "Delete")):
            await user.go_to(row, key, sees=f"{label}: this connection is read-only, nothing is changed")
        await user.press("f2", sees="Delete            This connection is read-only")
        await user.press("escape", sees="None yet.", lacks="sets one")
        await user.go_to("more:LLM", "enter", sees=("part of a label", "As stored"))
        assert user.posts == 0


async def test_edits_cannot_be_saved_when_leaving_a_read_only_connection(deck_at: Decks, home: Home) -> None:
    home.write("connections.toml", '[connections.far]\nurl = "http://far.test"\n')
    server = FakeServer(FlatServer())
    async with deck_at(server) as user:
        await user.edit("git_user_name", "Grace", "c", sees="Connections")
        await user.press("e", sees="Connection far")
        await user.press("tab", "tab", "tab", "tab", "space", "ctrl+s", sees=("READ-ONLY", "1 edited"))
        await user.press("ctrl+q")
        await user.sees("Unsaved settings", "Keep editing", "Review & save: this connection is read-only")
        await user.press("s", sees="Unsaved settings")
    assert server.sent("POST") == []


async def test_a_server_suggests_models_and_any_text_is_as_good(nested: FormUser) -> None:
    await nested.go_to("llm_model", "enter", sees=("anthropic/claude-opus", "suggestions"))
    await nested.type("gpt-5-m", "down", "enter", sees=("openai/gpt-5-mini", "edited"))
    await nested.edit("llm_model", "my/own-model")
    assert nested.form.draft.changes == {"llm_model": "my/own-model"}
    await nested.go_to("llm_model", "enter", "ctrl+u")
    await nested.type("o", "down", "enter")  # what begins so comes before what only has it somewhere
    assert nested.form.draft.changes == {"llm_model": "openai/gpt-5"}
    await nested.resize(60, 20)
    await nested.go_to("llm_model", "enter", "ctrl+u", sees="anthropic/claude-sonnet-4-5-20250929")
    left = nested.line_of("sonnet-4-5-20250929").index("anthropic")
    await nested.resize(69, 20, until=lambda: nested.line_of("sonnet-4-5-20250929").index("anthropic") > left)
    await nested.resize(120, 36)
    await nested.resize(60, 20, until=lambda: nested.line_of("sonnet-4-5-20250929").index("anthropic") == left)
    assert len([request for request in nested.client.log if "models" in request.path]) == 1


async def test_suggestions_that_come_late_leave_what_is_chosen(deck_at: Decks) -> None:
    answers = {"GET /api/settings": [Answer({"language": "en"})], "GET /api/options/agents": [Answer(["OtherAgent"])]}
    server = Gated(answers, to("/api/options/agents"))
    async with deck_at(server) as user:
        await user.go_to("agent", "enter", "down", "down", until=lambda: user.form.draft.edited)
        chosen = user.form.draft.changes
        server.gate.set()
        await user.sees("OtherAgent")
        await user.press("down", "up", "enter", sees="edited")
        assert user.form.draft.changes == chosen


async def test_a_menu_opened_while_its_list_is_read_is_not_about_what_is_listed_then(deck_at: Decks) -> None:
    listed = Answer({"custom_secrets": [{"name": "API_TOKEN", "description": "d"}]})
    answers = {"GET /api/settings": [Answer({"language": "en"})], "GET /api/secrets": [listed]}
    server = Gated(answers, to("/api/secrets"))
    async with deck_at(server) as user:
        await user.go_to("secret:", "f2", sees="do it")
        server.gate.set()
        await user.sees("Describe          It was opened for other rows; esc")


async def test_after_a_lost_answer_the_list_behind_the_form_is_read_again(deck_at: Decks) -> None:
    none, made = (Answer({"custom_secrets": held}) for held in ([], [{"name": "LOST_ONE"}]))
    answers = {"GET /api/settings": [Answer({"language": "en"})], "GET /api/secrets": [none, none, made]}
    async with deck_at(FakeServer({**answers, "POST /api/secrets": [LOST]})) as user:
        await user.go_to("secret:", "a", sees="New secret")
        await user.type("LOST_ONE", "tab", *"sentinel-value", "enter", sees="Unknown whether it happened.")
        await user.until(lambda: "secret:LOST_ONE" in user.form.view.rows)
        await user.press("escape", "escape")
        await user.go_to("secret:LOST_ONE", "enter", sees="f2 in the list gives it a new one.")


async def test_a_value_lost_halfway_is_made_by_trying_again(deck_at: Decks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen, "STILL_TYPING", 30.0)
    held = Answer({"custom_secrets": [{"name": "API_TOKEN", "description": "d"}]})
    answers: dict[str, list[Answer | Exception]] = {
        "GET /api/settings": [Answer({"language": "en"})],
        "GET /api/secrets": [held, Answer({"custom_secrets": []})],
        "DELETE /api/secrets/API_TOKEN": [LOST, Answer({"error": "Secret not found"}, 404)],
        "POST /api/secrets": [Answer({"error": "down"}, 500), Answer({"message": "created"}, 201)],
    }
    server = Gated(answers, lambda request: request.method == "POST" and server.sent("POST") != [])
    async with deck_at(server) as user:
        await user.choose("New value", row="secret:API_TOKEN")
        await user.type("sentinel-value", "enter", sees="Unknown whether it happened.")
        await user.press("enter", sees=("The old one is deleted", "enter tries again"))
        await user.until(lambda: "secret:API_TOKEN" not in user.form.view.rows)
        await user.press("enter", "d")
        server.gate.set()
        await user.sees("The secret API_TOKEN has a new value.")
        await user.press("a", sees="did nothing; press it again.")
    assert len(server.sent("DELETE")) == 2
    assert server.sent("POST")[-1].body == {"name": "API_TOKEN", "value": "sentinel-value", "description": "d"}


async def test_what_is_hidden_of_a_server_with_another_name_and_command_is_named_as_lost(nested: FormUser) -> None:
    await nested.go_to("mcp:2", "enter", "end", "2", "tab", *"x", "ctrl+s")
    await nested.go_to("mcp:0", "d", "ctrl+s", sees="MCP servers tools-example-org, db2: their keys")
    await nested.press("y", sees="verified")
    await nested.choose("Undo save", sees=("MCP servers tools-example-org, db: their", "added"))
    await nested.until(lambda: "its key and hidden values, if it had any; Keys and" in nested.unwrapped)
    await nested.until(lambda: "tools-example-org, db2." in nested.unwrapped)
    assert "auth bearer" not in nested.text
