"""What acts at once: secrets, git tokens, LLM profiles; and what the server suggests."""

import pytest

from quarterdeck.config.connections import Connection
from tests.client.fakes import Answer, FakeServer
from tests.conftest import Home
from tests.servers import Mode
from tests.settings.flat_server import LOST, FlatServer
from tests.tui_settings.conftest import FULL, FormSeat, Sit


async def add_secret(seat: FormSeat, name: str) -> None:
    await seat.press("a", sees="New secret")
    await seat.type(name, "tab", *"sentinel-value", "tab")
    await seat.type("for tests", "enter", sees=(f"The secret {name} is stored.", "value stored"))


@pytest.mark.parametrize("store", ["merge", "nested"])
async def test_a_secret_is_made_described_given_a_value_and_deleted(sit: Sit, store: Mode) -> None:
    async with sit(stored=FULL, store=store) as seat:
        await seat.go_to("secret:", sees=("changes act at once", "a Add"))
        await add_secret(seat, "API_TOKEN")
        await seat.go_to("secret:API_TOKEN", sees=("enter Describe", "D Delete"))
        await seat.press("enter", "end", "!", "enter", sees=("for tests!", "The secret API_TOKEN is changed."))
        await seat.press("i", sees=("Sandboxes get it as a variable", "for tests!", "value stored"))
        await seat.press("escape", "f2", "slash", *"value", "enter", sees="New value of API_TOKEN")
        assert ("cannot change a value" in seat.text) is (store == "merge")
        await seat.type("sentinel-other", "enter", sees=("has a new value", "for tests!"))
        await seat.press("d", sees="Delete the secret API_TOKEN?")
        await seat.press("enter")
        assert [secret.name for secret in await seat.client.secrets.list()] == ["API_TOKEN"]
        await seat.press("d", "y", sees=("The secret API_TOKEN is deleted.", "As stored"))
        assert await seat.client.secrets.list() == ()


async def test_a_bad_name_and_a_taken_one_are_said_at_their_place(nested: FormSeat) -> None:
    await nested.go_to("secret:")
    await add_secret(nested, "API_TOKEN")
    await nested.press("a", *"API-TOKEN", "enter", sees="letters, digits and _ only")
    await nested.retype("API_TOKEN", "enter", sees="Nothing is typed.")
    await nested.type("sentinel-value", "enter", sees="A secret with the name API_TOKEN is there already.")
    await nested.press("escape", sees="value stored")


async def set_token(seat: FormSeat, downs: int, token: str) -> None:
    await seat.press("a", sees="Set the token of a git provider")
    await seat.press(*["down"] * downs, "enter", sees="Token of")
    await seat.type(token, "enter")


@pytest.mark.parametrize("store", ["replace", "nested"])
async def test_a_token_is_set_unless_it_is_refused_beside_others_and_all_are_cleared(sit: Sit, store: Mode) -> None:
    async with sit(stored=FULL, store=store) as seat:
        await seat.go_to("token:")
        await set_token(seat, 0, "refused")
        await seat.sees("! A token was refused by its provider: github.", "stores it and asks no provider.")
        await seat.retype("sentinel-one", "enter", sees=("The token of github is stored.", "token stored"))
        await set_token(seat, 1, "sentinel-two")
        await seat.sees("The token of gitlab is stored.")
        await seat.go_to("token:gitlab", "enter", sees="•••• kept; type to replace")
        await seat.press("tab", *"git.example.org", "enter", sees=("git.example.org", "github"))
        await seat.press("d", sees="All of them go: github, gitlab.")
        await seat.press("y", sees=("All git tokens are cleared.", "None yet. a sets one."))
        assert not (await seat.stored()).provider_tokens_set


async def test_profiles_are_saved_activated_renamed_and_deleted(nested: FormSeat) -> None:
    await nested.go_to("profile:", "a", sees="room for 10")
    await nested.type("my model", "enter", sees="A name has 1 to 64 letters")
    await nested.retype("claude", "enter", sees="The profile claude is saved.")
    await nested.client.settings.store(await nested.stored(), {"llm_model": "openai/gpt-5"})
    await nested.press("ctrl+r", sees="openai/gpt-5")
    await nested.go_to("profile:claude", sees=("enter Activate", "a New"))
    await nested.press("enter", sees="It takes the place of the LLM settings")
    await nested.press("y", sees=("The profile claude is active.", "active"))
    await nested.until(lambda: nested.form.draft.value("llm_model") == "anthropic/claude-sonnet-4-5")
    await nested.choose("Rename")
    await nested.press("end", *"-2", "enter", sees="The profile is called claude-2.")
    await nested.go_to("profile:claude-2", "d", sees="It is the active one: none is active then.")
    await nested.press("y", sees="None yet. a saves the LLM settings as one.")


async def test_profiles_wait_for_edits_of_the_llm_and_there_are_ten_at_most(nested: FormSeat) -> None:
    for number in range(10):
        await nested.client.profiles.save(f"p{number}")
    await nested.press("ctrl+r", sees="p0")
    await nested.edit("llm_base_url", "https://other.example.org")
    await nested.go_to("profile:p0", "enter", sees="You have edits of the LLM settings")
    await nested.press("ctrl+z", "a", sees="There are 10 profiles")


async def test_a_profile_without_a_key_says_so_and_none_stands_among_other_fields(sit: Sit) -> None:
    async with sit(stored={"llm_model": "openai/gpt-5"}, store="nested") as seat:
        await seat.client.profiles.save("bare")
        await seat.press("ctrl+r", sees=("bare", "openai/gpt-5 · no key"))
        await seat.go_to("profile:bare", "f2", sees="Put it in use, in place of the LLM settings")
        await seat.press("escape", "G")
        assert "llm_profiles" not in seat.text
        assert seat.form.row.group == "Other"
        await seat.press("a", sees="Not for this row")


async def test_nothing_is_edited_on_a_read_only_connection(sit: Sit) -> None:
    async with sit(stored=FULL) as seat:
        await seat.edit("language", "French")
    async with sit(stored=FULL, store="nested", endpoint=Connection("local service", read_only=True)) as seat:
        refused = [("token:", "a", "Add"), ("language", "a", "Add MCP"), ("language", "enter", "Edit")]
        for row, key, label in (*refused, ("language", "x", "Not set"), ("mcp:0", "d", "Delete")):
            await seat.go_to(row, key, sees=f"{label}: this connection is read-only, nothing is changed")
        await seat.press("f2", sees="Delete            This connection is read-only")
        await seat.press("escape")
        await seat.go_to("more:LLM", "enter", sees=("part of a label", "As stored"))
        assert seat.posts == 0


async def test_edits_cannot_be_saved_when_leaving_a_read_only_connection(sit_before: Sit, home: Home) -> None:
    home.write("connections.toml", '[connections.far]\nurl = "http://far.test"\n')
    server = FakeServer(FlatServer())
    async with sit_before(server) as seat:
        await seat.edit("git_user_name", "Grace")
        await seat.press("c", sees="Connections")
        await seat.press("e", sees="Connection far")
        await seat.press("tab", "tab", "tab", "tab", "space", "ctrl+s", sees=("READ-ONLY", "1 edited"))
        await seat.press("ctrl+q")
        await seat.sees("Unsaved settings", "Keep editing", "Review & save: this connection is read-only")
        await seat.press("s", sees="Unsaved settings")
    assert server.sent("POST") == []


async def test_a_server_suggests_models_and_any_text_is_as_good(nested: FormSeat) -> None:
    await nested.go_to("llm_model", "enter", sees=("anthropic/claude-opus", "suggestions"))
    await nested.type("gpt-5-m", "down", "enter", sees=("openai/gpt-5-mini", "edited"))
    await nested.edit("llm_model", "my/own-model")
    assert nested.form.draft.changes == {"llm_model": "my/own-model"}
    await nested.go_to("llm_model", "enter", "ctrl+u")
    await nested.type("o", "down", "enter")  # what begins so comes before what only has it somewhere
    assert nested.form.draft.changes == {"llm_model": "openai/gpt-5"}
    await nested.pilot.resize_terminal(60, 20)
    await nested.go_to("llm_model", "enter", "ctrl+u", sees="50929")  # the end of a name that is longer than its line
    assert len([request for request in nested.client.log if "models" in request.path]) == 1


async def test_after_a_lost_answer_the_list_behind_the_form_is_read_again(sit_before: Sit) -> None:
    none, made = (Answer({"custom_secrets": held}) for held in ([], [{"name": "LOST_ONE"}]))
    answers = {"GET /api/settings": [Answer({"language": "en"})], "GET /api/secrets": [none, none, made]}
    async with sit_before(FakeServer({**answers, "POST /api/secrets": [LOST]})) as seat:
        await seat.go_to("secret:", "a", sees="New secret")
        await seat.type("LOST_ONE", "tab", *"sentinel-value", "enter", sees="Unknown whether it happened.")
        await seat.until(lambda: "secret:LOST_ONE" in seat.form.view.rows)
        await seat.press("escape", "escape")
        await seat.go_to("secret:LOST_ONE", "enter", sees="f2 in the list gives it a new one.")


async def test_a_value_that_was_lost_halfway_is_created_by_trying_again(sit_before: Sit) -> None:
    held = Answer({"custom_secrets": [{"name": "API_TOKEN", "description": "d"}]})
    answers = {
        "GET /api/settings": [Answer({"language": "en"})],
        "GET /api/secrets": [held, Answer({"custom_secrets": []})],
        "DELETE /api/secrets/API_TOKEN": [Answer({"message": "deleted"})],
        "POST /api/secrets": [Answer({"error": "down"}, 500), Answer({"message": "created"}, 201)],
    }
    server = FakeServer(answers)
    async with sit_before(server) as seat:
        await seat.choose("New value", row="secret:API_TOKEN")
        await seat.type("sentinel-value", "enter", sees=("The old one is deleted", "enter tries again"))
        await seat.press("enter", sees="The secret API_TOKEN has a new value.")
    assert len(server.sent("DELETE")) == 1
    assert server.sent("POST")[-1].body == {"name": "API_TOKEN", "value": "sentinel-value", "description": "d"}
