"""The nested generation: what a store changes, what it refuses, and how it can be broken for good."""

from pathlib import Path

import pytest

from tests.local.conftest import Caller, Json, Opener, stored

PATH = "/api/v1/settings"
MASK = "**********"
SERVERS = {
    "fs": {"command": "npx", "args": ["-y"], "env": {"TOKEN": "env-secret"}, "cwd": "/work"},
    "sse": {"url": "https://a.example", "headers": {"Authorization": "Bearer sse-secret", "X-Team": "blue"}},
    "http": {"url": "https://b.example", "auth": "http-secret"},
    "keyed": {"url": "c", "auth": {"strategy": "api_key", "value": "key-secret", "header_name": "X-Key"}},
    "basic": {"url": "d", "auth": {"strategy": "basic", "username": "ann", "password": "basic-secret"}},
    "header": {"url": "e", "auth": {"strategy": "header", "headers": {"X-Own": "header-secret"}}},
}


@pytest.fixture
async def nested(open_service: Opener) -> Caller:
    return await open_service(store="nested")


async def agent(nested: Caller, diff: Json) -> Json:
    """The agent's settings after a change of them."""
    await nested.post(PATH, {"agent_settings_diff": diff})
    return (await nested.get(PATH))["agent_settings"]


async def test_it_says_how_it_stores(nested: Caller) -> None:
    about = await nested.get("/server_info")
    assert (about["service"], about["settings_store"]) == ("quarterdeck-local", "nested")


@pytest.mark.parametrize("path", ["/api/settings", "/api/secrets", "/api/options/models"])
async def test_the_paths_of_the_flat_generation_are_not_there(nested: Caller, path: str) -> None:
    answer = await nested.http.get(path)
    assert (answer.status_code, answer.json()) == (404, {"detail": "Not Found"})


@pytest.mark.parametrize("path", [PATH, f"{PATH}/agent-schema", f"{PATH}/profiles", "/api/v1/secrets/search"])
async def test_its_paths_need_the_key(nested: Caller, path: str) -> None:
    del nested.http.headers["X-Session-API-Key"]
    assert (await nested.http.get(path)).status_code == 401
    assert (await nested.http.get("/api/v1/web-client/config")).status_code == 200


async def test_a_change_of_one_leaf_keeps_all_others(nested: Caller) -> None:
    await nested.post(PATH, {"language": "fr", "conversation_settings_diff": {"max_iterations": 7}})
    await agent(nested, {"llm": {"model": "openai/a", "timeout": 60}, "condenser": {"max_size": 50}})
    settings = await agent(nested, {"llm": {"timeout": 90}})
    assert (settings["llm"]["model"], settings["llm"]["timeout"]) == ("openai/a", 90)
    assert settings["condenser"]["max_size"] == 50
    record = await nested.get(PATH)
    assert (record["language"], record["conversation_settings"]["max_iterations"]) == ("fr", 7)


async def test_null_resets_a_leaf_and_a_whole_block(nested: Caller) -> None:
    first = await agent(nested, {})
    await agent(nested, {"llm": {"model": "openai/a", "temperature": 1, "num_retries": 9, "api_key": "sk-1"}})
    settings = await agent(nested, {"llm": {"temperature": None, "num_retries": None}})
    assert (settings["llm"]["temperature"], settings["llm"]["num_retries"]) == (None, 5)
    assert settings["llm"]["model"] == "openai/a"
    assert await agent(nested, {"llm": None}) == first
    assert (await nested.get(PATH))["llm_api_key_set"] is False


@pytest.mark.parametrize("cleared", [None, "", "  ", MASK])
async def test_nothing_blanks_and_masks_clear_the_model_key(nested: Caller, cleared: str | None) -> None:
    await agent(nested, {"llm": {"api_key": "sk-1"}})
    assert (await nested.get(PATH))["llm_api_key_set"] is True
    await agent(nested, {"llm": {"api_key": cleared}})
    assert (await nested.get(PATH))["llm_api_key_set"] is False


@pytest.mark.parametrize(("sent", "is_set"), [(None, False), ("", False), (" ", False), (MASK, True), ("t", True)])
async def test_the_search_key_is_cleared_by_blanks_but_takes_a_mask(
    nested: Caller, sent: str | None, *, is_set: bool
) -> None:
    await nested.post(PATH, {"search_api_key": "tvly-1"})
    await nested.post(PATH, {"search_api_key": sent})
    record = await nested.get(PATH)
    assert (record["search_api_key"], record["search_api_key_set"]) == (None, is_set)


async def test_null_keeps_consent_and_disabled_skills_and_unsets_the_rest(nested: Caller) -> None:
    await nested.post(PATH, {"user_consents_to_analytics": True, "disabled_skills": ["a"], "email": "a@b"})
    await nested.post(PATH, dict.fromkeys(("user_consents_to_analytics", "disabled_skills", "email")))
    record = await nested.get(PATH)
    assert (record["user_consents_to_analytics"], record["disabled_skills"], record["email"]) == (True, ["a"], None)


async def test_flat_names_and_unknown_ones_are_taken_and_change_nothing(nested: Caller) -> None:
    await nested.post(PATH, {})
    before = await nested.get(PATH)
    sent = {"llm_model": "x", "max_iterations": 3, "mcp_config": {}, "future": 1, "llm_profiles": {"profiles": {}}}
    tokens = {"secrets_store": {"provider_tokens": {"github": {"token": "t"}}}}
    assert await nested.post(PATH, sent | tokens | {"agent_settings_diff": {"future": 1}}) == {
        "message": "Settings stored"
    }
    assert await nested.get(PATH) == before


async def test_another_kind_of_agent_begins_anew(nested: Caller) -> None:
    await agent(nested, {"llm": {"model": "openai/a", "api_key": "sk-1"}, "mcp_config": SERVERS})
    settings = await agent(nested, {"agent_kind": "acp", "acp_command": ["run"]})
    assert (settings["agent_kind"], settings["acp_command"], settings["mcp_config"]) == ("acp", ["run"], {})
    assert "condenser" not in settings
    settings = await agent(nested, {"agent_kind": "openhands"})
    assert (settings["llm"]["model"], settings["mcp_config"]) == ("gpt-5.5", {})


async def test_tool_servers_are_replaced_as_a_whole(nested: Caller) -> None:
    await agent(nested, {"mcp_config": SERVERS})
    settings = await agent(nested, {"mcp_config": {"mcpServers": {"only": {"url": "nope"}}}})
    assert settings["mcp_config"] == {"only": {"url": "nope"}}
    assert (await agent(nested, {"mcp_config": None}))["mcp_config"] == {}


async def test_secrets_of_tool_servers_are_not_told_even_by_name(nested: Caller, folder: Path) -> None:
    settings = await agent(nested, {"mcp_config": SERVERS})
    assert settings["mcp_config"] == {
        "fs": {"command": "npx", "args": ["-y"], "cwd": "/work"},
        "sse": {"url": "https://a.example", "auth": {"strategy": "bearer"}},
        "http": {"url": "https://b.example", "auth": {"strategy": "bearer"}},
        "keyed": {"url": "c", "auth": {"strategy": "api_key", "header_name": "X-Key"}},
        "basic": {"url": "d", "auth": {"strategy": "basic", "username": "ann"}},
        "header": {"url": "e", "auth": {"strategy": "header"}},
    }
    kept = stored(folder, "nested_settings")["agent_settings"]["mcp_config"]
    assert kept["fs"]["env"] == {"TOKEN": "env-secret"}
    assert kept["sse"]["auth"]["value"] == "sse-secret"
    assert kept["sse"]["headers"] == {"X-Team": "blue"}


async def test_a_loaded_record_sent_back_as_differences_loses_every_secret(nested: Caller, folder: Path) -> None:
    await nested.post(PATH, {"search_api_key": "tvly-1", "sandbox_api_key": "sbx-1"})
    await agent(nested, {"llm": {"api_key": "sk-1"}, "mcp_config": SERVERS})
    loaded = await nested.get(PATH)
    sent = {f"{name}_diff" if name.endswith("_settings") else name: value for name, value in loaded.items()}
    await nested.post(PATH, sent)
    record = stored(folder, "nested_settings")
    assert [record["search_api_key"], record["sandbox_api_key"], record["agent_settings"]["llm"]["api_key"]] == [
        None
    ] * 3
    assert "secret" not in str(record["agent_settings"]["mcp_config"])


@pytest.mark.parametrize(
    ("block", "diff", "place"),
    [
        ("agent_settings", {"condenser": {"max_size": 19}}, "condenser.max_size"),
        ("agent_settings", {"llm": {"model": None}}, "llm.model"),
        ("agent_settings", {"llm": {"temperature": "hot"}}, "llm.temperature"),
        ("agent_settings", {"mcp_config": {"sse_servers": [{"url": "https://a.example"}]}}, "mcp_config.sse_servers"),
        ("agent_settings", {"mcp_config": {"a": {"transport": "pigeon"}}}, "mcp_config.a.transport"),
        ("agent_settings", {"agent_kind": "other"}, "does not match"),
        ("conversation_settings", {"max_iterations": 0}, "max_iterations"),
        ("conversation_settings", {"security_analyzer": "invariant"}, "security_analyzer"),
    ],
)
async def test_a_wrong_nested_value_is_refused_at_its_place_and_nothing_is_stored(
    nested: Caller, block: str, diff: Json, place: str
) -> None:
    await nested.post(PATH, {})
    before = await nested.get(PATH)
    answer = await nested.http.post(PATH, json={f"{block}_diff": diff, "language": "fr"})
    assert answer.status_code == 400
    assert place in answer.json()["error"]
    assert answer.json()["error"].count("\n") >= 1
    assert await nested.get(PATH) == before


async def test_a_refusal_does_not_echo_what_was_sent(nested: Caller) -> None:
    answer = await nested.http.post(PATH, json={"agent_settings_diff": {"llm": {"api_key": ["sk-secret"]}}})
    assert answer.status_code == 400
    assert "sk-secret" not in answer.text


@pytest.mark.parametrize(
    "sent",
    [
        {"language": 5},
        {"enable_sound_notifications": None},
        {"git_full_clone": "maybe"},
        {"max_budget_per_task": "abc"},
        {"sandbox_grouping_strategy": None},
        {"sandbox_grouping_strategy": "ZZZ"},
        {"v1_enabled": None},
    ],
)
async def test_a_wrong_value_at_the_top_is_stored_and_nothing_can_be_read_or_mended_any_more(
    nested: Caller, sent: Json
) -> None:
    assert await nested.post(PATH, sent) == {"message": "Settings stored"}
    for path in (PATH, f"{PATH}/profiles", "/api/v1/sandboxes/search", "/api/v1/app-conversations/search"):
        answer = await nested.http.get(path)
        assert (answer.status_code, answer.text) == (500, "Internal Server Error"), path
        assert answer.headers["Content-Type"].startswith("text/plain")
    mended = await nested.http.post(PATH, json=dict.fromkeys(sent) | {"language": "en"})
    assert mended.status_code == 400
    assert next(iter(sent)) in mended.json()["error"]
    assert (await nested.http.get("/api/v1/secrets/search")).status_code == 200


async def test_the_two_shapes_of_one_folder_do_not_meet(open_service: Opener) -> None:
    flat, nested = await open_service(), await open_service(store="nested")
    await flat.post("/api/settings", {"language": "fr"})
    assert (await nested.http.get(PATH)).json() == {"error": "Settings not found"}
    await nested.post(PATH, {"language": "de"})
    assert (await flat.get("/api/settings"))["language"] == "fr"


async def test_a_conversation_that_names_no_model_has_the_stored_one(nested: Caller) -> None:
    await agent(nested, {"llm": {"model": "openai/a"}})
    task = await nested.created({})
    (conversation,) = await nested.get("/api/v1/app-conversations", ids=task["app_conversation_id"])
    assert conversation["llm_model"] == "openai/a"
    path = f"/api/v1/app-conversations/{conversation['id']}"
    assert (await nested.http.delete(path)).json() == {"success": True}


async def test_the_schema_has_fields_of_every_kind_and_each_can_be_stored(nested: Caller) -> None:
    schema = await nested.get(f"{PATH}/agent-schema")
    fields = [field for section in schema["sections"] for field in section["fields"]]
    assert {field["prominence"] for field in fields} == {"critical", "major", "minor"}
    assert {field["value_type"] for field in fields} == {"string", "integer", "number", "boolean", "array", "object"}
    assert {field["variant"] for field in fields} == {"openhands", "acp"}
    assert {True, False} == {field["secret"] for field in fields}
    for kind in ("openhands", "acp"):
        settings = await agent(nested, {"agent_kind": kind})
        for field in fields:
            if field["variant"] == kind:
                leaf = settings
                for member in field["key"].split("."):
                    leaf = leaf[member]
                assert leaf == field["default"], field["key"]
