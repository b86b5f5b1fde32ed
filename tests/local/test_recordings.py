"""Exchanges recorded with real servers, asked of the service as that generation: what it answers has the same shape."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.local.conftest import Caller, Json, Opener
from tests.servers import Mode

RECORDINGS = Path(__file__).parents[1] / "recordings"

NESTED_SETTINGS = """
    10-settings-other-generation-path 19-unknown-path 21-method-not-allowed
    23-settings-get-none-stored 24-settings-profiles-none-stored 25-settings-profile-save-none-stored
    26-settings-post-empty-object 27-settings-get-after-empty-object 30-settings-post-full 31-settings-get-full
    55-settings-legacy-nested-key 56-settings-legacy-nested-key-both 79-settings-partial-language-only
    81-settings-llm-api_key-null 86-settings-llm-base_url-empty 87-settings-llm-null 88-settings-agent-diff-null
    89-settings-agent-diff-string 90-settings-mcp-null 91-settings-mcp-empty 92-settings-mcp-replace-one
    93-settings-mcp-bare-map 94-settings-mcp-legacy-shape 95-settings-mcp-bad-url 96-settings-mcp-bad-server
    97-settings-mcp-command-spaces 98-settings-mcp-odd-name 99-settings-mcp-top-level
    100-settings-flat-legacy-llm_model 101-settings-unknown-field 102-settings-condenser-max_size-small
    103-settings-condenser-max_size-20 104-settings-max_iterations-0 105-settings-max_iterations-string
    106-settings-security_analyzer-bad 110-settings-budget-negative 111-settings-temperature-bad
    112-settings-temperature-9 115-settings-agent_kind-bad 116-settings-secrets_store
    117-settings-llm_profiles-ignored 120-settings-malformed-json 121-settings-array 123-settings-roundtrip-post
    124-settings-roundtrip-as-diff 113-settings-agent_kind-acp 114-settings-agent_kind-openhands
"""
UNREADABLE = """
    108-settings-enable_sound-string 70-settings-bricked-get 71-settings-bricked-post-fix-attempt
    73-settings-bricked-profiles 74-settings-bricked-secrets
"""
PROFILES = """
    30-settings-post-full 125-profiles-save-current 126-profiles-save-nobody 127-profiles-save-llm
    128-profiles-save-llm-unknown-key 129-profiles-save-no-secrets 130-profiles-bad-name 131-profiles-list
    133-profiles-get-unknown 134-profiles-activate 135-profiles-list-active
    136-profiles-activate-unknown 137-profiles-rename 138-profiles-rename-conflict 139-profiles-rename-unknown
    140-profiles-rename-bad 142-profiles-delete 143-profiles-delete-unknown
"""
NESTED_SECRETS = """
    144-secrets-search-empty 145-secrets-put-no-store 146-secrets-delete-no-store 147-secrets-create
    148-secrets-create-duplicate-overwrites 149-secrets-create-nodesc 150-secrets-create-missing-value
    151-secrets-create-empty-name 152-secrets-create-odd-name 153-secrets-create-reserved-name 154-secrets-search
    155-secrets-search-page1 156-secrets-search-page2 157-secrets-search-filter 159-secrets-search-limit101
    160-secrets-update 161-secrets-rename 162-secrets-rename-conflict 163-secrets-update-unknown
    164-secrets-get-list-root 165-secrets-delete 166-secrets-delete-unknown 167-secrets-delete-slash
    169-git-providers-host-only 170-git-providers-unknown 171-git-providers-unset 172-config-models-search
    173-config-models-search-verified 174-config-models-search-query
"""
FLAT_SECRETS = """
    83-secrets-list-empty 84-secrets-put-no-store 85-secrets-delete-no-store 86-secrets-create
    87-secrets-create-nodesc 88-secrets-create-duplicate 89-secrets-create-missing-value
    90-secrets-create-empty-name 91-secrets-create-odd-name 92-secrets-list 93-secrets-update-description
    94-secrets-update-omit-description 95-secrets-list-after-update 96-secrets-update-value-ignored
    97-secrets-rename 98-secrets-rename-conflict 99-secrets-update-unknown 100-secrets-delete
    101-secrets-delete-slash-name 102-secrets-delete-unknown 105-git-providers-host-only
    106-git-providers-unknown-provider 108-git-providers-unset 109-options-models 110-options-agents
    111-options-security-analyzers
"""
TOLD_WHOLE = """
    92-secrets-list 95-secrets-list-after-update 110-options-agents 111-options-security-analyzers
    154-secrets-search 155-secrets-search-page1 156-secrets-search-page2 157-secrets-search-filter
"""
"""Answers that are the same word by word."""
WORDING = frozenset({"label", "description", "section", "section_label", "choices"})
"""Members of a schema's field that say nothing of what can be stored."""


def recorded(release: str, name: str) -> Json:
    return json.loads((RECORDINGS / release / f"{name}.json").read_text())


async def asked(caller: Caller, request: Json) -> httpx.Response:
    body = request["body"]
    content = body if isinstance(body, str) else None if body is None else json.dumps(body)
    headers = {"Content-Type": "application/json"} if content else {}
    return await caller.http.request(
        request["method"], request["path"], params=request["query"], content=content, headers=headers
    )


def shape(body: Json, depth: int = 2) -> Json:
    """The kinds of the members of a body by name, and of their members."""
    if isinstance(body, dict):
        return {name: shape(value, depth - 1) for name, value in body.items()} if depth else "object"
    if isinstance(body, list):
        return [shape(body[0], depth)] if body and depth else "list"
    return "text" if isinstance(body, str) else "other"


def told(body: Json) -> Json:
    """The part of a body that both servers have to tell alike: member names, and where something is wrong."""
    if isinstance(body, dict) and isinstance(body.get("detail"), list):
        return [(problem["type"], problem["loc"]) for problem in body["detail"]]
    return shape(body)


@pytest.mark.parametrize(
    ("release", "store", "names"),
    [
        ("1.11.0", "nested", NESTED_SETTINGS),
        ("1.11.0", "nested", UNREADABLE),
        ("1.11.0", "nested", PROFILES),
        ("1.11.0", "nested", NESTED_SECRETS),
        ("1.2.1", "replace", FLAT_SECRETS),
    ],
    ids=["settings", "unreadable settings", "profiles", "secrets", "flat secrets"],
)
async def test_it_answers_in_the_shape_of_a_real_server(
    open_service: Opener, release: str, store: Mode, names: str
) -> None:
    caller = await open_service(store=store)
    for name in names.split():
        exchange = recorded(release, name)
        answer, expected = await asked(caller, exchange["request"]), exchange["response"]
        assert answer.status_code == expected["status"], (name, answer.text)
        assert answer.headers["Content-Type"].split(";")[0] == expected["headers"]["content-type"].split(";")[0], name
        if answer.headers["Content-Type"].startswith("text/plain"):
            assert answer.text == expected["body"], name
        elif name in TOLD_WHOLE.split():
            assert answer.json() == expected["body"], name
        else:
            assert told(answer.json()) == told(expected["body"]), name


async def test_a_loaded_record_has_the_members_and_values_of_a_recorded_one(open_service: Opener) -> None:
    caller = await open_service(store="nested")
    for store, load in [
        ("26-settings-post-empty-object", "27-settings-get-after-empty-object"),
        ("30-settings-post-full", "31-settings-get-full"),
    ]:
        await asked(caller, recorded("1.11.0", store)["request"])
        expected = recorded("1.11.0", load)["response"]["body"]
        record = await caller.get("/api/v1/settings")
        for block in (record, expected):
            block["agent_settings"].pop("agent_context")
        assert record["agent_settings"]["llm"].items() <= expected["agent_settings"].pop("llm").items()
        del record["agent_settings"]["llm"]
        assert record == expected


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("agent-schema", "28-settings-agent-schema"),
        ("conversation-schema", "29-settings-conversation-schema"),
    ],
)
async def test_every_field_of_the_schema_is_one_of_the_recorded_schema(
    open_service: Opener, path: str, name: str
) -> None:
    caller = await open_service(store="nested")
    schema, expected = await caller.get(f"/api/v1/settings/{path}"), recorded("1.11.0", name)["response"]["body"]
    assert schema["model_name"] == expected["model_name"]
    assert fields(schema).items() <= fields(expected).items()
    assert set(schema["sections"][0]["fields"][0]) == set(expected["sections"][0]["fields"][0])


def fields(schema: Json) -> dict[Any, Json]:
    """The fields of a schema by place and variant, without their wording."""
    found = {}
    for section in schema["sections"]:
        for field in section["fields"]:
            about = {member: value for member, value in field.items() if member not in WORDING}
            about["choices"] = [choice["value"] for choice in field["choices"]]
            found[field["key"], field["variant"]] = about
    return found
