"""What the service answers with: records, pages of them, and the texts of times."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Depends, Query
from typing_extensions import TypedDict

T = TypeVar("T")
Limit = Annotated[int, Query(ge=1, le=100)]


def stamp(moment: datetime) -> str:
    """Write a time in UTC with microseconds and Z, so that texts sort as times do; one without a zone means UTC."""
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return aware.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def now() -> str:
    """The time now."""
    return stamp(datetime.now(UTC))


class Page(TypedDict, Generic[T]):
    """Part of a list, and the id of the part after it; None at the end."""

    items: list[T]
    next_page_id: str | None


@dataclass(frozen=True)
class Window:
    """Which part of a list is asked for; a page's id is the decimal offset of its first row, as on real servers."""

    page_id: Annotated[str | None, Query(pattern=r"^\d{1,12}$", description="As given by the page before")] = None
    limit: Limit = 100

    @property
    def offset(self) -> int:
        """How many rows come before it."""
        return int(self.page_id or 0)

    @property
    def sql(self) -> str:
        """The end of a query that reads it, and one row more, to know whether the list goes on."""
        return f" LIMIT {self.limit + 1} OFFSET {self.offset}"

    def page(self, read: Sequence[T]) -> Page[T]:
        """The page, of what such a query read."""
        more = len(read) > self.limit
        return Page(items=list(read[: self.limit]), next_page_id=str(self.offset + self.limit) if more else None)


Paging = Annotated[Window, Depends()]


class ExposedUrl(TypedDict):
    """One address of a sandbox; its query holds the sandbox's key."""

    name: str
    url: str
    port: int


class SandboxRecord(TypedDict):
    """A sandbox; key and addresses are told only while it is RUNNING."""

    id: str
    created_by_user_id: str | None
    sandbox_spec_id: str
    status: str
    session_api_key: str | None
    exposed_urls: list[ExposedUrl] | None
    created_at: str


class SpecRecord(TypedDict):
    """A template a sandbox is started from."""

    id: str
    command: list[str] | None
    created_at: str
    initial_env: dict[str, str]
    working_dir: str


class ConversationRecord(TypedDict):
    """A conversation; what its agent is at is told only while its sandbox runs."""

    id: str
    created_by_user_id: str | None
    sandbox_id: str
    selected_repository: str | None
    selected_branch: str | None
    git_provider: str | None
    title: str | None
    trigger: str | None
    pr_number: list[int]
    llm_model: str | None
    metrics: dict[str, Any] | None
    parent_conversation_id: str | None
    sub_conversation_ids: list[str]
    public: bool | None
    created_at: str
    updated_at: str
    sandbox_status: str
    execution_status: str | None
    conversation_url: str | None
    session_api_key: str | None


class StartTaskRecord(TypedDict):
    """The work of creating one conversation."""

    id: str
    created_by_user_id: str | None
    status: str
    detail: str | None
    app_conversation_id: str | None
    sandbox_id: str | None
    agent_server_url: str | None
    request: dict[str, Any]
    created_at: str
    updated_at: str


class Done(TypedDict):
    """A change was made."""

    success: bool


class Message(TypedDict):
    """A change was made, in words."""

    message: str
