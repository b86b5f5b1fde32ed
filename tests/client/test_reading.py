"""Records out of what JSON holds: what is taken as it comes, what makes a record unreadable, and what stays hidden."""

from typing import Any

import pytest

from quarterdeck.client.models.base import plain, read_as
from quarterdeck.client.models.conversation import Conversation
from quarterdeck.client.models.sandbox import Sandbox, SandboxSpec

AGENT_SERVER = {"name": "AGENT_SERVER", "url": "http://box:8000", "port": 8000}
VSCODE = {"name": "VSCODE", "url": "http://box:8001/?tkn=sentinel-1"}


def sandbox(*urls: dict[str, Any], **members: Any) -> Sandbox:
    return read_as(Sandbox, {"id": "s", "status": "RUNNING", "exposed_urls": list(urls), **members})


def conversation(**members: Any) -> Conversation:
    return read_as(Conversation, {"id": "c", **members})


def test_what_a_record_shows_of_itself_holds_no_secret() -> None:
    shown = repr(sandbox(AGENT_SERVER, VSCODE, session_api_key="sentinel-2"))
    shown += repr(conversation(conversation_url="http://box/?k=sentinel-3", session_api_key="sentinel-4"))
    shown += repr(SandboxSpec.model_validate({"id": "i", "initial_env": {"KEY": "sentinel-5"}}))
    assert "sentinel" not in shown
    assert "AGENT_SERVER" in shown


def test_numbers_and_flags_are_taken_in_any_spelling() -> None:
    usage = {"prompt_tokens": "12", "completion_tokens": 3.0}
    metrics = {"accumulated_cost": "0.5", "max_budget_per_task": 2, "accumulated_token_usage": usage}
    read = conversation(public=1, pr_number=["7", 8], metrics=metrics)
    assert (read.public, read.pr_number) == (True, (7, 8))
    assert read.metrics is not None
    assert (read.metrics.accumulated_cost, read.metrics.max_budget_per_task) == (0.5, 2.0)
    assert read.metrics.accumulated_token_usage is not None
    assert (
        read.metrics.accumulated_token_usage.prompt_tokens,
        read.metrics.accumulated_token_usage.completion_tokens,
    ) == (12, 3)


COST = {"model_name": "gpt-5", "accumulated_cost": 1.84, "max_budget_per_task": None}
USAGE = {
    "prompt_tokens": 2**40,
    "completion_tokens": 20,
    "cache_read_tokens": 3,
    "cache_write_tokens": 4,
    "reasoning_tokens": 5,
    "context_window": 200_000,
    "per_turn_token": 7,
}


@pytest.mark.parametrize("usage", [USAGE, None])
def test_what_a_conversation_cost_is_told_as_it_was_read(usage: dict[str, int] | None) -> None:
    told = COST | {"accumulated_token_usage": usage}
    assert plain(conversation(metrics=told))["metrics"] == told
