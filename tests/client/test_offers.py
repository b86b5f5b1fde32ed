"""What only some servers offer: profiles, suggestions and form schemas."""

from typing import Any

import pytest

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from tests.client.fakes import NO_ROUTE, Answer, FakeServer, Script, client_of
from tests.client.recorded import SERVERS

PROFILES = "/api/v1/settings/profiles"
CONFIG = "/api/v1/config"
AGENT_SCHEMA, TALK_SCHEMA = "/api/v1/settings/agent-schema", "/api/v1/settings/conversation-schema"


def opened(release: str, script: Script | dict[str, list[Answer | Exception]]) -> tuple[Client, FakeServer]:
    client, wire = client_of(script)
    client.transport.server = SERVERS[release]
    return client, wire


async def test_profiles_are_not_asked_for_where_there_are_none() -> None:
    client, wire = opened("1.2.1", lambda _: Answer({}))
    for attempt in (client.profiles.list(), client.profiles.save("a"), client.profiles.delete("a")):
        with pytest.raises(ServiceError) as caught:
            await attempt
        assert (caught.value.kind, caught.value.outcome) == (ErrorKind.NOT_OFFERED, Outcome.NOT_SENT)
    assert wire.asked == []


@pytest.mark.parametrize("name", ["", "a b", "x" * 65, "a/b", "ä", "..", "a\n"])
async def test_a_name_no_profile_can_have_is_refused(name: str) -> None:
    client, wire = opened("1.11.0", lambda _: Answer({}))
    with pytest.raises(ServiceError) as caught:
        await client.profiles.save(name)
    assert caught.value.kind is ErrorKind.INVALID
    assert wire.asked == []


async def test_suggestions_of_a_nested_server_are_the_models_it_has_verified() -> None:
    items = [
        {"provider": "anthropic", "name": "claude", "hidden": False},
        {"provider": "anthropic", "name": "old", "hidden": True},
        {"provider": None, "name": "bare"},
        {"provider": "x"},
        "nonsense",
    ]
    client, wire = opened("1.11.0", {f"GET {CONFIG}/models/search": [Answer({"items": items, "next_page_id": "Mw"})]})
    assert await client.options.models() == ("anthropic/claude", "bare")
    assert set(wire.asked[0].query) == {("verified__eq", "true"), ("limit", "100")}


@pytest.mark.parametrize("answer", [NO_ROUTE, Answer(None), Answer(5), Answer({"other": []}), Answer([{}])])
@pytest.mark.parametrize("release", SERVERS)
async def test_what_is_not_offered_and_what_is_no_list_is_no_suggestion(release: str, answer: Answer) -> None:
    client, _ = opened(release, lambda _: answer)
    assert await client.options.models() == await client.options.agents() == ()


async def test_a_refused_key_is_not_an_empty_list_of_suggestions() -> None:
    client, _ = opened("1.2.1", lambda _: Answer({"detail": "Unauthorized"}, 401))
    with pytest.raises(ServiceError) as caught:
        await client.options.agents()
    assert caught.value.kind is ErrorKind.AUTH


def schema(*fields: Any) -> Answer:
    return Answer({"model_name": "M", "sections": [{"key": "s", "label": "S", "fields": list(fields)}]})


async def test_a_schema_is_read_with_whole_places_and_without_canonical_fields() -> None:
    critic = {
        "key": "verification.critic_mode",
        "label": "Critic mode",
        "description": None,
        "prominence": "critical",
        "depends_on": ["verification.critic_enabled"],
        "choices": [{"value": "all_actions", "label": "All"}],
        "new_member": 1,
    }
    agent = schema({"key": "llm.model"}, critic, {"label": "no key"}, {"key": "odd", "choices": 5}, {"key": "bare"}, 7)
    talk = schema({"key": "max_iterations"}, {"key": "security_analyzer"})
    client, _ = opened("1.11.0", {f"GET {AGENT_SCHEMA}": [agent], f"GET {TALK_SCHEMA}": [talk]})
    one, bare = await client.settings.schema()
    assert (one.place, one.prominence) == ("agent_settings.verification.critic_mode", "critical")
    assert one.depends_on == ("agent_settings.verification.critic_enabled",)
    assert [(choice.value, choice.label) for choice in one.choices] == [("all_actions", "All")]
    assert (bare.place, bare.label, bare.prominence, bare.secret) == ("agent_settings.bare", "bare", "minor", False)


@pytest.mark.parametrize("body", [[], {"sections": 5}, "text"])
async def test_what_is_no_schema_is_not_taken_for_one(body: Any) -> None:
    client, _ = opened("1.11.0", lambda _: Answer(body))
    with pytest.raises(ServiceError) as caught:
        await client.settings.schema()
    assert caught.value.kind is ErrorKind.WRONG_API
