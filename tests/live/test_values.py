"""Valid values for every setting, on servers of either generation: the live tests leave no field out."""

from collections.abc import Mapping
from typing import Any

from pydantic import SecretStr

from quarterdeck.settings.catalogue import CATALOGUE

VALUES: Mapping[str, tuple[Any, Any]] = {
    "llm_model": ("openai/gpt-4o", "anthropic/claude-sonnet-4-5"),
    "llm_api_key": (SecretStr("live-check-1"), SecretStr("live-check-2")),
    "llm_base_url": ("https://llm.example/v1", "https://gateway.example/v1"),
    "search_api_key": (SecretStr("tvly-live-check-1"), SecretStr("tvly-live-check-2")),
    "agent": ("CodeActAgent", "BrowsingAgent"),
    "max_iterations": (77, 1),
    "max_budget_per_task": (2.5, 40.0),
    "confirmation_mode": (True, False),
    "security_analyzer": ("llm", "none"),
    "enable_default_condenser": (False, True),
    "condenser_max_size": (20, 131),
    "sandbox_base_container_image": ("registry.example:5000/base/image:1.0", "python:3.13"),
    "sandbox_runtime_container_image": ("registry.example/runtime:2", "runtime:latest"),
    "remote_runtime_resource_factor": (2, 1),
    "sandbox_api_key": (SecretStr("live-check-3"), SecretStr("live-check-4")),
    "sandbox_grouping_strategy": ("ADD_TO_ANY", "NO_GROUPING"),
    "git_user_name": ("Åsa Öberg", "Quarterdeck"),
    "git_user_email": ("asa@example.org", "deck@example.org"),
    "language": ("de", "zh-CN"),
    "enable_sound_notifications": (True, False),
    "enable_proactive_conversation_starters": (False, True),
    "enable_solvability_analysis": (False, True),
    "user_consents_to_analytics": (True, False),
    "email": ("ann@example.org", "bob@example.org"),
    "email_verified": (True, False),
    "disabled_skills": (["github"], ["docker", "npm"]),
    "git_full_clone": (True, False),
}
"""Two for each field that is typed in one line; MCP servers and provider tokens have tests of their own."""
LEAVES: Mapping[str, tuple[Any, ...]] = {
    "agent_settings.verification.critic_model_name": ("live-check", "Åsa's critic"),
    "agent_settings.verification.critic_api_key": (SecretStr("live-check-5"), SecretStr("live-check-6")),
    "agent_settings.condenser.keep_first": (3, 4),
    "agent_settings.llm.temperature": (0.25, 1),
    "agent_settings.llm.reasoning_effort": ("low", "medium", "high"),
    "agent_settings.enable_sub_agents": (True, False),
    "agent_settings.tools": ([], [{"name": "terminal", "params": {}}]),
    "agent_settings.llm.extra_headers": ({"X-One": "1", "X-Two": "2"}, {"X-Two": "3"}),
}
"""Values for a setting of each type that only a server's own forms know, and that it only keeps.

It acts on some others at every load: one that names a tokenizer is looked up on the network, for minutes where none is.
"""


def test_every_field_of_the_catalogue_is_tried_on_real_servers() -> None:
    assert {entry.key for entry in CATALOGUE} - VALUES.keys() == {"mcp_config", "secrets_store"}
