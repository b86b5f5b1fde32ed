"""``/api/v1/app-conversations`` and the start tasks under it."""

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, HTTPException, Query

from quarterdeck.local.bodies import ChangeConversationBody, StartConversationBody
from quarterdeck.local.conversations import Conversations, Filters
from quarterdeck.local.records import ConversationRecord, Done, Page, Paging, StartTaskRecord
from quarterdeck.local.routes.agent import AgentServerUrl
from quarterdeck.local.start_tasks import StartTasks

_MOST_IDS = 99


def conversations_router(conversations: Conversations, start_tasks: StartTasks) -> APIRouter:
    """List, count, create, change and delete conversations."""
    router = APIRouter(prefix="/app-conversations", tags=["Conversations"])

    @router.get("/search")
    async def search(
        filters: Annotated[Filters, Depends()], window: Paging, agents: AgentServerUrl
    ) -> Page[ConversationRecord]:
        """A page of conversations, newest first."""
        return await conversations.page(filters, window, agents)

    @router.get("/count")
    async def count(filters: Annotated[Filters, Depends()]) -> int:
        """How many conversations there are."""
        return await conversations.count(filters)

    @router.get("")
    async def read(
        window: Paging, agents: AgentServerUrl, ids: Annotated[list[str] | None, Query()] = None
    ) -> list[ConversationRecord | None] | Page[ConversationRecord]:
        """Conversations by id, null for those that do not exist; without ids the list, as documented."""
        if ids is None:
            return await conversations.page(Filters(), window, agents)
        wanted = _hex_ids(ids)
        found = await conversations.read(wanted, agents)
        return [found.get(one) for one in wanted]

    @router.post("")
    async def create(body: StartConversationBody) -> StartTaskRecord:
        """Begin to create a conversation; the answer is its start task as it begins."""
        return await start_tasks.create(body)

    @router.patch("/{conversation_id}")
    async def change(conversation_id: UUID, body: ChangeConversationBody, agents: AgentServerUrl) -> ConversationRecord:
        """Change title or publicity of a conversation."""
        record = await conversations.change(conversation_id.hex, body, agents)
        if record is None:
            raise HTTPException(404, "unknown_app_conversation")
        return record

    @router.delete("/{conversation_id}")
    async def delete(conversation_id: UUID) -> Done:
        """Delete a conversation; its sandbox stays."""
        if not await conversations.delete(conversation_id.hex):
            raise HTTPException(404, "Conversation not found")
        return Done(success=True)

    return router


def start_tasks_router(start_tasks: StartTasks) -> APIRouter:
    """List and read start tasks."""
    router = APIRouter(prefix="/app-conversations/start-tasks", tags=["Conversations"])

    @router.get("/search")
    async def search(window: Paging) -> Page[StartTaskRecord]:
        """A page of start tasks, newest first."""
        return await start_tasks.page(window)

    @router.get("")
    async def read(ids: Annotated[list[str], Query()]) -> list[StartTaskRecord | None]:
        """Start tasks by id, null for those that do not exist."""
        wanted = _hex_ids(ids)
        found = await start_tasks.read(wanted)
        return [found.get(one) for one in wanted]

    return router


def _hex_ids(ids: Sequence[str]) -> list[str]:
    """Ids as they are stored, from uuids with or without dashes; raises 400 for too many and for what is no uuid."""
    if len(ids) > _MOST_IDS:
        raise HTTPException(400, f"Too many ids requested. Maximum is {_MOST_IDS}.")
    found = {one: _hex(one) for one in ids}
    if wrong := [one for one, value in found.items() if value is None]:
        raise HTTPException(400, f"Invalid UUID format for ids: {wrong}")
    return [value for one in ids if (value := found[one])]


def _hex(text: str) -> str | None:
    try:
        return UUID(text).hex
    except ValueError:
        return None
