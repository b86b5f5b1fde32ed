"""A stand-in for a server of the nested generation: merges diffs, hides secrets, fills in addresses of models."""

import copy
from typing import Any

from tests.client.fakes import NO_ROUTE, UNSTORED, Answer, Asked

ADDRESSES = {"anthropic": "https://api.anthropic.example", "mistral": "https://api.mistral.example/v1"}
"""Providers whose address the server fills in where none is stored."""
SECTIONS = ("agent_settings", "conversation_settings")
RECORD: dict[str, Any] = {
    "language": "en",
    "enable_sound_notifications": False,
    "enable_proactive_conversation_starters": True,
    "user_consents_to_analytics": None,
    "remote_runtime_resource_factor": None,
    "disabled_skills": None,
    "search_api_key": None,
    "sandbox_api_key": None,
    "max_budget_per_task": 12.5,
    "email": None,
    "git_user_name": "Ann",
    "git_full_clone": False,
    "sandbox_grouping_strategy": "NO_GROUPING",
    "agent_settings": {
        "agent_kind": "openhands",
        "agent": "CodeActAgent",
        "tools": None,
        "llm": {
            "model": "openai/fake",
            "api_key": None,
            "base_url": None,
            "temperature": None,
            "num_retries": 5,
            "litellm_extra_body": {},
        },
        "mcp_config": {},
        "agent_context": {"current_datetime": "2026-01-01T00:00:00Z"},
        "condenser": {"enabled": True, "max_size": 240},
        "verification": {"critic_enabled": False, "critic_api_key": None},
    },
    "conversation_settings": {"max_iterations": 500, "confirmation_mode": False, "security_analyzer": "llm"},
    "llm_api_key_set": False,
    "search_api_key_set": False,
    "provider_tokens_set": {},
}


class NestedServer:
    """Keeps a record as release 1.11 does; `record` is what it holds, secrets included, and `loads` counts readings."""

    def __init__(self, record: dict[str, Any] | None = None) -> None:
        self.record = copy.deepcopy(RECORD) if record is None else record
        self.stored = True
        self.loads = 0

    def __call__(self, asked: Asked) -> Answer:
        match f"{asked.method} {asked.path}":
            case "GET /api/v1/settings":
                return Answer(self._loaded()) if self.stored else UNSTORED
            case "POST /api/v1/settings":
                self._store(asked.body)
                return Answer({"message": "Settings stored"})
        return NO_ROUTE

    def _store(self, body: dict[str, Any]) -> None:
        body = copy.deepcopy(body)
        for section in SECTIONS:
            diff = body.pop(f"{section}_diff", None)
            if isinstance(diff, dict):
                servers = diff.pop("mcp_config", None)
                _merge(self.record[section], diff)
                self.record[section] |= {} if servers is None else {"mcp_config": servers}
        self.record |= body
        llm = self.record["agent_settings"]["llm"]
        # An empty text is stored as nothing; nothing is filled in, at every store.
        llm["base_url"] = llm["base_url"] or (None if llm["base_url"] == "" else address_of(llm["model"]))

    def _loaded(self) -> dict[str, Any]:
        """What a load tells: another moment every time, no secret of a tool server, and whether there are keys."""
        self.loads += 1
        told = copy.deepcopy(self.record)
        agent = told["agent_settings"]
        agent["agent_context"]["current_datetime"] = f"2026-01-01T00:00:{self.loads:02}Z"
        told["llm_api_key_set"] = bool(agent["llm"]["api_key"])
        told["search_api_key_set"] = bool(told["search_api_key"])
        if agent["llm"]["base_url"] == address_of(agent["llm"]["model"]):
            agent["llm"]["base_url"] = None
        agent["llm"]["api_key"] = told["search_api_key"] = told["sandbox_api_key"] = None
        for server in agent["mcp_config"].values():
            for name in ("env", "headers"):
                server.pop(name, None)
            if "auth" in server:
                server["auth"] = {"strategy": server["auth"]["strategy"]}
        return told


def address_of(model: str) -> str | None:
    """The address of a model's provider."""
    return ADDRESSES.get(model.partition("/")[0])


def _merge(record: dict[str, Any], diff: dict[str, Any]) -> None:
    for name, value in diff.items():
        if isinstance(value, dict) and isinstance(record.get(name), dict):
            _merge(record[name], value)
        else:
            record[name] = value
