"""App conversations, their cost, and the start tasks that create them."""

from datetime import datetime
from math import isfinite
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, SecretStr
from pydantic.dataclasses import dataclass

from quarterdeck.client.models.base import LENIENT, Moment, NullIsEmpty, Wire, json_data


@dataclass(frozen=True, slots=True, config=LENIENT)
class TokenUsage:
    """Numbers of tokens used so far; `per_turn_token` are those of the last call."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    context_window: int = 0
    per_turn_token: int = 0


@dataclass(frozen=True, slots=True, config=LENIENT)
class Metrics:
    """Cost so far and its limit, in US dollars; it lags behind and is zero at first."""

    model_name: str | None = None
    accumulated_cost: float | None = None
    max_budget_per_task: float | None = None
    accumulated_token_usage: TokenUsage | None = None

    @property
    def cost(self) -> float | None:
        """The cost so far; None if it is missing or not a number."""
        cost = self.accumulated_cost
        return cost if cost is not None and isfinite(cost) else None


@dataclass(frozen=True, slots=True, config=LENIENT)
class Conversation:
    """A conversation as its server returned it; both statuses are the server's own words."""

    id: str
    title: str | None = None
    sandbox_id: str | None = None
    sandbox_status: str | None = None
    execution_status: str | None = None
    selected_repository: str | None = None
    selected_branch: str | None = None
    git_provider: str | None = None
    trigger: str | None = None
    pr_number: Annotated[tuple[int, ...], NullIsEmpty] = ()
    llm_model: str | None = None
    metrics: Metrics | None = None
    parent_conversation_id: str | None = None
    sub_conversation_ids: Annotated[tuple[str, ...], NullIsEmpty] = ()
    public: bool | None = None
    created_by_user_id: str | None = None
    conversation_url: SecretStr | None = None
    session_api_key: SecretStr | None = None
    agent_kind: str | None = None
    created_at: Moment = None
    updated_at: Moment = None

    @property
    def changed_at(self) -> datetime | None:
        """When it last changed, if the server tells."""
        return self.updated_at or self.created_at

    @property
    def cost(self) -> float | None:
        """Its cost so far in US dollars; None if it is missing or not a number."""
        return self.metrics.cost if self.metrics is not None else None


def _message(value: object) -> object:
    """Return a first message as text, joined from the text parts in a start task; None if there is none."""
    parts = value.get("content") if isinstance(value, dict) else None
    if not isinstance(parts, list):
        return value if isinstance(value, str) else None
    texts = [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
    return "\n".join(texts) or None


class NewConversation(Wire):
    """What a conversation is created with, and what its start task repeats of that; every member is optional."""

    title: str | None = None
    selected_repository: str | None = None
    selected_branch: str | None = None
    git_provider: str | None = None
    sandbox_id: str | None = None
    llm_model: str | None = None
    message: Annotated[str | None, BeforeValidator(_message)] = Field(None, validation_alias="initial_message")


def conversation_plain(conversation: Conversation) -> dict[str, Any]:
    """Return a conversation as JSON data, without its sandbox's key and its address, which may contain the key."""
    return json_data(conversation, "session_api_key", "conversation_url")


@dataclass(frozen=True, slots=True, config=LENIENT)
class StartTask:
    """The creation of one conversation; `app_conversation_id` is set only in READY."""

    id: str
    status: str
    detail: str | None = None
    app_conversation_id: str | None = None
    sandbox_id: str | None = None
    request: NewConversation | None = None
    created_at: Moment = None
    updated_at: Moment = None

    @property
    def changed_at(self) -> datetime | None:
        """When it last changed, if the server tells."""
        return self.updated_at or self.created_at
