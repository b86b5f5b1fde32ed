"""What is done with each recorded exchange: the call that makes its request, and what has to come of it."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind
from quarterdeck.client.models.conversation import NewConversation
from quarterdeck.client.models.mcp import McpConfig, SseServer
from quarterdeck.client.models.server import Server
from quarterdeck.client.models.settings import ProviderToken, Settings
from tests.client.fakes import Answer
from tests.client.recorded import FLAT, NESTED, SERVERS, Exchange, exchange

Use = Callable[[Client, Exchange], Awaitable[Any]]


class Case(NamedTuple):
    """`reads` compares what came of a call with the body of the answer; `kind` is the error it ends in, and `at` the
    field complained of. What our client refuses to send is not `sent`; `beside` are answers to what else is asked."""

    use: Use
    reads: Callable[[Any, Any], bool] | None = None
    kind: ErrorKind | None = None
    at: tuple[str | int, ...] | None = None
    sent: bool = True
    beside: Mapping[str, Answer] | None = None
    server: Server | None = None


INVALID, MISSING, AUTH = ErrorKind.INVALID, ErrorKind.MISSING, ErrorKind.AUTH
WRONG_API, SERVER, CONFLICT = ErrorKind.WRONG_API, ErrorKind.SERVER, ErrorKind.CONFLICT
NOT_OFFERED, UNKNOWN = ErrorKind.NOT_OFFERED, ErrorKind.UNKNOWN_OUTCOME


def kept_back(use: Use, kind: ErrorKind = INVALID, beside: Mapping[str, Answer] | None = None) -> Case:
    """What our client refuses, since the server would take it."""
    return Case(use, kind=kind, sent=False, beside=beside)


# Sandboxes and conversations, of either release

SHOWN = ("id", "status", "sandbox_status", "execution_status")


def same_record(record: Any, told: Any) -> bool:
    if record is None or told is None:
        return record is told
    return all(getattr(record, name, None) == told.get(name) for name in SHOWN)


def same_batch(result: Any, body: Any) -> bool:
    return all(same_record(record, told) for record, told in zip(result, body, strict=True))


def same_page(result: Any, body: Any) -> bool:
    return same_batch(result.items, body["items"]) and result.more == (body["next_page_id"] is not None)


def same_ids(result: Any, body: Any) -> bool:
    return [record.id for record in result] == [item["id"] for item in body["items"]]


async def create(client: Client, one: Exchange) -> Any:
    message = one.body.get("initial_message", {}).get("content", [{}])[0].get("text")
    return await client.conversations.create(NewConversation(message=message, sandbox_id=one.body.get("sandbox_id")))


def batch(client: Client, one: Exchange) -> Any:
    return client.sandboxes.read(one.values("id"))


def conversations(client: Client, one: Exchange) -> Any:
    return client.conversations.read(one.values("ids"))


def tasks(client: Client, one: Exchange) -> Any:
    return client.conversations.start_tasks(one.values("ids"))


def start(client: Client, one: Exchange) -> Any:
    return client.sandboxes.start(one.query.get("sandbox_spec_id"))


def pause(client: Client, one: Exchange) -> Any:
    return client.sandboxes.pause(one.part(2))


SHARED: Mapping[str, Case] = {
    "sandboxes-search": Case(lambda client, _: anext(aiter(client.sandboxes.pages())), same_page),
    "sandboxes-batch": Case(batch, same_batch),
    "sandboxes-flap-idle": Case(batch, same_batch),
    "sandboxes-start": Case(start, same_record),
    "sandboxes-start-unknown-spec": Case(start, kind=UNKNOWN),
    "sandboxes-pause": Case(pause),
    "sandboxes-resume": Case(lambda client, one: client.sandboxes.resume(one.part(2))),
    "sandboxes-delete-killed": Case(lambda client, one: client.sandboxes.delete(one.part(1))),
    "specs-search": Case(lambda client, _: client.sandboxes.specs(), same_ids),
    "convs-search": Case(lambda client, _: anext(aiter(client.conversations.pages())), same_page),
    "convs-batch-mixed": Case(conversations, same_batch),
    "convs-batch-99": Case(conversations, same_batch),
    "convs-batch-bad-uuid": Case(conversations, kind=INVALID),
    "conv-create": Case(create, same_record),
    "conv-create-task-final": Case(tasks, same_batch),
    "conv-create-unknown-sandbox-task": Case(tasks, same_batch),
    "start-tasks-search": Case(lambda client, _: client.conversations.recent_start_tasks(), same_ids),
}
"""By the part of a file's name behind its number."""


# Settings and secrets


def load(client: Client, _: Exchange) -> Any:
    return client.settings.load()


def secrets(client: Client, _: Exchange) -> Any:
    return client.secrets.list()


def creates(name: str, value: str = "x", description: str | None = None) -> Use:
    return lambda client, _: client.secrets.create(name, SecretStr(value), description)


def deletes(name: str) -> Use:
    return lambda client, _: client.secrets.delete(name)


def describes(name: str, description: str) -> Use:
    return lambda client, _: client.secrets.update(name, new_name=name, description=description)


def tokens(**given: ProviderToken) -> Use:
    return lambda client, _: client.secrets.set_tokens(given)


def full() -> dict[str, Any]:
    """A whole record as a person would have typed it, secrets included."""
    body: dict[str, Any] = exchange(FLAT, "settings-post-full").body
    return body | {name: SecretStr(body[name]) for name in ("llm_api_key", "search_api_key", "sandbox_api_key")}


def changing(**changes: Any) -> Use:
    """A change to the whole record: what is sent is the record with this in it."""
    return lambda client, _: client.settings.store(Settings.model_validate(full()), changes)


def stored(base: str) -> Use:
    """A change of the language of a record that was loaded."""
    loaded = exchange(FLAT, base).answer.body
    return lambda client, _: client.settings.store(Settings.model_validate(loaded), {"language": "fr"})


def same_fields(result: Any, body: Any) -> bool:
    """Whether every member that is not null was read, secrets and tool servers aside."""
    told = {name: value for name, value in body.items() if value is not None}
    return all(getattr(result, name) == told[name] for name in told.keys() - {"mcp_config", "secrets_store"})


def same_flat_secrets(result: Any, body: Any) -> bool:
    return [secret.model_dump() for secret in result] == [
        {"name": item["name"], "description": item["description"]} for item in body["custom_secrets"]
    ]


HELD = {"GET /api/secrets": Answer({"custom_secrets": [{"name": "MY_TOKEN", "description": "first"}]})}
NONE_HELD = {"GET /api/secrets": Answer({"custom_secrets": []})}
ONLY_SSE = McpConfig(sse_servers=(SseServer(url="https://x.example"),))
BAD_URL = McpConfig(sse_servers=(SseServer(url="nope"),))

OF_FLAT: Mapping[str, Case] = {
    "settings-no-key": Case(load, kind=AUTH),
    "settings-other-generation-path": Case(load, kind=WRONG_API, server=SERVERS[NESTED]),
    "settings-get-none-stored": Case(load, lambda result, _: result is None),
    "settings-get-full": Case(load, same_fields),
    "settings-post-full": Case(lambda client, _: client.settings.store(None, full())),
    "settings-roundtrip-post": Case(stored("settings-get-full")),
    "settings-post-mcp-only-sse": Case(changing(mcp_config=ONLY_SSE)),
    "settings-invalid-mcp-bad-url": Case(
        changing(mcp_config=BAD_URL), kind=INVALID, at=("mcp_config", "sse_servers", 0, "url")
    ),
    "settings-invalid-condenser-19": Case(changing(condenser_max_size=19), kind=INVALID, at=("condenser_max_size",)),
    "secrets-list": Case(secrets, same_flat_secrets),
    "secrets-put-no-store": Case(describes("A", "x"), kind=MISSING, beside=NONE_HELD),
    "secrets-create": Case(creates("MY_TOKEN", "v1", "first"), beside=NONE_HELD),
    "secrets-create-duplicate": kept_back(creates("MY_TOKEN"), CONFLICT, HELD),
    "secrets-update-description": Case(describes("MY_TOKEN", "changed"), beside=HELD),
    "secrets-update-value-ignored": kept_back(
        lambda client, _: client.secrets.replace_value("MY_TOKEN", SecretStr("newv")), NOT_OFFERED
    ),
    "secrets-delete": Case(deletes("OTHER")),
    "git-providers-bad-token": Case(tokens(github=ProviderToken(token=SecretStr("ghp_bogus"))), kind=INVALID),
    "git-providers-host-only": Case(tokens(gitlab=ProviderToken(host="gitlab.example"))),
    "git-providers-unset": Case(lambda client, _: client.secrets.clear_tokens()),
    "options-agents": Case(lambda client, _: client.options.agents(), lambda result, body: list(result) == body),
    "conv-patch-title": Case(
        lambda client, one: client.conversations.rename(one.part(1), one.body["title"]), kind=NOT_OFFERED
    ),
    "conv-delete-unknown": Case(lambda client, one: client.conversations.delete(one.part(1)), kind=NOT_OFFERED),
    "conv-download": Case(lambda client, one: client.conversations.trajectory(one.part(2)), kind=SERVER),
}


def stores(**changes: Any) -> Case:
    return Case(lambda client, _: client.settings.store(None, changes))


def complained(name: str, value: Any, at: str = "") -> Case:
    return Case(lambda client, _: client.settings.store(None, {name: value}), kind=INVALID, at=(at or name,))


def same_nested(result: Settings | None, body: Any) -> bool:
    """Whether canonical fields and leaves hold what stands in their places of the record."""
    assert result is not None
    agent, talk = body["agent_settings"], body["conversation_settings"]
    llm = {place.split(".")[2]: value for place, value in result.leaves.items() if ".llm." in place}
    top = all(getattr(result, name) == body[name] for name in ("language", "email", "llm_api_key_set"))
    placed = (result.llm_model, result.enable_default_condenser, result.max_iterations)
    told = (agent["llm"]["model"], agent["condenser"]["enabled"], talk["max_iterations"])
    return top and placed == told and bool(llm == agent["llm"])


def same_secrets(result: Any, body: Any) -> bool:
    return bool(body["items"] == [secret.model_dump() for secret in result])


def same_profiles(result: Any, body: Any) -> bool:
    return ([each.model_dump() for each in result.items], result.active) == (body["profiles"], body["active_profile"])


TEMPERATURE = "agent_settings.llm.temperature"
NESTED_LIST = "GET /api/v1/secrets/search"
NESTED_HELD = {NESTED_LIST: Answer({"items": [{"name": "MY_TOKEN", "description": "first"}], "next_page_id": None})}
NESTED_NONE = {NESTED_LIST: Answer({"items": [], "next_page_id": None})}
ONLY_ONE = McpConfig.model_validate({"shttp_servers": [{"url": "https://x.example/mcp", "name": "only"}]})

OF_NESTED: Mapping[str, Case] = {
    "settings-wrong-key": Case(load, kind=AUTH),
    "settings-other-generation-path": Case(load, kind=WRONG_API, server=SERVERS[FLAT]),
    "settings-get-none-stored": Case(load, lambda result, _: result is None),
    "settings-get-full": Case(load, same_nested),
    "settings-bricked-get": Case(load, kind=SERVER),
    "settings-bricked-post-fix-attempt": complained("enable_sound_notifications", False),
    "settings-llm-api_key-null": stores(llm_api_key=None),
    "settings-llm-model-only": stores(llm_model="openai/other"),
    "settings-llm-base_url-empty": stores(llm_base_url=None),
    "settings-mcp-replace-one": stores(mcp_config=ONLY_ONE),
    "settings-condenser-max_size-small": complained("condenser_max_size", 19),
    "settings-max_iterations-0": complained("max_iterations", 0),
    "settings-temperature-bad": complained(TEMPERATURE, "hot"),
    "settings-agent_kind-acp": stores(**{"agent_settings.agent_kind": "acp"}),
    "settings-profiles-none-stored": Case(lambda client, _: client.profiles.list(), same_profiles),
    "profiles-save-current": Case(lambda client, _: client.profiles.save("main")),
    "profiles-list-active": Case(lambda client, _: client.profiles.list(), same_profiles),
    "profiles-activate": Case(lambda client, _: client.profiles.activate("fast")),
    "profiles-rename": Case(lambda client, _: client.profiles.rename("fast", "quick")),
    "profiles-rename-conflict": Case(lambda client, _: client.profiles.rename("quick", "main"), kind=CONFLICT),
    "profiles-limit": Case(lambda client, _: client.profiles.save("one-too-many"), kind=CONFLICT),
    "profiles-delete-unknown": Case(lambda client, _: client.profiles.delete("zzz")),
    "secrets-search": Case(secrets, same_secrets),
    "secrets-create": Case(creates("MY_TOKEN", "v1", "first"), beside=NESTED_NONE),
    "secrets-create-duplicate-overwrites": Case(
        lambda client, _: client.secrets.replace_value("MY_TOKEN", SecretStr("v2")), beside=NESTED_HELD
    ),
    "secrets-create-odd-name": kept_back(creates("a b/c")),
    "secrets-update": Case(describes("MY_TOKEN", "changed"), beside=NESTED_HELD),
    "secrets-delete": Case(deletes("OTHER")),
    "git-providers-bad-token": Case(tokens(github=ProviderToken(token=SecretStr("ghp_bogus"))), kind=INVALID),
    "git-providers-host-only": Case(tokens(gitlab=ProviderToken(host="gitlab.example"))),
    "git-providers-unset": Case(lambda client, _: client.secrets.clear_tokens()),
    "config-models-search-verified": Case(
        lambda client, _: client.options.models(),
        lambda result, body: list(result) == [f"{item['provider']}/{item['name']}" for item in body["items"]],
    ),
    "conv-patch-title": Case(lambda client, one: client.conversations.rename(one.part(1), one.body["title"])),
    "conv-delete": Case(lambda client, one: client.conversations.delete(one.part(1))),
    "conv-delete-again": Case(lambda client, one: client.conversations.delete(one.part(1)), kind=MISSING),
}
