"""Named language models of the nested generation."""

from pathlib import Path

import pytest

from tests.local.conftest import Caller, Json, Opener, stored

SETTINGS = "/api/v1/settings"
PATH = f"{SETTINGS}/profiles"


@pytest.fixture
async def nested(open_service: Opener) -> Caller:
    """A service with a model in use, whose profiles `one` and `two` have other models and the same key."""
    caller = await open_service(store="nested")
    for model in ("one", "two", "three"):
        await use(caller, {"model": model, "api_key": "sk-1"})
        if model != "three":
            await caller.post(f"{PATH}/{model}", {})
    return caller


async def use(caller: Caller, llm: Json) -> None:
    await caller.post(SETTINGS, {"agent_settings_diff": {"llm": llm}})


async def profiles(caller: Caller) -> tuple[dict[str, str], str | None]:
    """The model of each profile, and the profile in use."""
    told = await caller.get(PATH)
    return {one["name"]: one["model"] for one in told["profiles"]}, told["active_profile"]


async def model_in_use(caller: Caller) -> str:
    return str((await caller.get(SETTINGS))["agent_settings"]["llm"]["model"])


async def status(caller: Caller, method: str, path: str, body: Json = None) -> int:
    return (await caller.http.request(method, f"{PATH}/{path}", json=body)).status_code


async def test_the_model_in_use_is_saved_with_its_key_unless_told_otherwise(nested: Caller, folder: Path) -> None:
    assert await status(nested, "POST", "bare", {"include_secrets": False}) == 201
    assert await status(nested, "POST", "full") == 201
    kept = stored(folder, "nested_settings")["llm_profiles"]["profiles"]
    assert (kept["bare"]["api_key"], kept["full"]["api_key"]) == (None, "sk-1")
    answer = await nested.http.get(f"{PATH}/full")
    assert answer.json()["api_key_set"] is True
    assert answer.json()["config"]["api_key"] is None
    assert "sk-1" not in answer.text + (await nested.http.get(SETTINGS)).text


async def test_a_given_model_is_saved_and_may_keep_the_key_of_the_one_before(nested: Caller, folder: Path) -> None:
    await nested.post(f"{PATH}/one", {"llm": {"model": "new"}, "preserve_existing_api_key": True})
    await nested.post(f"{PATH}/two", {"llm": {"model": "new"}})
    kept = stored(folder, "nested_settings")["llm_profiles"]["profiles"]
    assert [(kept[name]["model"], kept[name]["api_key"]) for name in ("one", "two")] == [("new", "sk-1"), ("new", None)]
    assert await status(nested, "POST", "one", {"llm": {"future": 1}}) == 422


async def test_activating_puts_a_model_into_use_until_it_is_edited(nested: Caller) -> None:
    answer = await nested.post(f"{PATH}/two/activate")
    assert (answer["name"], answer["model"]) == ("two", "two")
    assert await model_in_use(nested) == "two"
    await nested.post(SETTINGS, {"language": "fr", "agent_settings_diff": {"condenser": {"max_size": 30}}})
    assert (await profiles(nested))[1] == "two"
    await use(nested, {"timeout": 7})
    assert await profiles(nested) == ({"one": "one", "two": "two"}, None)


async def test_renaming_keeps_place_and_use(nested: Caller) -> None:
    await nested.post(f"{PATH}/one/activate")
    await nested.post(f"{PATH}/one/rename", {"new_name": "first"})
    assert await profiles(nested) == ({"first": "one", "two": "two"}, "first")
    assert await status(nested, "POST", "first/rename", {"new_name": "first"}) == 200


async def test_deleting_the_one_in_use_activates_the_first_of_the_others(nested: Caller) -> None:
    await nested.post(f"{PATH}/two/activate")
    assert await status(nested, "DELETE", "two") == 200
    assert await profiles(nested) == ({"one": "one"}, "one")
    assert await model_in_use(nested) == "one"


@pytest.mark.parametrize(
    ("method", "path", "body", "expected"),
    [
        ("GET", "zzz", None, 404),
        ("POST", "zzz/activate", None, 404),
        ("POST", "zzz/rename", {"new_name": "y"}, 404),
        ("POST", "one/rename", {"new_name": "two"}, 409),
        ("POST", "one/rename", {"new_name": "a b"}, 422),
        ("POST", "a b", {}, 422),
        ("POST", "a" * 65, {}, 422),
        ("DELETE", "zzz", None, 200),
    ],
)
async def test_what_cannot_be_done_changes_nothing(
    nested: Caller, method: str, path: str, body: Json, expected: int
) -> None:
    before = await profiles(nested)
    assert await status(nested, method, path, body) == expected
    assert await profiles(nested) == before


async def test_there_are_ten_at_most(nested: Caller) -> None:
    for number in range(8):
        assert await status(nested, "POST", f"p{number}") == 201
    assert await status(nested, "POST", "one-too-many") == 409
    assert await status(nested, "POST", "one") == 201


async def test_without_settings_there_are_none_and_none_can_be_saved(open_service: Opener) -> None:
    caller = await open_service(store="nested")
    assert await profiles(caller) == ({}, None)
    assert await status(caller, "POST", "one") == 404
    assert await status(caller, "DELETE", "one") == 200
    assert (await caller.http.get(SETTINGS)).status_code == 404
