from typing import Any

import pytest
from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, Outcome
from quarterdeck.client.models.server import Server
from quarterdeck.client.models.settings import ProviderToken
from tests.client.fakes import FLAT, NESTED, NO_ROUTE, Answer, FakeServer, client_of, error_of

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
    assert await client.options.models() == ("anthropic/claude", "bare")
    assert set(wire.asked[0].query) == {("verified__eq", "true"), ("limit", "100")}


@pytest.mark.parametrize("answer", [NO_ROUTE, Answer(None), Answer(5), Answer({"other": []}), Answer([{}])])
@pytest.mark.parametrize("server", [FLAT, NESTED], ids=["flat", "nested"])
async def test_what_is_not_offered_is_no_suggestion_but_a_refused_key_is_said(server: Server, answer: Answer) -> None:
    client, _ = client_of(lambda _: answer, server=server)
    assert await client.options.models() == await client.options.agents() == ()
    client, _ = client_of(lambda _: Answer({"detail": "Unauthorized"}, 401))
    assert (await error_of(client.options.agents())).kind is ErrorKind.AUTH


def schema(*fields: Any) -> Answer:
    return Answer({"model_name": "M", "sections": [{"key": "s", "label": "S", "fields": list(fields)}]})


async def test_a_schema_is_read_with_whole_places_and_without_canonical_fields() -> None:
    critic = {"key": "verification.critic_mode", "description": None, "prominence": "critical", "new_member": 1}
    odd = ({"label": "no key"}, {"key": "odd", "choices": 5}, {"key": "bare"}, 7)
    secret = ({"key": "auth_token"}, {"key": "pin", "secret": True})
    acp = {"key": "token", "value_type": "integer", "variant": "acp"}
    agent = schema({"key": "llm.model"}, critic, *odd, *secret, acp)
    talk = schema({"key": "max_iterations"}, {"key": "security_analyzer", "choices": [{"value": "llm"}]})
    client, _ = client_of({f"GET {AGENT_SCHEMA}": [agent], f"GET {TALK_SCHEMA}": [talk]}, server=NESTED)
    one, bare, *others = await client.settings.schema()
    assert [(field.secret, field.variant) for field in others] == [(True, None), (True, None), (False, "acp")]
    assert await client.options.security_analyzers() == ("llm",)
    assert (one.place, one.prominence) == ("agent_settings.verification.critic_mode", "critical")
    assert (bare.place, bare.label, bare.prominence, bare.secret) == ("agent_settings.bare", "bare", "minor", False)


async def test_what_is_no_schema_is_not_taken_for_one() -> None:
    for answer in (Answer([]), Answer({"sections": 5}), Answer("text")):
        client, _ = client_of({f"GET {AGENT_SCHEMA}": [answer]}, server=NESTED)
        assert (await error_of(client.settings.schema())).kind is ErrorKind.WRONG_API


BOTH = pytest.mark.parametrize("nested", [False, True], ids=["flat", "nested"])
VALUE = SecretStr("v")


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


@BOTH
async def test_all_tokens_go_at_once_and_one_that_its_provider_refuses_is_not_a_wrong_key(nested: bool) -> None:
    client, server = opened(nested, written=Answer({"error": "Invalid token. Please make sure"}, 401))
    tokens = {"github": ProviderToken(token=SecretStr("ghp_sentinel")), "kept": ProviderToken(host="git.example")}
    error = await error_of(client.secrets.set_tokens(tokens))
    given = {"github": {"token": "ghp_sentinel", "host": ""}, "kept": {"token": "", "host": "git.example"}}
    assert server.asked[0].body == {"provider_tokens": given}
    assert (error.kind, error.words) == (ErrorKind.INVALID, "A token was refused by its provider: github.")
    assert "ghp_sentinel" not in f"{error.words}{error.advice}"
