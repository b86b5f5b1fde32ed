"""App conversations, what creates them, and the start tasks that do the work (contract section g)."""

from datetime import datetime
from typing import NamedTuple

from pydantic import SecretStr

from quarterdeck.client.models.members import flag, members, moment, optional, secret, several, text, whole, word
from quarterdeck.client.models.metrics import Metrics, read_metrics


class Conversation(NamedTuple):
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
    pr_number: tuple[int, ...] = ()
    llm_model: str | None = None
    metrics: Metrics | None = None
    parent_conversation_id: str | None = None
    sub_conversation_ids: tuple[str, ...] = ()
    public: bool | None = None
    created_by_user_id: str | None = None
    conversation_url: SecretStr | None = None
    session_api_key: SecretStr | None = None
    agent_kind: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


class NewConversation(NamedTuple):
    """What a conversation is created with; everything may be left out."""

    message: str | None = None
    title: str | None = None
    selected_repository: str | None = None
    selected_branch: str | None = None
    git_provider: str | None = None
    sandbox_id: str | None = None
    llm_model: str | None = None


class StartRequest(NamedTuple):
    """The part of a create request that a start task echoes, that a list can show, and that can be asked for again."""

    title: str | None = None
    selected_repository: str | None = None
    selected_branch: str | None = None
    git_provider: str | None = None
    sandbox_id: str | None = None
    llm_model: str | None = None
    message: str | None = None


class StartTask(NamedTuple):
    """The work of creating one conversation; `app_conversation_id` is set only at READY."""

    id: str
    status: str
    detail: str | None = None
    app_conversation_id: str | None = None
    sandbox_id: str | None = None
    request: StartRequest | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


def read_conversation(value: object) -> Conversation:
    """Read a conversation; raises ValueError."""
    given = members(value).get
    return Conversation(
        id=text(given("id")),
        title=optional(text, given("title")),
        sandbox_id=optional(text, given("sandbox_id")),
        sandbox_status=optional(word, given("sandbox_status")),
        execution_status=optional(word, given("execution_status")),
        selected_repository=optional(word, given("selected_repository")),
        selected_branch=optional(word, given("selected_branch")),
        git_provider=optional(word, given("git_provider")),
        trigger=optional(word, given("trigger")),
        pr_number=several(whole, given("pr_number")),
        llm_model=optional(word, given("llm_model")),
        metrics=optional(read_metrics, given("metrics")),
        parent_conversation_id=optional(text, given("parent_conversation_id")),
        sub_conversation_ids=several(text, given("sub_conversation_ids")),
        public=optional(flag, given("public")),
        created_by_user_id=optional(word, given("created_by_user_id")),
        conversation_url=optional(secret, given("conversation_url")),
        session_api_key=optional(secret, given("session_api_key")),
        agent_kind=optional(word, given("agent_kind")),
        created_at=moment(given("created_at")),
        updated_at=moment(given("updated_at")),
    )


def read_start_task(value: object) -> StartTask:
    """Read a start task; raises ValueError."""
    given = members(value).get
    return StartTask(
        id=text(given("id")),
        status=text(given("status")),
        detail=optional(text, given("detail")),
        app_conversation_id=optional(text, given("app_conversation_id")),
        sandbox_id=optional(text, given("sandbox_id")),
        request=optional(_request, given("request")),
        created_at=moment(given("created_at")),
        updated_at=moment(given("updated_at")),
    )


def _request(value: object) -> StartRequest:
    given = members(value).get
    return StartRequest(
        optional(text, given("title")),
        optional(text, given("selected_repository")),
        optional(text, given("selected_branch")),
        optional(word, given("git_provider")),
        optional(text, given("sandbox_id")),
        optional(word, given("llm_model")),
        _message(given("initial_message")),
    )


def _message(value: object) -> str | None:
    """The text of a first message, whatever else is in it; None where there is none that can be read."""
    parts = value.get("content") if isinstance(value, dict) else None
    if not isinstance(parts, list):
        return None
    texts = [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
    return "\n".join(texts) or None
