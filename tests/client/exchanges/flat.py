"""Exchanges of release 1.2.1: flat settings and secrets, and what only that release answers so."""

from collections.abc import Mapping
from typing import Any

from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind
from quarterdeck.client.models.mcp import McpConfig, ShttpServer, SseServer, StdioServer
from quarterdeck.client.models.settings import ProviderToken, Settings
from tests.client.exchanges.replay import (
    SERVERS,
    Case,
    Exchange,
    Use,
    does,
    exchange,
    kept_back,
    refused,
)
from tests.client.exchanges.shared import INVALID, MISSING, SERVER, WRONG_API
from tests.client.fakes import Answer

LIST = "GET /api/secrets"
HELD = {LIST: Answer({"custom_secrets": [{"name": "MY_TOKEN", "description": "first"}]})}
NONE_HELD = {LIST: Answer({"custom_secrets": []})}


def load(client: Client, _: Exchange) -> Any:
    return client.settings.load()


def full() -> dict[str, Any]:
    """A whole record as a person would have typed it, secrets included."""
    body: dict[str, Any] = exchange("1.2.1", "settings-post-full").body
    return body | {name: SecretStr(body[name]) for name in ("llm_api_key", "search_api_key", "sandbox_api_key")}


def changing(**changes: Any) -> Use:
    """A change to the whole record: what is sent is the record with this in it."""
    return lambda client, _: client.settings.store(Settings.model_validate(full()), changes)


def complained(at: str | tuple[str | int, ...], **changes: Any) -> Case:
    return refused(changing(**changes), INVALID, (at,) if isinstance(at, str) else at)


def servers(**lists: Any) -> dict[str, Any]:
    return {"mcp_config": McpConfig(**lists)}


def in_list(name: str, member: str, server: Any) -> Case:
    return complained(("mcp_config", name, 0, member), **servers(**{name: (server,)}))


def same_fields(result: Any, body: Any) -> bool:
    """Whether every member that is not null was read, secrets and tool servers aside."""
    return all(
        getattr(result, name) == value
        for name, value in body.items()
        if value is not None and name not in ("mcp_config", "secrets_store")
    )


def same_secrets(result: Any, body: Any) -> bool:
    return [(secret.name, secret.description) for secret in result] == [
        (item["name"], item["description"]) for item in body["custom_secrets"]
    ]


SETTINGS: Mapping[str, Case] = {
    "settings-no-key": refused(load, ErrorKind.AUTH),
    "settings-wrong-key": refused(load, ErrorKind.AUTH),
    "settings-other-generation-path": refused(load, WRONG_API, server=SERVERS["1.11.0"]),
    "settings-get-none-stored": does(load, lambda result, _: result is None),
    "settings-get-after-empty-object": does(load, same_fields),
    "settings-get-full": does(load, same_fields),
    "settings-get-after-post-empty-after-full": does(load, lambda result, _: result.email is None is result.mcp_config),
    "settings-get-provider_tokens_set": does(
        load, lambda result, body: result.provider_tokens_set == body["provider_tokens_set"]
    ),
    "settings-post-empty-object": does(lambda client, _: client.settings.store(None, {})),
    "settings-post-full": does(lambda client, _: client.settings.store(None, full())),
    "settings-roundtrip-post": does(
        lambda client, _: client.settings.store(
            Settings.model_validate(exchange("1.2.1", "settings-get-full").answer.body), {"language": "fr"}
        )
    ),
    "settings-post-mcp-null": does(changing(mcp_config=None)),
    "settings-post-mcp-empty-lists": does(changing(**servers())),
    "settings-post-mcp-only-sse": does(changing(**servers(sse_servers=(SseServer(url="https://x.example"),)))),
    "settings-invalid-mcp-bad-url": in_list("sse_servers", "url", SseServer(url="nope")),
    "settings-invalid-mcp-stdio-bad-name": in_list(
        "stdio_servers", "name", StdioServer(name="bad name!", command="npx")
    ),
    "settings-invalid-mcp-timeout-0": in_list(
        "shttp_servers", "timeout", ShttpServer(url="https://a.example", timeout=0)
    ),
    "settings-invalid-mcp-timeout-null": does(
        changing(**servers(shttp_servers=(ShttpServer(url="https://a.example", timeout=None),)))
    ),
    "settings-invalid-mcp-stdio-duplicate-names": does(
        changing(
            **servers(stdio_servers=(StdioServer(name="fs", command="npx"), StdioServer(name="fs", command="uvx")))
        )
    ),
    "settings-invalid-condenser-19": complained("condenser_max_size", condenser_max_size=19),
    "settings-invalid-max_iterations-string": complained("max_iterations", max_iterations="fifty"),
    "settings-invalid-max_iterations-huge": does(changing(max_iterations=10**30)),
    "settings-invalid-language-number": complained("language", language=5),
    "settings-invalid-unknown-field": does(changing(zzz_unknown=1)),
}

SECRETS: Mapping[str, Case] = {
    "no-key-secrets": refused(lambda client, _: client.secrets.list(), ErrorKind.AUTH),
    "secrets-list-empty": does(lambda client, _: client.secrets.list(), same_secrets),
    "secrets-list": does(lambda client, _: client.secrets.list(), same_secrets),
    "secrets-put-no-store": refused(
        lambda client, _: client.secrets.update("A", new_name="A", description="x"), MISSING, beside=NONE_HELD
    ),
    "secrets-delete-no-store": does(lambda client, _: client.secrets.delete("A")),
    "secrets-create": does(
        lambda client, _: client.secrets.create("MY_TOKEN", SecretStr("v1"), "first"), beside=NONE_HELD
    ),
    "secrets-create-duplicate": kept_back(
        lambda client, _: client.secrets.create("MY_TOKEN", SecretStr("v1")), ErrorKind.CONFLICT, HELD
    ),
    "secrets-create-empty-name": kept_back(lambda client, _: client.secrets.create("", SecretStr("x"))),
    "secrets-create-odd-name": kept_back(lambda client, _: client.secrets.create("a b/c", SecretStr("x"))),
    "secrets-update-description": does(
        lambda client, _: client.secrets.update("MY_TOKEN", new_name="MY_TOKEN", description="changed"), beside=HELD
    ),
    "secrets-update-value-ignored": kept_back(
        lambda client, _: client.secrets.replace_value("MY_TOKEN", SecretStr("newv")), ErrorKind.NOT_OFFERED
    ),
    "secrets-delete": does(lambda client, _: client.secrets.delete("OTHER")),
    "secrets-delete-slash-name": refused(lambda client, _: client.secrets.delete("a b/c"), MISSING),
    "secrets-delete-unknown": refused(lambda client, _: client.secrets.delete("NOPE"), MISSING),
    "git-providers-bad-token": refused(
        lambda client, _: client.secrets.set_tokens({"github": ProviderToken(token=SecretStr("ghp_bogus"))}), INVALID
    ),
    "git-providers-host-only": does(
        lambda client, _: client.secrets.set_tokens({"gitlab": ProviderToken(host="gitlab.example")})
    ),
    "git-providers-unset": does(lambda client, _: client.secrets.clear_tokens()),
}

OTHERS: Mapping[str, Case] = {
    "options-agents": does(lambda client, _: client.options.agents(), lambda result, body: list(result) == body),
    "options-security-analyzers": does(
        lambda client, _: client.options.security_analyzers(), lambda result, body: list(result) == body
    ),
    "conv-patch-title": refused(
        lambda client, one: client.conversations.rename(one.part(1), one.body["title"]), ErrorKind.NOT_OFFERED
    ),
    "conv-delete-unknown": refused(lambda client, one: client.conversations.delete(one.part(1)), ErrorKind.NOT_OFFERED),
    "conv-download": refused(lambda client, one: client.conversations.trajectory(one.part(2)), SERVER),
}

FLAT: Mapping[str, Case] = {**SETTINGS, **SECRETS, **OTHERS}
