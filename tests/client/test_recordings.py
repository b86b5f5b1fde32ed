"""Exchanges recorded with real servers: we ask what they were asked, and take their answers for what they are."""

from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import SecretStr

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.models.conversation import Conversation
from quarterdeck.client.redact import is_secret_name
from quarterdeck.client.request import Request
from quarterdeck.client.transport import Access, Transport
from tests.client.exchanges.flat import FLAT, full
from tests.client.exchanges.nested import NESTED
from tests.client.exchanges.replay import Case, Exchange, exchange, question_of, replaying
from tests.client.exchanges.shared import SHARED
from tests.client.fakes import FAST, KEY, Answer, FakeServer, client_of

CASES: Mapping[str, Mapping[str, Case]] = {"1.2.1": {**SHARED, **FLAT}, "1.11.0": {**SHARED, **NESTED}}
ALL = {(release, name): case for release, cases in CASES.items() for name, case in cases.items()}


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


@pytest.mark.parametrize(
    ("release", "name", "kind", "at"),
    [
        ("1.2.1", "settings-invalid-mcp-extra-member", ErrorKind.INVALID, ("mcp_config", "other")),
        ("1.2.1", "convs-search-limit-x", ErrorKind.INVALID, ("query", "limit")),
        ("1.2.1", "method-not-allowed", ErrorKind.WRONG_API, None),
        ("1.11.0", "conv-create-bad-trigger", ErrorKind.INVALID, ("trigger",)),
        ("1.11.0", "profiles-save-llm-unknown-key", ErrorKind.INVALID, ("llm", "custom_header")),
        ("1.11.0", "profiles-get-unknown", ErrorKind.WRONG_API, None),
        ("1.11.0", "unknown-path", ErrorKind.WRONG_API, None),
    ],
)
async def test_any_other_answer_is_taken_for_what_it_is(
    release: str, name: str, kind: ErrorKind, at: tuple[str, ...] | None
) -> None:
    one = exchange(release, name)
    server = FakeServer(lambda _: one.answer)
    transport = Transport("http://server.test", SecretStr(KEY), Access(transport=server, limits=FAST))
    _, error = await outcome(transport.send(Request(one.method, one.path, body=one.body)))
    assert error is not None
    assert error.kind is kind
    assert at is None or [problem.location for problem in error.problems] == [at]


async def test_the_settings_of_the_flat_server_are_read_with_what_we_do_not_know() -> None:
    one = exchange("1.2.1", "settings-get-full")
    settings = await replaying(one)[0].settings.load()
    assert settings is not None
    assert settings.model_extra == {"user_version": 1, "condenser_max_size": 120, "v1_enabled": True}
    assert settings.mcp_config is not None
    assert settings.mcp_config.stdio_servers[0].env["TOKEN"].get_secret_value() == "env-secret"
    assert "env-secret" not in repr(settings)


async def test_the_settings_of_the_nested_server_are_read_as_the_canonical_record() -> None:
    one = exchange("1.11.0", "settings-get-full")
    settings = await replaying(one)[0].settings.load()
    assert settings is not None
    assert (settings.agent, settings.llm_model, settings.max_iterations) == ("CodeActAgent", "openai/fake", 50)
    assert (settings.security_analyzer, settings.enable_default_condenser) == ("llm", False)
    assert settings.model_extra is not None
    assert settings.model_extra["condenser_max_size"] == 120
    assert settings.model_extra["sandbox_grouping_strategy"] == "ADD_TO_ANY"
    assert settings.mcp_config is not None
    assert [server.name for server in settings.mcp_config.stdio_servers] == ["fs"]
    assert [server.model_extra for server in settings.mcp_config.sse_servers] == [
        {"name": "sse", "transport": "sse", "auth": {"strategy": "bearer"}}
    ]
    assert settings.leaves["agent_settings.verification.critic_threshold"] == 0.6
    assert settings.leaves["agent_settings.llm.litellm_extra_body"] == {}
    assert "agent_settings.agent_context.current_datetime" not in settings.leaves


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


async def test_records_and_tasks_of_a_real_server_are_read() -> None:
    one = exchange("1.2.1", "convs-batch-mixed")
    batch = await replaying(one)[0].conversations.read(one.values("ids"))
    assert batch is not None
    assert isinstance(batch[1], Conversation)
    assert (batch[1].execution_status, batch[1].sandbox_id) == ("finished", "2fCYbRGtCOlCbOIif583ib")
    one = exchange("1.2.1", "conv-create-unknown-sandbox-task")
    tasks = await replaying(one)[0].conversations.start_tasks(one.values("ids"))
    assert tasks is not None
    assert tasks[0] is not None
    assert (tasks[0].status, tasks[0].detail) == ("ERROR", "500: Sandbox not found: nosuch")
    assert tasks[0].created_at is not None
    assert tasks[0].created_at.tzinfo is not None


async def test_secrets_of_a_real_server_are_followed_page_by_page() -> None:
    first, second = (exchange("1.11.0", f"secrets-search-page{number}") for number in (1, 2))
    last = Answer(second.answer.body | {"next_page_id": None})
    client, server = client_of({"GET /api/v1/secrets/search": [first.answer, last]})
    client.server = replaying(first)[0].server
    assert [secret.name for secret in await client.secrets.list()] == ["MY_TOKEN", "OPENHANDS_API_KEY"]
    assert server.asked[1].page_id == "MY_TOKEN"


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
    client.server = replaying(agent)[0].server
    fields = await client.settings.schema()
    raw = [field for section in agent.answer.body["sections"] for field in section["fields"]]
    canonical = {
        "agent",
        "mcp_config",
        "condenser.enabled",
        "condenser.max_size",
        "llm.model",
        "llm.api_key",
        "llm.base_url",
    }
    assert [field.place for field in fields] == [
        f"agent_settings.{field['key']}" for field in raw if field["key"] not in canonical
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
