"""Exchanges of release 1.11.0: nested settings, profiles, secrets, and what only that release answers so."""

from collections.abc import Mapping
from typing import Any

from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind
from quarterdeck.client.models.mcp import McpConfig, ShttpServer, SseServer, StdioServer
from quarterdeck.client.models.settings import ProviderToken, Settings
from tests.client.exchanges.replay import SERVERS, Case, Exchange, Use, does, kept_back, refused
from tests.client.exchanges.shared import INVALID, MISSING, SERVER, WRONG_API
from tests.client.fakes import Answer

LIST = "GET /api/v1/secrets/search"
HELD = {LIST: Answer({"items": [{"name": "MY_TOKEN", "description": "first"}], "next_page_id": None})}
NONE_HELD = {LIST: Answer({"items": [], "next_page_id": None})}
SCHEMA = {"GET /api/v1/settings/agent-schema": Answer({"model_name": "AgentSettings", "sections": []})}
CONFLICT = ErrorKind.CONFLICT


def load(client: Client, _: Exchange) -> Any:
    return client.settings.load()


def changing(changes: Mapping[str, Any]) -> Use:
    return lambda client, _: client.settings.store(None, changes)


def stores(**changes: Any) -> Case:
    return does(changing(changes))


def never_sends(**changes: Any) -> Case:
    return kept_back(changing(changes))


def mcp(**lists: Any) -> McpConfig:
    return McpConfig(**lists)


def named(server: SseServer | ShttpServer, name: str, **members: Any) -> Any:
    return type(server).model_validate({**server.model_dump(exclude_unset=True), "name": name, **members})


def same_record(result: Settings | None, body: Any) -> bool:
    """Whether canonical fields and leaves hold what stands in their places of the record."""
    assert result is not None
    agent, conversation = body["agent_settings"], body["conversation_settings"]
    expected = {
        "language": body["language"],
        "email": body["email"],
        "max_budget_per_task": body["max_budget_per_task"],
        "llm_model": agent["llm"]["model"],
        "llm_base_url": agent["llm"]["base_url"],
        "enable_default_condenser": agent["condenser"]["enabled"],
        "max_iterations": conversation["max_iterations"],
        "confirmation_mode": conversation["confirmation_mode"],
        "llm_api_key_set": body["llm_api_key_set"],
    }
    llm = {place.split(".")[2]: value for place, value in result.leaves.items() if ".llm." in place}
    read = {name: getattr(result, name) for name in expected}
    return read == expected and bool(llm == agent["llm"])


def same_secrets(result: Any, body: Any) -> bool:
    return bool(body["items"] == [secret.model_dump() for secret in result])


def same_profiles(result: Any, body: Any) -> bool:
    read = [profile.model_dump() for profile in result.items]
    return (read, result.active) == (body["profiles"], body["active_profile"])


ALL_FIELDS = {
    "language": "en",
    "enable_sound_notifications": True,
    "enable_proactive_conversation_starters": False,
    "user_consents_to_analytics": True,
    "remote_runtime_resource_factor": 2,
    "sandbox_base_container_image": "base:1",
    "sandbox_runtime_container_image": "rt:1",
    "search_api_key": SecretStr("tvly-1"),
    "sandbox_api_key": SecretStr("sbx-1"),
    "max_budget_per_task": 12.5,
    "email": "a@example.com",
    "email_verified": True,
    "git_user_name": "Ann",
    "git_user_email": "ann@example.com",
    "disabled_skills": ["a"],
    "sandbox_grouping_strategy": "ADD_TO_ANY",
    "git_full_clone": True,
    "llm_model": "openai/fake",
    "llm_api_key": SecretStr("sk-llm-1"),
    "llm_base_url": "http://llm.example/v1",
    "enable_default_condenser": False,
    "condenser_max_size": 120,
    "max_iterations": 50,
    "confirmation_mode": True,
    "security_analyzer": "llm",
    "mcp_config": mcp(
        stdio_servers=(
            StdioServer(name="fs", command="npx", args=("-y", "server-fs"), env={"TOKEN": SecretStr("env-secret")}),
        ),
        sse_servers=(
            named(
                SseServer(url="https://sse.example/sse"),
                "sse",
                transport="sse",
                headers={"Authorization": "Bearer sse-key"},
            ),
        ),
        shttp_servers=(
            named(ShttpServer(url="https://shttp.example/mcp"), "http", transport="http", auth="shttp-key"),
        ),
    ),
}
LLM = "agent_settings.llm"

SETTINGS: Mapping[str, Case] = {
    "settings-no-key": refused(load, ErrorKind.AUTH),
    "settings-wrong-key": refused(load, ErrorKind.AUTH),
    "settings-other-generation-path": refused(load, WRONG_API, server=SERVERS["1.2.1"]),
    "settings-get-none-stored": does(load, lambda result, _: result is None),
    "settings-get-after-empty-object": does(load, same_record),
    "settings-get-full": does(load, same_record),
    "settings-conversation-schema": does(
        lambda client, _: client.settings.schema(), lambda result, _: result == (), beside=SCHEMA
    ),
    "settings-bricked-get": refused(load, SERVER),
    "settings-bricked-post-fix-attempt": refused(
        changing({"enable_sound_notifications": False}), INVALID, ("enable_sound_notifications",)
    ),
    "settings-bricked-profiles": refused(lambda client, _: client.profiles.list(), SERVER),
    "settings-bricked-secrets": does(lambda client, _: client.secrets.list(), same_secrets),
    "settings-post-empty-object": stores(),
    "settings-post-full": does(changing(ALL_FIELDS)),
    "settings-partial-empty-object": stores(),
    "settings-partial-language-only": stores(language="fr"),
    "settings-masked-search_api_key": never_sends(search_api_key=SecretStr("**********")),
    "settings-llm-api_key-null": stores(llm_api_key=None),
    "settings-llm-api_key-empty": stores(llm_api_key=SecretStr("")),
    "settings-llm-model-only": stores(llm_model="openai/other"),
    "settings-llm-base_url-empty": stores(llm_base_url=None),
    "settings-mcp-empty": stores(mcp_config=None),
    "settings-mcp-replace-one": stores(
        mcp_config=mcp(shttp_servers=(named(ShttpServer(url="https://x.example/mcp"), "only"),))
    ),
    "settings-condenser-max_size-small": refused(
        changing({"condenser_max_size": 19}), INVALID, ("condenser_max_size",)
    ),
    "settings-max_iterations-0": refused(changing({"max_iterations": 0}), INVALID, ("max_iterations",)),
    "settings-temperature-bad": refused(
        changing({f"{LLM}.temperature": "hot"}), INVALID, ("agent_settings.llm.temperature",)
    ),
    "settings-temperature-9": stores(**{f"{LLM}.temperature": 9}),
    "settings-agent_kind-acp": stores(**{"agent_settings.agent_kind": "acp"}),
    "settings-agent_kind-openhands": stores(
        llm_model="openai/fake",
        llm_api_key=SecretStr("sk-llm-1"),
        llm_base_url="http://llm.example/v1",
        **{"agent_settings.agent_kind": "openhands"},
    ),
    "settings-agent_kind-bad": refused(changing({"agent_settings.agent_kind": "zzz"}), INVALID),
}

PROFILES: Mapping[str, Case] = {
    "settings-profiles-none-stored": does(lambda client, _: client.profiles.list(), same_profiles),
    "settings-profile-save-none-stored": refused(lambda client, _: client.profiles.save("p1"), MISSING),
    "profiles-save-current": does(lambda client, _: client.profiles.save("main")),
    "profiles-bad-name": kept_back(lambda client, _: client.profiles.save("bad name")),
    "profiles-list": does(lambda client, _: client.profiles.list(), same_profiles),
    "profiles-list-active": does(lambda client, _: client.profiles.list(), same_profiles),
    "profiles-activate": does(lambda client, _: client.profiles.activate("fast")),
    "profiles-activate-unknown": refused(lambda client, _: client.profiles.activate("zzz"), MISSING),
    "profiles-rename": does(lambda client, _: client.profiles.rename("fast", "quick")),
    "profiles-rename-conflict": refused(lambda client, _: client.profiles.rename("quick", "main"), CONFLICT),
    "profiles-rename-unknown": refused(lambda client, _: client.profiles.rename("zzz", "y"), MISSING),
    "profiles-limit": refused(lambda client, _: client.profiles.save("one-too-many"), CONFLICT),
    "profiles-delete": does(lambda client, _: client.profiles.delete("quick")),
    "profiles-delete-unknown": does(lambda client, _: client.profiles.delete("zzz")),
}

SECRETS: Mapping[str, Case] = {
    "no-key-secrets": refused(lambda client, _: client.secrets.list(), ErrorKind.AUTH),
    "secrets-search-empty": does(lambda client, _: client.secrets.list(), same_secrets),
    "secrets-search": does(lambda client, _: client.secrets.list(), same_secrets),
    "secrets-delete-no-store": does(lambda client, _: client.secrets.delete("A")),
    "secrets-create": does(
        lambda client, _: client.secrets.create("MY_TOKEN", SecretStr("v1"), "first"), beside=NONE_HELD
    ),
    "secrets-create-duplicate-overwrites": does(
        lambda client, _: client.secrets.replace_value("MY_TOKEN", SecretStr("v2")), beside=HELD
    ),
    "secrets-create-odd-name": kept_back(lambda client, _: client.secrets.create("a b/c", SecretStr("x"))),
    "secrets-create-reserved-name": does(
        lambda client, _: client.secrets.create("OPENHANDS_API_KEY", SecretStr("x")), beside=HELD
    ),
    "secrets-update": does(
        lambda client, _: client.secrets.update("MY_TOKEN", new_name="MY_TOKEN", description="changed"), beside=HELD
    ),
    "secrets-delete": does(lambda client, _: client.secrets.delete("OTHER")),
    "secrets-delete-unknown": refused(lambda client, _: client.secrets.delete("NOPE"), MISSING),
    "secrets-delete-slash": refused(lambda client, _: client.secrets.delete("a b/c"), MISSING),
    "git-providers-bad-token": refused(
        lambda client, _: client.secrets.set_tokens({"github": ProviderToken(token=SecretStr("ghp_bogus"))}), INVALID
    ),
    "git-providers-host-only": does(
        lambda client, _: client.secrets.set_tokens({"gitlab": ProviderToken(host="gitlab.example")})
    ),
    "git-providers-unset": does(lambda client, _: client.secrets.clear_tokens()),
}

OTHERS: Mapping[str, Case] = {
    "config-models-search-verified": does(
        lambda client, _: client.options.models(),
        lambda result, body: list(result) == [f"{item['provider']}/{item['name']}" for item in body["items"]],
    ),
    "conv-patch-title": does(lambda client, one: client.conversations.rename(one.part(1), one.body["title"])),
    "conv-delete": does(lambda client, one: client.conversations.delete(one.part(1))),
    "conv-delete-shared-sandbox": does(lambda client, one: client.conversations.delete(one.part(1))),
    "conv-delete-again": refused(lambda client, one: client.conversations.delete(one.part(1)), MISSING),
    "conv-delete-unknown": refused(lambda client, one: client.conversations.delete(one.part(1)), MISSING),
}

NESTED: Mapping[str, Case] = {**SETTINGS, **PROFILES, **SECRETS, **OTHERS}
