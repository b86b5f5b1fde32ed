"""What only some servers offer: profiles, suggestions and form schemas."""

from typing import Any

import pytest

from quarterdeck.client.errors import ErrorKind
from quarterdeck.client.models.server import Server
from tests.client.fakes import FLAT, NESTED, NO_ROUTE, Answer, client_of, error_of

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
    items = [
        {"provider": "anthropic", "name": "claude", "hidden": False},
        {"provider": "anthropic", "name": "old", "hidden": True},
        {"provider": None, "name": "bare"},
        {"provider": "x"},
        "nonsense",
    ]
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
    critic = {
        "key": "verification.critic_mode",
        "label": "Critic mode",
        "description": None,
        "prominence": "critical",
        "new_member": 1,
    }
    agent = schema({"key": "llm.model"}, critic, {"label": "no key"}, {"key": "odd", "choices": 5}, {"key": "bare"}, 7)
    secret = [{"key": "auth_token"}, {"key": "pin", "secret": True}]
    agent.body["sections"][0]["fields"] += [*secret, {"key": "token", "value_type": "integer", "variant": "acp"}]
    talk = schema({"key": "max_iterations"}, {"key": "security_analyzer", "choices": [{"value": "llm"}]})
    client, _ = client_of({f"GET {AGENT_SCHEMA}": [agent], f"GET {TALK_SCHEMA}": [talk]}, server=NESTED)
    one, bare, *others = await client.settings.schema()
    assert [(field.secret, field.variant) for field in others] == [(True, None), (True, None), (False, "acp")]
    assert await client.options.security_analyzers() == ("llm",)
    assert (one.place, one.prominence) == ("agent_settings.verification.critic_mode", "critical")
    assert (bare.place, bare.label, bare.prominence, bare.secret) == ("agent_settings.bare", "bare", "minor", False)


@pytest.mark.parametrize("body", [[], {"sections": 5}, "text"])
async def test_what_is_no_schema_is_not_taken_for_one(body: Any) -> None:
    client, _ = client_of(lambda _: Answer(body), server=NESTED)
    assert (await error_of(client.settings.schema())).kind is ErrorKind.WRONG_API
