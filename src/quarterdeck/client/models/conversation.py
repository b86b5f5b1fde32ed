"""App conversations, what they have cost, and what creates them."""

from typing import Annotated

from pydantic import SecretStr

from quarterdeck.client.models.base import Moment, NullIsEmpty, Wire


class TokenUsage(Wire):
    """Tokens used so far, counts."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    context_window: int = 0


class Metrics(Wire):
    """Cost so far and at most, in US dollars; it lags behind and is zero at first."""

    model_name: str | None = None
    accumulated_cost: float | None = None
    max_budget_per_task: float | None = None
    accumulated_token_usage: TokenUsage | None = None


class Conversation(Wire):
    """A conversation as its server reported it; both statuses are the server's own words."""

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


class NewConversation(Wire):
    """What a conversation is created with; everything may be left out."""

    message: str | None = None
    title: str | None = None
    selected_repository: str | None = None
    selected_branch: str | None = None
    git_provider: str | None = None
    sandbox_id: str | None = None
    llm_model: str | None = None
