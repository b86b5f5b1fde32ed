"""What the service answers with, whatever the resource: pages, times, keys, and that something was done."""

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
"""Where the agent servers of all sandboxes are."""


def stamp(moment: datetime) -> str:
    """Write a time in UTC with microseconds and Z, so that texts sort as times do."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def now() -> str:
    """The time now."""
    return stamp(datetime.now(UTC))


def new_key() -> SecretStr:
    """A key that nobody guesses."""
    return SecretStr(secrets.token_urlsafe(32))


def json_answer(body: object, status: int = 200) -> Response:
    """A JSON answer in ASCII, which also holds text that is no valid Unicode."""
    return Response(json.dumps(body), status, media_type="application/json")


class Done(TypedDict):
    """A change was made."""

    success: bool


class Message(TypedDict):
    """A change was made, in words."""

    message: str


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


async def _agent_server(request: Request) -> str:
    return f"{str(request.base_url).rstrip('/')}{AGENT_PREFIX}"


AgentServerUrl = Annotated[str, Depends(_agent_server)]
"""Where the agents of conversations are asked, by the name under which this service was asked itself."""


def hex_ids(ids: Sequence[str]) -> list[str]:
    """Ids as they are stored, from uuids with or without dashes; raises 400 for too many and for what is no uuid."""
    if len(ids) >= 100:
        raise HTTPException(400, "Too many ids requested. Maximum is 99.")
    try:
        return [UUID(one).hex for one in ids]
    except ValueError:
        raise HTTPException(400, f"Invalid UUID format for ids: {list(ids)}") from None
