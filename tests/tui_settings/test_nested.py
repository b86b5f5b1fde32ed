from quarterdeck.client.models.mcp import StdioServer
from quarterdeck.settings.fields import Control
from tests.client.fakes import FakeServer
from tests.client.nested_server import NestedServer
from tests.tui.seat import WIDE
from tests.tui_settings.conftest import FULL, FormSeat, Sit

VERIFICATION = "agent_settings.verification"
TIMEOUT = "agent_settings.llm.timeout"
KIND = "agent_settings.agent_kind"
MAJOR = {"prominence": "major", "value_type": "string"}


async def test_on_a_first_run_every_list_of_choices_opens_and_takes_one(sit: Sit) -> None:
    async with sit(store="nested") as seat:
        await seat.sees("Nothing stored yet")
        await seat.go_to("enable_default_condenser")
        assert seat.line_of("Condense memory").split()[-3:] == ["on", "server", "default"]
        for entry in seat.form.draft.fields.fields:
            if entry.control is Control.SELECT and not (entry.minor or entry.extra):
                await seat.go_to(entry.key, "enter", "escape")
        assert not seat.form.draft.edited
        await seat.fill("security_analyzer", "none", "enter")
        await seat.sees("· It has no effect while the\n")  # whole beside the scroll bar
        await seat.save_verified(1)


async def test_canonical_fields_are_saved_as_differences(sit: Sit) -> None:
    async with sit(stored=FULL, store="nested", size=WIDE) as seat:
        before = await seat.stored()
        await seat.fill("security_analyzer", "invariant", "escape", sees=("This server takes only llm,", "1 error"))
        await seat.edit("security_analyzer", "none")
        await seat.edit("max_iterations", "77")
        await seat.go_to("confirmation_mode", "x", sees="always on or off")
        await seat.save_verified(2)
        after = await seat.stored()
    assert (after.security_analyzer, after.max_iterations) == ("none", 77)
    changed = {place for place in before.leaves if before.leaves[place] != after.leaves[place]}
    assert changed == {"conversation_settings.security_analyzer", "conversation_settings.max_iterations"}


async def test_lesser_fields_are_found_by_a_search_and_stay_once_they_are_edited(nested: FormSeat) -> None:
    await nested.sees("more: / finds them.")
    assert TIMEOUT not in nested.text
    await nested.go_to("more:LLM", "x", sees="Not for this row; f2 shows what can be done here.")
    await nested.press("enter", *"seconds", "enter", sees=("Timeout", "300"))
    await nested.press("slash", "escape", sees="14 more:")
    await nested.press("slash", *"seconds", "enter", "enter")
    await nested.type("60", "enter", "slash", "escape", sees=("was 300", "13 more:"))
    await nested.press("ctrl+s", sees=("Timeout", "300 → 60", TIMEOUT))
    await nested.press("enter", sees=("Saved · 1 of 1 verified", "13 more:"))
    assert (await nested.stored()).leaves[TIMEOUT] == 60


async def test_a_field_that_is_not_here_or_has_no_effect_now_says_why(nested: FormSeat) -> None:
    await nested.go_to("enable_solvability_analysis", sees=("Solvability analysis", "not on this server"))
    for key in ("enter", "x"):
        await nested.press(key, sees=("This server has no such setting.", "As stored"))
    await nested.go_to(f"{VERIFICATION}.critic_api_key", sees=("needs Enable critic", "It has no effect while"))
    await nested.go_to(f"{VERIFICATION}.critic_enabled", "enter", "left", "enter", "down", "down")
    await nested.sees("was off", "edited", "Critic API Key")
    assert "needs Enable critic" not in nested.text


async def test_json_is_checked_for_its_form(nested: FormSeat) -> None:
    await nested.press("slash", *"headers", "enter", "enter", *"[1]", sees="not a JSON object")
    await nested.press("ctrl+u")
    await nested.paste('{"X-Team": "secret-of-team"}', "enter", "slash", "escape", "ctrl+s")
    await nested.sees("Review the changes", '{"X-Team": "••••"}')
    await nested.press("enter", sees="Saved · 1 of 1 verified")
    assert (await nested.stored()).leaves["agent_settings.llm.extra_headers"] == {"X-Team": "secret-of-team"}
    await nested.press("slash", *"headers", "enter", "enter", sees='{"X-Team": "••••"}')
    await nested.press("end", "backspace", *', "a": 1}', "escape", sees=("hidden part", "1 error"))
    assert "secret-of-team" not in nested.text


async def test_another_agent_kind_is_warned_of_and_brings_its_own_fields(nested: FormSeat) -> None:
    await nested.edit(KIND, "acp")
    await nested.press("ctrl+s", sees=("This save also loses", "with openhands go all settings", "openhands", "acp"))
    await nested.press("enter", sees="y saves all the same")
    await nested.press("y", sees="Saved · 1 of 1 verified")
    await nested.go_to("agent_settings.acp_server", sees="claude-code")
    await nested.go_to("enable_default_condenser", sees="not for this agent")
    assert (await nested.stored()).leaves[KIND] == "acp"
    await nested.choose("Undo save", sees=("Cannot be brought back", "All other settings that its"))


async def test_secrets_of_servers_are_asked_for_again_and_then_kept_for_this_run(nested: FormSeat) -> None:
    await nested.go_to("mcp:0", sees="not told")
    await nested.press("d", "ctrl+s", sees=("This save also loses", ", db: their keys"))
    await nested.press("escape", "u")
    await nested.go_to("mcp:2", "enter", sees="loses it unless you type it again.")
    await nested.press("tab", "tab", "tab", *"TOKEN", "tab", *"sentinel-again", "ctrl+s")
    await nested.go_to("mcp:0", "d", "ctrl+s", sees=("Review the changes", ", db: their keys", "not given again"))
    await nested.press("y", sees=("verified", "typed"))
    await nested.press("ctrl+r")
    await nested.add_command("files")
    await nested.press("ctrl+s", sees=("Review the changes", "added", "r"))
    assert "MCP server db:" not in nested.text
    body = nested.body_of(nested.form.draft.changes)
    await nested.press("y", sees="Saved · 1 of 1 verified")
    servers = body["agent_settings_diff"]["mcp_config"]
    assert servers["db"]["env"]["TOKEN"].get_secret_value() == "sentinel-again"


async def test_a_typed_key_that_somebody_else_has_dropped_is_neither_shown_nor_sent_again(nested: FormSeat) -> None:
    await nested.go_to("mcp:0", "enter", "tab", *"sentinel-again", "ctrl+s")
    await nested.save(sees=("1 accepted", "As stored", "typed"))
    await nested.client.settings.store(await nested.stored(), {"mcp_config": await nested.servers()})
    await nested.press("ctrl+r", sees="changed on server")
    assert "typed" not in nested.text
    await nested.go_to("mcp:2", "d", "ctrl+s", sees="This save also loses")
    assert "MCP servers events-example-org, tools-example-org: their keys" in nested.unwrapped


async def test_of_many_servers_that_lose_their_secrets_a_few_are_named(sit: Sit) -> None:
    async with sit(*(StdioServer(name=f"s{n}", command="npx") for n in range(1100)), store="nested") as seat:
        await seat.go_to("mcp:1099", "d", "ctrl+s", sees=("s1099", "deleted"))
        assert "MCP servers s0, s1, s2 and 1,096 more: their keys" in seat.unwrapped


async def test_values_that_a_field_cannot_have_are_shown_and_stay_as_they_are(sit_before: Sit) -> None:
    choices = [{"value": "low", "label": "Low"}, {"value": "high", "label": "High"}]
    effort = {"key": "agent_context.effort", "label": "Effort", "choices": choices, **MAJOR}
    fast = {"key": "agent_context.fast", "label": "Fast", **MAJOR, "value_type": "boolean"}
    keeper = NestedServer(fields=[effort, fast])
    keeper.agent["agent_context"] = {"effort": ["low"], "fast": "yes"}
    async with sit_before(FakeServer(keeper)) as seat:
        await seat.go_to("agent_settings.agent_context.effort", sees='["low"]')
        await seat.press("enter", "escape", "down", sees=("Fast", "yes"))
        await seat.press("enter", sees="As stored")
        await seat.press("right", "enter", until=lambda: seat.form.draft.edited)
