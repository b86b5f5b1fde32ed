import json
import math
import shlex
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.models.mcp import McpConfig, ShttpServer, SseServer, StdioServer
from quarterdeck.client.models.server import Server
from quarterdeck.client.models.settings import LOAD_ONLY, Loss, Settings
from quarterdeck.client.request import KeyHeader
from quarterdeck.client.settings import losses
from tests.client.fakes import FLAT, NESTED, NO_ROUTE, UNSTORED, Answer, FakeServer, client_at, client_of, error_of

LOAD, STORE = "GET /api/settings", "POST /api/settings"
STORED = Answer({"message": "Settings stored"})
LOADED: dict[str, Any] = {
    "language": "en",
    "llm_model": "openai/fake",
    "secrets_store": {"provider_tokens": {}},
    "user_version": 3,
    "llm_api_key_set": True,
    "search_api_key_set": False,
    "provider_tokens_set": {"github": None},
}
NOT_SENT = LOAD_ONLY | {"secrets_store"}


async def sent_by(base: dict[str, Any] | None, changes: dict[str, Any]) -> dict[str, Any]:
    """The body a store sends, as its server reads it; without a base nothing is stored yet, which is no error."""
    client, server = client_of({LOAD: [UNSTORED if base is None else Answer(base)], STORE: [STORED]})
    await client.settings.store(await client.settings.load(), changes)
    body: dict[str, Any] = server.sent("POST")[0].body
    return body


async def refused(base: Settings | None, changes: dict[str, Any]) -> ServiceError:
    client, server = client_of({STORE: [STORED]})
    error = await error_of(client.settings.store(base, changes))
    assert (error.kind, error.outcome, server.asked) == (ErrorKind.INVALID, Outcome.NOT_SENT, [])
    return error


@pytest.mark.parametrize(
    "answer",
    [
        NO_ROUTE,
        Answer({"message": "no Route matched"}, 404),
        Answer({"detail": "no such tenant"}, 404),
        Answer({"error": "no such tenant"}, 404),
        Answer({"error": "Not Found", "path": "/api/settings"}, 404),
        Answer(b"<html>", 404, {"Content-Type": "text/html"}),
        Answer(b"<html>", 200, {"Content-Type": "text/html"}),
        Answer([LOADED]),
        Answer(b"null"),
        Answer(b'{"language":' + b'{"a":' * 200 + b"1" + b"}" * 201),
    ],
)
async def test_an_answer_of_something_else_is_never_taken_for_nothing_stored(answer: Answer) -> None:
    flat, _ = client_of({LOAD: [answer]})
    nested, _ = client_of({"GET /api/v1/settings": [answer, Answer(LOADED)]}, server=NESTED)
    for client in (flat, nested, nested):
        assert (await error_of(client.settings.load())).kind is ErrorKind.WRONG_API


async def test_a_record_that_cannot_be_read_names_the_place_and_not_the_value() -> None:
    client, _ = client_of({LOAD: [Answer({"mcp_config": {"sse_servers": [{"api_key": "sentinel"}]}})]})
    error = await error_of(client.settings.load())
    assert error.kind is ErrorKind.SHAPE
    assert "mcp_config.sse_servers.0.url" in error.words
    assert "sentinel" not in error.words


async def test_a_merging_server_gets_the_changes_alone() -> None:
    about = Answer({"service": "quarterdeck-local", "settings_store": "merge"})
    client, server = client_of({LOAD: [Answer(LOADED)], STORE: [STORED], "GET /server_info": [about]})
    await client.describe()
    secrets = ("llm_api_key", "search_api_key", "sandbox_api_key")
    await client.settings.store(await client.settings.load(), dict.fromkeys(("language", *secrets)))
    assert server.sent("POST")[0].body == {"language": None} | dict.fromkeys(secrets, "")


@pytest.mark.parametrize(
    ("field", "sent"),
    [
        *((name, None) for name in ("email", "mcp_config", "sandbox_api_key")),
        *((name, "") for name in ("llm_api_key", "llm_base_url", "llm_model")),
        ("search_api_key", " "),
    ],
)
async def test_unsetting_sends_what_clears_the_field_on_a_replacing_server(field: str, sent: str | None) -> None:
    body = await sent_by(LOADED, {field: None})
    assert (field in body, body[field]) == (True, sent)


async def test_a_secret_a_server_told_is_given_back_and_a_mask_is_not() -> None:
    body = await sent_by(LOADED | {"sandbox_api_key": "told", "llm_api_key": "**********"}, {"language": "fr"})
    assert body["sandbox_api_key"] == "told"
    assert "llm_api_key" not in body


@pytest.mark.parametrize("mask", ["**********", "•••", " ***** ", "∗⁎＊", "<hidden>", "<REDACTED>", "[masked]"])
async def test_a_mask_is_never_sent_as_a_secret(mask: str) -> None:
    secret = SecretStr(mask)
    servers = McpConfig(stdio_servers=(StdioServer(name="a", command="b", env={"TOKEN": secret}),))
    assert (await refused(Settings(), {"llm_api_key": secret})).problems[0].location == ("llm_api_key",)
    at = ("mcp_config", "stdio_servers", 0, "env", "TOKEN")
    assert (await refused(None, {"mcp_config": servers})).problems[0].location == at


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *((f"enable_{name}", None) for name in ("sound_notifications", "solvability_analysis", "default_condenser")),
        *((name, None) for name in ("user_consents_to_analytics", "enable_proactive_conversation_starters")),
        *((name, None) for name in ("sandbox_grouping_strategy", "disabled_skills")),
        ("agent_settings.llm.temperature", 1.0),
        ("language", "half \ud800"),
        *(("max_budget_per_task", number) for number in (math.nan, math.inf, -math.inf)),
    ],
)
async def test_what_a_server_cannot_take_is_refused_before_it_is_sent(field: str, value: Any) -> None:
    assert (await refused(Settings(), {field: value})).problems[0].location == (field,)
    if field == "max_budget_per_task":
        await refused(Settings(max_budget_per_task=value), {"language": "fr"})


async def test_tool_servers_are_read_in_each_form_and_sent_with_their_members_and_all_three_lists() -> None:
    a, b = SseServer(url="https://a.example", api_key=SecretStr("k")), ShttpServer(url="https://b.example")
    whole = {"sse_servers": [{"url": a.url, "api_key": "k"}], "stdio_servers": [], "shttp_servers": [{"url": b.url}]}
    assert (await sent_by(None, {"mcp_config": McpConfig.of((a, b))}))["mcp_config"] == whole
    files, remote = {"name": "a", "command": "b"}, {"url": "https://c.example"}
    timed, nulls = remote | {"timeout": 3.0}, files | {"args": None, "env": None}
    told = {"sse_servers": None, "shttp_servers": ["https://b.example", timed], "stdio_servers": [nulls]}
    sent = (await sent_by({"mcp_config": told}, {}))["mcp_config"]
    assert sent["stdio_servers"] == [files | {"args": [], "env": {}}]
    assert json.dumps(sent["shttp_servers"]) == json.dumps([{"url": "https://b.example"}, remote | {"timeout": 3}])


async def test_a_preview_as_a_command_holds_no_secret() -> None:
    client, _ = client_of({})
    base = Settings.model_validate(LOADED | {"llm_base_url": "https://me:sentinel-1@llm.example"})
    arguments = ["--api-key", "sentinel-4", "--token=sentinel-5", "plain"]
    sse = {"url": "https://a.example/?token=sentinel-2", "headers": {"X": "sentinel-3"}}
    stdio = {"name": "it's", "command": "run", "args": arguments, "env": {"A": "sentinel-6"}}
    servers = McpConfig.model_validate({"sse_servers": [sse], "stdio_servers": [stdio]})
    text = client.settings.preview(base, {"mcp_config": servers, "llm_api_key": SecretStr("sentinel-7")}).curl()
    assert "sentinel" not in text
    assert text.startswith("curl -X POST http://server.test/api/settings")
    assert '-H "X-Session-API-Key: $QUARTERDECK_API_KEY"' in text
    assert '"llm_api_key": "\'"$LLM_API_KEY"\'"' in text
    assert "$MCP_CONFIG_STDIO_SERVERS_0_ENV_A" in text
    [told] = json.loads(shlex.split(text)[-1])["mcp_config"]["stdio_servers"]
    assert (told["name"], told["args"][-1]) == ("it's", "plain")
    text = client_at("http://server.test", header=KeyHeader.BEARER).settings.preview(None, {}).curl()
    assert '-H "Authorization: Bearer $QUARTERDECK_API_KEY"' in text


texts = st.text(max_size=12)
unmasked = texts.filter(lambda text: not text.strip() or not set(text.strip()) <= set("*∗⁎＊•●∙·"))
values = st.booleans() | st.integers(-(10**12), 10**12) | st.floats(-1e9, 1e9) | texts
unknown = st.dictionaries(st.sampled_from(["x_one", "copy", "active_profile"]), values | st.lists(values, max_size=2))
Of = dict[str, st.SearchStrategy[Any]]


def record_of(members: Of, optional: Of | None = None) -> st.SearchStrategy[dict[str, Any]]:
    """Records with these members, and with some that nobody knows."""
    known = st.fixed_dictionaries(members, optional=optional or {})
    return st.builds(lambda known, more: more | known, known, unknown)


remote = st.lists(record_of({"url": texts, "api_key": st.none() | unmasked}), max_size=2)
environments = st.dictionaries(texts, unmasked, max_size=2)
local = st.lists(record_of({"name": texts, "command": texts, "env": environments}), max_size=2)
records = record_of(
    {"llm_api_key_set": st.booleans(), "search_api_key_set": st.booleans()},
    {
        "language": st.none() | texts,
        "max_iterations": st.none() | st.integers(),
        "confirmation_mode": st.none() | st.booleans(),
        "max_budget_per_task": st.none() | st.floats(allow_nan=False, allow_infinity=False),
        "mcp_config": st.none() | record_of({"sse_servers": remote, "stdio_servers": local, "shttp_servers": remote}),
        "secrets_store": st.just({"provider_tokens": {}}),
        "provider_tokens_set": st.just({"github": None}),
    },
)


@settings(max_examples=40)
@given(records, texts)
async def test_a_save_of_one_field_loses_nothing_of_any_record(record: dict[str, Any], agent: str) -> None:
    body = await sent_by(record, {"agent": agent})
    kept = {name: value for name, value in record.items() if value is not None and name not in NOT_SENT}
    assert body == json.loads(json.dumps(kept)) | {"agent": agent}


Members = dict[str, Any]
GROUPED, NEW, FRENCH = {"sandbox_grouping_strategy": "NO_GROUPING"}, {"llm_model": "b/c"}, {"language": "fr"}


@pytest.mark.parametrize(
    ("record", "changes", "sent"),
    [
        (GROUPED, NEW, ""),
        (GROUPED | {"llm_base_url": "http://own"}, NEW, "http://own"),
        (GROUPED, NEW | {"llm_base_url": "http://new"}, "http://new"),
        (GROUPED, FRENCH, "absent"),
        ({}, NEW, "absent"),
    ],
)
async def test_an_address_filled_in_for_the_old_model_goes(record: Members, changes: Members, sent: str) -> None:
    assert (await sent_by(LOADED | record, changes)).get("llm_base_url", "absent") == sent


UNTOLD = [
    Loss("sandbox_api_key", certain=True),
    Loss("llm_api_key", certain=False),
    Loss("secrets_store", certain=False, parts=("github",)),
]


@pytest.mark.parametrize(
    ("record", "changes", "lost"),
    [
        (LOADED, FRENCH, UNTOLD),
        (LOADED, {"llm_api_key": SecretStr("k"), "sandbox_api_key": SecretStr("s")}, UNTOLD[2:]),
        (LOADED | {"llm_api_key_set": False}, FRENCH, [UNTOLD[0], UNTOLD[2]]),
        ({"language": "en"}, FRENCH, [*UNTOLD[:2], Loss("search_api_key", False), Loss("secrets_store", False)]),
        (LOADED | {"v1_enabled": None, "condenser_max_size": None}, FRENCH, UNTOLD[:1]),
        (LOADED | {"sandbox_api_key": "told"}, FRENCH, UNTOLD[1:]),
    ],
)
async def test_what_an_unknown_release_may_lose_is_told(record: Members, changes: Members, lost: list[Loss]) -> None:
    client, _ = client_of({LOAD: [Answer(record)]})
    base = await client.settings.load()
    assert (list(losses(base, changes, client.server)), losses(None, changes, client.server)) == (lost, ())


AGENT_SCHEMA, TALK_SCHEMA = "/api/v1/settings/agent-schema", "/api/v1/settings/conversation-schema"


@pytest.mark.parametrize("name", ["", "a b", "x" * 65, "a/b", "ä", "..", "a\n"])
async def test_a_name_no_profile_can_have_is_refused(name: str) -> None:
    client, wire = client_of(lambda _: Answer({}), server=NESTED)
    for attempt in (client.profiles.save(name), client.profiles.rename("old", name)):
        assert ((await error_of(attempt)).kind, wire.asked) == (ErrorKind.INVALID, [])


@pytest.mark.parametrize(("answer", "kind"), [(Answer([]), ErrorKind.SHAPE), (NO_ROUTE, ErrorKind.NOT_OFFERED)])
async def test_an_odd_list_of_profiles_and_none_are_no_empty_one(answer: Answer, kind: ErrorKind) -> None:
    client, _ = client_of(lambda _: answer, server=NESTED)
    assert (await error_of(client.profiles.list())).kind is kind


async def test_suggestions_of_a_nested_server_are_the_models_it_has_verified() -> None:
    claude, old = ({"provider": "anthropic", "name": name, "hidden": name == "old"} for name in ("claude", "old"))
    items = [claude, old, {"provider": None, "name": "bare"}, {"provider": "x"}, "nonsense"]
    answer = Answer({"items": items, "next_page_id": "Mw"})
    client, wire = client_of({"GET /api/v1/config/models/search": [answer]}, server=NESTED)
    assert await client.suggestions("llm_model") == ("anthropic/claude", "bare")
    assert await client.suggestions("agent") == await client.suggestions("security_analyzer") == ()
    assert [set(asked.query) for asked in wire.asked] == [{("verified__eq", "true"), ("limit", "100")}]


@pytest.mark.parametrize("answer", [NO_ROUTE, Answer(None), Answer(5), Answer({"other": []}), Answer([{}])])
@pytest.mark.parametrize("server", [FLAT, NESTED], ids=["flat", "nested"])
async def test_what_is_not_offered_is_no_suggestion_but_a_refused_key_is_said(server: Server, answer: Answer) -> None:
    client, _ = client_of(lambda _: answer, server=server)
    assert await client.suggestions("llm_model") == await client.suggestions("agent") == ()
    client, _ = client_of(lambda _: Answer({"detail": "Unauthorized"}, 401))
    assert (await error_of(client.suggestions("agent"))).kind is ErrorKind.AUTH


def schema(*fields: Any) -> Answer:
    return Answer({"model_name": "M", "sections": [{"key": "s", "label": "S", "fields": list(fields)}]})


async def test_a_schema_is_read_with_whole_places_without_canonical_fields_and_nothing_else_is_one() -> None:
    critic = {"key": "verification.critic_mode", "description": None, "prominence": "critical", "new_member": 1}
    odd = ({"label": "no key"}, {"key": "odd", "choices": 5}, {"key": "bare"}, 7)
    secret = ({"key": "auth_token"}, {"key": "pin", "secret": True})
    acp = {"key": "token", "value_type": "integer", "variant": "acp"}
    agent = schema({"key": "llm.model"}, critic, *odd, *secret, acp)
    talk = schema({"key": "max_iterations"}, {"key": "security_analyzer", "choices": [{"value": "llm"}]})
    client, _ = client_of({f"GET {AGENT_SCHEMA}": [agent], f"GET {TALK_SCHEMA}": [talk]}, server=NESTED)
    one, bare, *others = await client.settings.schema()
    assert [(field.secret, field.variant) for field in others] == [(True, None), (True, None), (False, "acp")]
    assert (one.place, one.prominence) == ("agent_settings.verification.critic_mode", "critical")
    assert (bare.place, bare.label, bare.prominence, bare.secret) == ("agent_settings.bare", "bare", "minor", False)
    for answer in (Answer([]), Answer({"sections": 5}), Answer("text")):
        client, _ = client_of({f"GET {AGENT_SCHEMA}": [answer]}, server=NESTED)
        assert (await error_of(client.settings.schema())).kind is ErrorKind.WRONG_API


BOTH, VALUE = pytest.mark.parametrize("nested", [False, True], ids=["flat", "nested"]), SecretStr("v")


def opened(nested: bool, *held: str, written: Answer | None = None) -> tuple[Client, FakeServer]:
    """A client of a server that holds these secrets, and says yes to everything else unless told otherwise."""
    items = [{"name": name, "description": ""} for name in held]
    listed = Answer({"items": items, "next_page_id": None} if nested else {"custom_secrets": items})
    written = written or Answer({"message": "done"})
    return client_of(lambda asked: listed if asked.method == "GET" else written, server=NESTED if nested else FLAT)


@BOTH
async def test_a_secret_is_never_overwritten_by_a_new_one_and_no_mask_is_stored(nested: bool) -> None:
    client, server = opened(nested, "HELD")
    for name, value, kind in (("HELD", VALUE, ErrorKind.CONFLICT), ("NEW", SecretStr("*" * 10), ErrorKind.INVALID)):
        error = await error_of(client.secrets.create(name, value))
        assert (error.kind, error.outcome, server.sent("POST")) == (kind, Outcome.NOT_SENT, [])


@BOTH
@pytest.mark.parametrize("name", ["", "a b", "a/b", "1A", "Ä", "A\n", ".."])
async def test_a_name_that_could_not_be_deleted_again_is_refused(nested: bool, name: str) -> None:
    client, server = opened(nested, "OLD")
    for attempt in (client.secrets.create(name, VALUE), client.secrets.update("OLD", new_name=name, description=None)):
        assert (await error_of(attempt)).kind is ErrorKind.INVALID
    assert server.asked == []


@BOTH
async def test_a_rename_without_a_description_says_so_and_one_of_nothing_is_no_success(nested: bool) -> None:
    client, server = opened(nested, "OTHER")
    await client.secrets.update("TOKEN", new_name="OTHER", description=None)
    assert server.sent("PUT")[0].body == {"name": "OTHER", "description": ""}
    client, server = opened(nested, "a b")
    await client.secrets.update("a b", new_name="a b", description="old")
    assert server.sent("PUT")[0].body == {"name": "a b", "description": "old"}
    client, _ = opened(nested)
    assert (await error_of(client.secrets.update("T", new_name="T", description="x"))).kind is ErrorKind.MISSING


@BOTH
async def test_a_server_without_secrets_is_said_to_keep_none_and_an_odd_list_is_no_empty_one(nested: bool) -> None:
    client, _ = client_of({"GET /api/secrets": [NO_ROUTE, Answer([])]}, server=NESTED if nested else FLAT)
    for attempt in (client.secrets.list(), client.secrets.clear_tokens()):
        assert (await error_of(attempt)).kind is ErrorKind.NOT_OFFERED
    assert nested or (await error_of(client.secrets.list())).kind is ErrorKind.SHAPE


async def test_a_value_is_replaced_only_where_that_can_be_done_and_there_is_one() -> None:
    for nested, kind in ((False, ErrorKind.NOT_OFFERED), (True, ErrorKind.MISSING)):
        client, server = opened(nested)
        assert (await error_of(client.secrets.replace_value("TOKEN", VALUE))).kind is kind
        assert server.sent("POST") == []
    client, _ = opened(True, "TOKEN", written=Answer({"detail": "Secret TOKEN already exists"}, 400))
    error = await error_of(client.secrets.replace_value("TOKEN", VALUE))
    assert (error.kind, error.outcome) == (ErrorKind.NOT_OFFERED, Outcome.NOT_APPLIED)
