"""Start tasks: the work of creating a conversation."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from quarterdeck.client.models.base import Moment, Wire


def _message(value: object) -> object:
    """The text of a first message, whatever else is in it; None where there is none that can be read."""
    parts = value.get("content") if isinstance(value, dict) else None
    if not isinstance(parts, list):
        return None
    texts = [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
    return "\n".join(texts) or None


class StartRequest(Wire):
    """The part of a create request that a start task echoes, that a list can show, and that can be asked for again."""

    title: str | None = None
    selected_repository: str | None = None
    selected_branch: str | None = None
    git_provider: str | None = None
    sandbox_id: str | None = None
    llm_model: str | None = None
    message: Annotated[str | None, BeforeValidator(_message)] = Field(None, validation_alias="initial_message")


class StartTask(Wire):
    """The work of creating one conversation; `app_conversation_id` is set only at READY."""

    id: str
    status: str
    detail: str | None = None
    app_conversation_id: str | None = None
    sandbox_id: str | None = None
    request: StartRequest | None = None
    created_at: Moment = None
    updated_at: Moment = None
