"""Exchanges recorded with real servers: we ask what they were asked, and take their answers for what they are.

Secrets, tokens and profiles are tried on stand-ins that answer as was recorded (tests/local/test_interface.py).
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

import pytest
from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.models.conversation import NewConversation
from quarterdeck.client.models.mcp import McpConfig, SseServer
from quarterdeck.client.models.settings import Settings
from quarterdeck.client.paging import Page
from quarterdeck.client.redact import is_secret_name
from tests.client.recorded import FLAT, NESTED, Exchange, exchange, question_of, replaying

Use = Callable[[Client, Exchange], Awaitable[Any]]
INVALID, AUTH, NOT_OFFERED, SERVER = ErrorKind.INVALID, ErrorKind.AUTH, ErrorKind.NOT_OFFERED, ErrorKind.SERVER


class Case(NamedTuple):
    """The call that makes a recorded request, and what has to come of it.

    `reads` compares its result with the body of the answer, without which there is none; `kind` is the error it ends
    in, and `at` the field complained of.
    """

    use: Use
    reads: Callable[[Any, Any], bool] = lambda result, _: result is None
    kind: ErrorKind | None = None
    at: tuple[str | int, ...] | None = None


def same(result: Any, body: Any) -> bool:
    """Whether what was read is what was told, in the same order: of records their ids and statuses."""
    if isinstance(result, Page):
        return same(result.items, body["items"]) and result.more == (body["next_page_id"] is not None)
    if isinstance(result, tuple):
        told = body["items"] if isinstance(body, dict) else body
        return len(result) == len(told) and all(map(same, result, told))
    if isinstance(body, dict):
        shown = ("id", "status", "sandbox_status", "execution_status")
        return all(getattr(result, name, None) == body.get(name) for name in shown)
    return bool(result == body)


def create(client: Client, one: Exchange) -> Awaitable[Any]:
    message = one.body.get("initial_message", {}).get("content", [{}])[0].get("text")
    return client.conversations.create(NewConversation(message=message, sandbox_id=one.body.get("sandbox_id")))


START = Case(lambda client, one: client.sandboxes.start(one.query.get("sandbox_spec_id")), same)
BATCH = Case(lambda client, one: client.sandboxes.read(one.values("id")), same)
TALKS = Case(lambda client, one: client.conversations.read(one.values("ids")), same)
RENAME = Case(lambda client, one: client.conversations.rename(one.part(1), one.body["title"]))
DELETE = Case(lambda client, one: client.conversations.delete(one.part(1)))
STARTS = Case(lambda client, one: client.start_tasks.read(one.values("ids")), same)
LOAD = Case(lambda client, _: client.settings.load())
SHARED: Mapping[str, Case] = {
    "sandboxes-search": Case(lambda client, _: anext(aiter(client.sandboxes.pages())), same),
    "sandboxes-batch": BATCH,
    "sandboxes-flap-idle": BATCH,
    "sandboxes-start": START,
    "sandboxes-start-unknown-spec": START._replace(kind=ErrorKind.UNKNOWN_OUTCOME),
    "sandboxes-pause": Case(lambda client, one: client.sandboxes.pause(one.part(2))),
    "sandboxes-resume": Case(lambda client, one: client.sandboxes.resume(one.part(2))),
    "sandboxes-delete-killed": Case(lambda client, one: client.sandboxes.delete(one.part(1))),
    "specs-search": Case(lambda client, _: client.sandboxes.specs(), same),
    "convs-search": Case(lambda client, _: anext(aiter(client.conversations.pages())), same),
    "convs-batch-mixed": TALKS,
    "convs-batch-99": TALKS,
    "convs-batch-bad-uuid": TALKS._replace(kind=INVALID),
    "conv-create": Case(create, same),
    "conv-create-task-final": STARTS,
    "conv-create-unknown-sandbox-task": STARTS,
    "start-tasks-search": Case(lambda client, _: anext(aiter(client.start_tasks.pages())), same),
    "settings-get-none-stored": LOAD,
}
"""By the part of a file's name behind its number."""


def full() -> dict[str, Any]:
    """A whole record as a person would have typed it, secrets included."""
    body: dict[str, Any] = exchange(FLAT, "settings-post-full").body
    return body | {name: SecretStr(body[name]) for name in ("llm_api_key", "search_api_key", "sandbox_api_key")}


def changing(**changes: Any) -> Use:
    """A change to the whole record: what is sent is the record with this in it."""
    return lambda client, _: client.settings.store(Settings.model_validate(full()), changes)


def stored_again(client: Client, _: Exchange) -> Awaitable[Any]:
    """A change of the language of a record that was loaded."""
    loaded = exchange(FLAT, "settings-get-full").answer.body
    return client.settings.store(Settings.model_validate(loaded), {"language": "fr"})


def same_fields(result: Any, body: Any) -> bool:
    """Whether every member that is not null was read, secrets and tool servers aside."""
    told = {name: value for name, value in body.items() if value is not None}
    return all(getattr(result, name) == told[name] for name in told.keys() - {"mcp_config", "secrets_store"})


OF_FLAT: Mapping[str, Case] = {
    "settings-no-key": LOAD._replace(kind=AUTH),
    "settings-get-full": LOAD._replace(reads=same_fields),
    "settings-post-full": Case(lambda client, _: client.settings.store(None, full())),
    "settings-roundtrip-post": Case(stored_again),
    "settings-post-mcp-only-sse": Case(changing(mcp_config=McpConfig.of((SseServer(url="https://x.example"),)))),
    "settings-invalid-mcp-bad-url": Case(
        changing(mcp_config=McpConfig.of((SseServer(url="nope"),))),
        kind=INVALID,
        at=("mcp_config", "sse_servers", 0, "url"),
    ),
    "settings-invalid-condenser-19": Case(changing(condenser_max_size=19), kind=INVALID, at=("condenser_max_size",)),
    "options-agents": Case(lambda client, _: client.suggestions("agent"), same),
    "conv-patch-title": RENAME._replace(kind=NOT_OFFERED),
    "conv-delete-unknown": DELETE._replace(kind=NOT_OFFERED),
    "conv-download": Case(lambda client, one: client.conversations.trajectory(one.part(2)), kind=SERVER),
}


def stores(**changes: Any) -> Case:
    return Case(lambda client, _: client.settings.store(None, changes))


def complained(name: str, value: Any) -> Case:
    return stores(**{name: value})._replace(kind=INVALID, at=(name,))


def same_nested(result: Settings | None, body: Any) -> bool:
    """Whether canonical fields and leaves hold what stands in their places of the record."""
    assert result is not None
    agent, talk = body["agent_settings"], body["conversation_settings"]
    llm = {place.split(".")[2]: value for place, value in result.leaves.items() if ".llm." in place}
    top = all(getattr(result, name) == body[name] for name in ("language", "email", "llm_api_key_set"))
    placed = (result.llm_model, result.enable_default_condenser, result.max_iterations)
    told = (agent["llm"]["model"], agent["condenser"]["enabled"], talk["max_iterations"])
    return top and placed == told and bool(llm == agent["llm"])


ONLY_ONE = McpConfig.model_validate({"shttp_servers": [{"url": "https://x.example/mcp", "name": "only"}]})
OF_NESTED: Mapping[str, Case] = {
    "settings-wrong-key": LOAD._replace(kind=AUTH),
    "settings-get-full": LOAD._replace(reads=same_nested),
    "settings-bricked-get": LOAD._replace(kind=SERVER),
    "settings-bricked-post-fix-attempt": complained("enable_sound_notifications", False),
    "settings-llm-api_key-null": stores(llm_api_key=None),
    "settings-llm-model-only": stores(llm_model="openai/other"),
    "settings-llm-base_url-empty": stores(llm_base_url=None),
    "settings-mcp-replace-one": stores(mcp_config=ONLY_ONE),
    "settings-condenser-max_size-small": complained("condenser_max_size", 19),
    "settings-max_iterations-0": complained("max_iterations", 0),
    "settings-temperature-bad": complained("agent_settings.llm.temperature", "hot"),
    "settings-agent_kind-bad": stores(**{"agent_settings.agent_kind": "zzz"})._replace(kind=INVALID),
    "settings-agent_kind-acp": stores(**{"agent_settings.agent_kind": "acp"}),
    "config-models-search-verified": Case(
        lambda client, _: client.suggestions("llm_model"),
        lambda result, body: list(result) == [f"{item['provider']}/{item['name']}" for item in body["items"]],
    ),
    "conv-patch-title": RENAME,
    "conv-delete": DELETE,
    "conv-delete-shared-sandbox": DELETE,
    "conv-delete-again": DELETE._replace(kind=ErrorKind.MISSING),
}
ALL = {(FLAT, name): case for name, case in {**SHARED, **OF_FLAT}.items()}
ALL |= {(NESTED, name): case for name, case in {**SHARED, **OF_NESTED}.items()}


@pytest.mark.parametrize(("release", "name"), ALL)
async def test_an_operation_asks_what_was_asked_and_reads_what_was_answered(release: str, name: str) -> None:
    case, one = ALL[release, name], exchange(release, name)
    client, server = replaying(one)
    result, error = None, None
    try:
        result = await case.use(client, one)
    except ServiceError as caught:
        error = caught
    asked = [question_of(each) for each in server.asked if (each.method, each.path) == (one.method, one.path)]
    assert asked[0] == one.question
    assert one.method == "GET" or len([each for each in server.asked if each.method != "GET"]) == 1
    assert (error.kind if error else None) == case.kind
    if error is None:
        assert case.reads(result, one.answer.body)
    else:
        assert "input_value" not in f"{error!r} {error.words} {error.problems}"
        assert case.at is None or [problem.location for problem in error.problems] == [case.at]


async def test_the_form_schema_of_a_real_server_is_read_whole() -> None:
    agent, talk = (exchange(NESTED, f"settings-{name}-schema") for name in ("agent", "conversation"))
    client, _ = replaying(agent, talk)
    fields = await client.settings.schema()
    raw = [field["key"] for section in agent.answer.body["sections"] for field in section["fields"]]
    canonical = "agent mcp_config condenser.enabled condenser.max_size llm.model llm.api_key llm.base_url"
    assert [field.place for field in fields] == [f"agent_settings.{key}" for key in raw if key not in canonical.split()]
    by_place = {field.place.removeprefix("agent_settings."): field for field in fields if field.variant == "openhands"}
    assert [choice.value for choice in by_place["llm.reasoning_summary"].choices] == ["auto", "concise", "detailed"]
    needed = tuple(f"agent_settings.verification.{name}" for name in ("critic_enabled", "enable_iterative_refinement"))
    assert by_place["verification.critic_threshold"].depends_on == needed
    secret = {field.place.removeprefix("agent_settings.") for field in fields if field.secret}
    of_aws = {f"llm.aws_{name}" for name in ("access_key_id", "secret_access_key", "session_token")}
    assert secret == {*of_aws, "verification.critic_api_key"}
    assert all(field.secret is (is_secret_name(field.place) and field.value_type == "string") for field in fields)
