"""Exchanges recorded with a real server of release 1.2.1: we ask what it was asked, and can read its answers."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from quarterdeck.service.client import ServiceClient
from quarterdeck.service.errors import ErrorKind, FieldProblem, ServiceError
from quarterdeck.service.models.conversation import Conversation, NewConversation, StartTask
from quarterdeck.service.models.mcp import McpConfig, SseServer
from quarterdeck.service.models.page import Page
from quarterdeck.service.models.settings import Settings
from tests.service.fakes import NO_ROUTE, Answer, Asked, FakeServer, client_of

FOLDER = Path(__file__).parents[1] / "recordings" / "1.2.1"
Use = Callable[[ServiceClient], Awaitable[Any]]


def recorded(name: str) -> dict[str, Any]:
    """One recorded exchange."""
    (file,) = FOLDER.glob(f"*-{name}.json")
    exchange: dict[str, Any] = json.loads(file.read_text())
    return exchange


def answer_of(name: str) -> Answer:
    response = recorded(name)["response"]
    body = response["body"]
    plain_text = response["headers"]["content-type"].startswith("text/plain")
    return Answer(body.encode() if plain_text else body, response["status"], response["headers"])


def replaying(name: str) -> tuple[ServiceClient, FakeServer]:
    """A client of a server that gives a recorded answer to its recorded question, and knows nothing else."""
    request = recorded(name)["request"]
    answer = answer_of(name)
    return client_of(
        lambda asked: answer if (asked.method, asked.path) == (request["method"], request["path"]) else NO_ROUTE
    )


def question(asked: Asked) -> dict[str, Any]:
    """What was asked, without the page size that a person at a command line leaves to the server."""
    query: dict[str, Any] = {}
    for name, value in asked.query:
        query[name] = [*query.get(name, ()), value]
    query.pop("limit", None)
    return {
        "method": asked.method,
        "path": asked.path,
        "query": query,
        "body": asked.body if asked.content else None,
    }


def recorded_question(name: str) -> dict[str, Any]:
    request = recorded(name)["request"]
    query = {key: value if isinstance(value, list) else [str(value)] for key, value in request["query"].items()}
    query.pop("limit", None)
    return {"method": request["method"], "path": request["path"], "query": query, "body": request["body"]}


async def first_sandboxes(client: ServiceClient) -> Page[Any]:
    return await anext(aiter(client.sandboxes.pages()))


async def first_conversations(client: ServiceClient) -> Page[Any]:
    return await anext(aiter(client.conversations.pages()))


HELLO = NewConversation(message="TEXTPLEASE hello agent")
MIXED = ["f5bcdf3c-ef41-44fe-a9a4-a1144298edd7", "a39561f77b934d1488db52af0cf031f8"]
SAME_QUESTION: dict[str, Use] = {
    "settings-get-none-stored": lambda client: client.settings.load(),
    "settings-get-full": lambda client: client.settings.load(),
    "convs-search": first_conversations,
    "convs-batch-mixed": lambda client: client.conversations.read(MIXED),
    "conv-create": lambda client: client.conversations.create(HELLO),
    "conv-create-unknown-sandbox": lambda client: client.conversations.create(NewConversation(sandbox_id="nosuch")),
    "conv-create-task-final": lambda client: client.conversations.start_tasks(["3c518040b021421da873b0f44ed7e0ce"]),
    "conv-create-unknown-sandbox-task": lambda client: client.conversations.start_tasks(
        ["84dc11953a104075bb98a28fb16fb7b1"]
    ),
    "start-tasks-search": lambda client: client.conversations.recent_start_tasks(),
    "sandboxes-search": first_sandboxes,
    "sandboxes-batch": lambda client: client.sandboxes.read(["2Uapr5FnzhAztmHsNkB7Wy", "nosuch"]),
    "sandboxes-start": lambda client: client.sandboxes.start(),
    "sandboxes-pause": lambda client: client.sandboxes.pause("2Uapr5FnzhAztmHsNkB7Wy"),
    "sandboxes-resume": lambda client: client.sandboxes.resume("2Uapr5FnzhAztmHsNkB7Wy"),
    "sandboxes-delete-paused": lambda client: client.sandboxes.delete("7g4PkOA9t2m9wE5LR1XTA1"),
    "specs-search": lambda client: client.sandboxes.specs(),
}


@pytest.mark.parametrize("name", SAME_QUESTION)
async def test_what_is_asked_is_what_the_real_server_was_asked(name: str) -> None:
    client, server = replaying(name)
    await SAME_QUESTION[name](client)
    assert question(server.asked[0]) == recorded_question(name)


REFUSED: dict[str, tuple[Use, ErrorKind]] = {
    "settings-no-key": (lambda client: client.settings.load(), ErrorKind.AUTH),
    "convs-batch-bad-uuid": (lambda client: client.conversations.read(["nope"]), ErrorKind.INVALID),
    "conv-delete-unknown": (
        lambda client: client.conversations.delete("f5bcdf3c-ef41-44fe-a9a4-a1144298edd7"),
        ErrorKind.NOT_OFFERED,
    ),
    "sandboxes-start-unknown-spec": (lambda client: client.sandboxes.start("nosuch"), ErrorKind.UNKNOWN_OUTCOME),
    "sandboxes-start-fails": (lambda client: client.sandboxes.start(), ErrorKind.UNKNOWN_OUTCOME),
    "sandboxes-pause-unknown": (lambda client: client.sandboxes.pause("nosuch"), ErrorKind.MISSING),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_what_the_real_server_refuses_is_an_error_of_the_right_kind(name: str) -> None:
    use, kind = REFUSED[name]
    client, server = replaying(name)
    with pytest.raises(ServiceError) as caught:
        await use(client)
    assert (caught.value.kind, caught.value.status) == (kind, recorded(name)["response"]["status"])
    assert question(server.asked[0]) == recorded_question(name)


async def test_the_settings_of_the_real_server_are_read_with_what_we_do_not_know() -> None:
    client, _ = replaying("settings-get-full")
    settings = await client.settings.load()
    assert settings is not None
    assert (settings.language, settings.max_budget_per_task, settings.llm_api_key_set) == ("en", 12.5, True)
    assert settings.model_extra == {"user_version": 1, "condenser_max_size": 120, "v1_enabled": True}
    assert settings.mcp_config is not None
    assert settings.mcp_config.stdio_servers[0].env["TOKEN"].get_secret_value() == "env-secret"
    assert "env-secret" not in repr(settings)


async def test_an_edit_of_the_real_record_sends_what_kept_everything_on_the_real_server() -> None:
    base = Settings.model_validate(recorded("settings-get-full")["response"]["body"])
    client, server = replaying("settings-roundtrip-post")
    await client.settings.store(base, {"language": "fr"})
    kept = {
        name: value
        for name, value in recorded("settings-roundtrip-post")["request"]["body"].items()
        if value is not None
    }
    for name in ("secrets_store", "llm_api_key_set", "search_api_key_set", "provider_tokens_set"):
        kept.pop(name, None)
    assert server.asked[0].body == kept


async def test_a_refused_tool_server_is_told_by_its_place() -> None:
    client, _ = replaying("settings-invalid-mcp-bad-url")
    with pytest.raises(ServiceError) as caught:
        await client.settings.store(None, {"mcp_config": McpConfig(sse_servers=(SseServer(url="nope"),))})
    at = ("mcp_config", "sse_servers", 0, "url")
    assert caught.value.problems == (FieldProblem(at, "URL must include a scheme (http:// or https://)"),)


async def test_what_the_real_server_echoes_of_a_refused_body_is_not_passed_on() -> None:
    name = "settings-invalid-mcp-missing-url-echoes-input"
    echoed = json.dumps(recorded(name)["response"]["body"]["detail"][0]["input"])
    client, _ = replaying(name)
    with pytest.raises(ServiceError) as caught:
        await client.settings.store(None, {"llm_api_key": SecretStr("sk-llm-1")})
    assert json.loads(echoed)["api_key"] not in f"{caught.value!r} {caught.value.words} {caught.value.problems}"


async def test_records_and_tasks_of_the_real_server_are_read() -> None:
    client, _ = replaying("convs-batch-mixed")
    batch = await client.conversations.read(MIXED)
    assert batch is not None
    assert batch[0] is None
    assert isinstance(batch[1], Conversation)
    assert (batch[1].execution_status, batch[1].sandbox_id) == ("finished", "2fCYbRGtCOlCbOIif583ib")
    client, _ = replaying("conv-create-unknown-sandbox-task")
    tasks = await client.conversations.start_tasks(["84dc11953a104075bb98a28fb16fb7b1"])
    assert tasks is not None
    assert isinstance(tasks[0], StartTask)
    assert (tasks[0].status, tasks[0].detail) == ("ERROR", "500: Sandbox not found: nosuch")
    assert tasks[0].created_at is not None
    assert tasks[0].created_at.tzinfo is not None


async def test_pages_of_the_real_server_are_followed() -> None:
    answers: list[Answer | Exception] = [answer_of("convs-search-page1"), answer_of("convs-search-page2")]
    client, server = client_of({"GET /api/v1/app-conversations/search": answers})
    pages = [page async for page in client.conversations.pages()]
    assert [len(page.items) for page in pages] == [1, 1]
    assert server.asked[1].page_id == recorded("convs-search-page1")["response"]["body"]["next_page_id"]


async def test_the_real_server_is_described_as_one_that_replaces() -> None:
    client, _ = client_of(
        {
            "GET /api/v1/settings": [answer_of("settings-other-generation-path")],
            "GET /api/settings": [answer_of("settings-get-none-stored")],
        }
    )
    server = await client.describe()
    assert (server.generation, server.key, server.merges) == ("flat", "accepted", False)
