"""Exchanges recorded with real servers: we ask what they were asked, and take their answers for what they are."""

from typing import Any

import pytest

from quarterdeck.client.errors import Outcome, ServiceError
from quarterdeck.client.redact import is_secret_name
from tests.client.fakes import FakeServer, client_of
from tests.client.recorded import FLAT, NESTED, Exchange, exchange, question_of, replaying
from tests.client.recorded_cases import OF_FLAT, OF_NESTED, SHARED, full

ALL = {(FLAT, name): case for name, case in {**SHARED, **OF_FLAT}.items()} | {
    (NESTED, name): case for name, case in {**SHARED, **OF_NESTED}.items()
}


def asked_for(one: Exchange, server: FakeServer) -> list[dict[str, Any]]:
    """The questions a server got at the recorded place, leaving those beside it."""
    return [question_of(asked) for asked in server.asked if (asked.method, asked.path) == (one.method, one.path)]


async def outcome(use: Any) -> tuple[Any, ServiceError | None]:
    try:
        return await use, None
    except ServiceError as error:
        return None, error


@pytest.mark.parametrize(("release", "name"), [key for key, case in ALL.items() if case.sent])
async def test_an_operation_asks_what_was_asked_and_reads_what_was_answered(release: str, name: str) -> None:
    case, one = ALL[release, name], exchange(release, name)
    client, server = replaying(one, case.beside, case.server)
    result, error = await outcome(case.use(client, one))
    assert asked_for(one, server)[0] == one.question
    assert (error.kind if error else None) == case.kind
    if error is None:
        assert one.answer.status < 300 or case.reads is not None
        assert case.reads is None or case.reads(result, one.answer.body)
    elif case.at is not None:
        assert [problem.location for problem in error.problems] == [case.at]


@pytest.mark.parametrize(("release", "name"), [key for key, case in ALL.items() if not case.sent])
async def test_what_a_server_took_to_its_own_harm_is_never_sent(release: str, name: str) -> None:
    case, one = ALL[release, name], exchange(release, name)
    client, server = replaying(one, case.beside)
    _, error = await outcome(case.use(client, one))
    assert error is not None
    assert (error.kind, error.outcome) == (case.kind, Outcome.NOT_SENT)
    assert asked_for(one, server) == []


async def test_what_a_real_server_echoes_of_a_refused_body_is_not_passed_on() -> None:
    one = exchange("1.2.1", "settings-invalid-mcp-missing-url-echoes-input")
    echoed = one.answer.body["detail"][0]["input"]
    client, _ = replaying(one)
    with pytest.raises(ServiceError) as caught:
        await client.settings.store(None, {"llm_api_key": full()["llm_api_key"]})
    assert echoed["api_key"] not in f"{caught.value!r} {caught.value.words} {caught.value.problems}"


async def test_what_the_nested_server_repeats_of_a_refused_value_is_not_passed_on() -> None:
    one = exchange("1.11.0", "settings-agent_kind-bad")
    assert "input_value={" in one.answer.body["error"]
    client, _ = replaying(one)
    with pytest.raises(ServiceError) as caught:
        await client.settings.store(None, {"language": "en"})
    assert "input_value" not in f"{caught.value!r} {caught.value.words} {caught.value.problems}"


@pytest.mark.parametrize(("release", "generation", "merges"), [("1.2.1", "flat", False), ("1.11.0", "nested", True)])
async def test_a_real_server_is_described_as_what_it_is(release: str, generation: str, merges: bool) -> None:
    own, other = exchange(release, "settings-get-none-stored"), exchange(release, "settings-other-generation-path")
    client, _ = client_of({f"GET {own.path}": [own.answer], f"GET {other.path}": [other.answer]})
    server = await client.describe()
    assert (server.generation, server.key, server.merges) == (generation, "accepted", merges)
    assert server.nested is (generation == "nested")


async def test_a_bricked_account_is_still_described_as_of_its_generation() -> None:
    bricked, absent = exchange("1.11.0", "settings-bricked-get"), exchange("1.11.0", "settings-other-generation-path")
    client, _ = client_of({f"GET {bricked.path}": [bricked.answer], f"GET {absent.path}": [absent.answer]})
    server = await client.describe()
    assert (server.generation, server.key) == ("nested", "unproven")


async def test_the_form_schema_of_a_real_server_is_read_whole() -> None:
    agent, talk = (exchange("1.11.0", f"settings-{name}-schema") for name in ("agent", "conversation"))
    client, _ = client_of({f"GET {agent.path}": [agent.answer], f"GET {talk.path}": [talk.answer]})
    client.transport.server = replaying(agent)[0].server
    fields = await client.settings.schema()
    raw = [field["key"] for section in agent.answer.body["sections"] for field in section["fields"]]
    canonical = ("agent", "mcp_config", "condenser.enabled", "condenser.max_size", "llm.model", "llm.api_key")
    assert [field.place for field in fields] == [
        f"agent_settings.{key}" for key in raw if key not in (*canonical, "llm.base_url")
    ]
    by_place = {field.place: field for field in fields if field.variant == "openhands"}
    assert [choice.value for choice in by_place["agent_settings.llm.reasoning_summary"].choices] == [
        "auto",
        "concise",
        "detailed",
    ]
    assert by_place["agent_settings.verification.critic_threshold"].depends_on == (
        "agent_settings.verification.critic_enabled",
        "agent_settings.verification.enable_iterative_refinement",
    )
    assert {field.place for field in fields if field.secret} == {
        "agent_settings.llm.aws_access_key_id",
        "agent_settings.llm.aws_secret_access_key",
        "agent_settings.llm.aws_session_token",
        "agent_settings.verification.critic_api_key",
    }
    assert all(field.secret is (is_secret_name(field.place) and field.value_type == "string") for field in fields)
