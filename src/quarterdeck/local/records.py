"""Parts of responses that all resources share: pages, times, keys, and confirmations."""

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Generic, TypeVar
from uuid import UUID

from fastapi import Depends, HTTPException, Query, Request, Response
from pydantic import SecretStr
from typing_extensions import TypedDict

T = TypeVar("T")
Limit = Annotated[int, Query(ge=1, le=100)]
AGENT_PREFIX = "/agent"
"""The path of the agent servers of all sandboxes."""


def stamp(moment: datetime) -> str:
    """Return a time in UTC with microseconds and Z, so that the texts sort like the times."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def now() -> str:
    """Return the current time as text."""
    return stamp(datetime.now(UTC))


def new_key() -> SecretStr:
    """Return a random key."""
    return SecretStr(secrets.token_urlsafe(32))


def json_answer(body: object, status: int = 200) -> Response:
    """Return a JSON response in ASCII, which can also contain invalid Unicode."""
    return Response(json.dumps(body), status, media_type="application/json")


class Done(TypedDict):
    """The response to a change."""

    success: bool


class Message(TypedDict):
    """The response to a change, in words."""

    message: str


class Page(TypedDict, Generic[T]):
    """Part of a list, and the id of the next part; None at the end."""

    items: list[T]
    next_page_id: str | None


@dataclass(frozen=True)
class Window:
    """The requested part of a list; a page's id is the decimal offset of its first row, as on real servers."""

    page_id: Annotated[str | None, Query(pattern=r"^\d{1,12}$", description="As given by the page before")] = None
    limit: Limit = 100

    @property
    def offset(self) -> int:
        """The number of rows before it."""
        return int(self.page_id or 0)

    @property
    def sql(self) -> str:
        """The end of a query for it, newest first, with one more row to find out whether the list continues."""
        return f" ORDER BY created_at DESC, rowid DESC LIMIT {self.limit + 1} OFFSET {self.offset}"

    def page(self, read: Sequence[T]) -> Page[T]:
        """Return the page from the rows of such a query."""
        more = len(read) > self.limit
        return Page(items=list(read[: self.limit]), next_page_id=str(self.offset + self.limit) if more else None)


Paging = Annotated[Window, Depends()]


async def _agent_server(request: Request) -> str:
    return f"{str(request.base_url).rstrip('/')}{AGENT_PREFIX}"


AgentServerUrl = Annotated[str, Depends(_agent_server)]
"""The address for requests to agents, with the host name by which this request reached the service."""


def hex_ids(ids: Sequence[str]) -> list[str]:
    """Return uuids, with or without dashes, as they are stored; raises 400 for too many or invalid ones."""
    if len(ids) >= 100:
        raise HTTPException(400, "Too many ids requested. Maximum is 99.")
    try:
        return [UUID(one).hex for one in ids]
    except ValueError:
        raise HTTPException(400, f"Invalid UUID format for ids: {list(ids)}") from None
