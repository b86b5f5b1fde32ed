"""``/api/v1/app-conversations`` of a simulation, its start tasks among them."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, HTTPException, Query

from quarterdeck.local.bodies import ChangeConversationBody, StartConversationBody
from quarterdeck.local.conversations import Filters
from quarterdeck.local.records import Done, Limit, PageId, StartTaskPage, StartTaskRecord, Window, stamp
from quarterdeck.local.routes.conversations import hex_ids
from quarterdeck.local.simulated.creating import Creating
from quarterdeck.local.simulated.records import SimulatedConversation, told_list, told_page
from quarterdeck.local.simulated.route_sandboxes import Json
from quarterdeck.local.simulated.search import count as count_found
from quarterdeck.local.simulated.search import page
from quarterdeck.local.simulated.world import World


def start_tasks_router(creating: Creating) -> APIRouter:
    """List, count and read the start tasks of a simulation."""
    router = APIRouter(prefix="/app-conversations/start-tasks", tags=["Conversations"])

    @router.get("/search")
    async def search(
        created_at__gte: datetime | None = None, page_id: PageId = None, limit: Limit = 100
    ) -> StartTaskPage:
        """A page of start tasks, newest first."""
        creating.catch_up()
        tasks, next_page_id = creating.tasks.page(Window(page_id, limit))
        first = stamp(created_at__gte) if created_at__gte else ""
        items = [task.record() for task in tasks if task.created_at >= first]
        return StartTaskPage(items=items, next_page_id=next_page_id)

    @router.get("/count")
    async def count() -> int:
        """How many start tasks there are."""
        return len(creating.tasks)

    @router.get("")
    async def read(ids: Annotated[list[str], Query()]) -> list[StartTaskRecord | None]:
        """Start tasks by id, null for those that do not exist."""
        creating.catch_up()
        found = (creating.tasks.get(one) for one in hex_ids(ids))
        return [task.record() if task else None for task in found]

    return router


def conversations_router(world: World, creating: Creating) -> APIRouter:
    """List, count, create, change and delete simulated conversations."""
    router = APIRouter(prefix="/app-conversations", tags=["Conversations"])

    def found(conversation_id: UUID, words: str) -> SimulatedConversation:
        creating.catch_up()
        conversation = world.conversations.get(conversation_id.hex)
        if conversation is None:
            raise HTTPException(404, words)
        return conversation

    @router.get("/search")
    async def search(filters: Annotated[Filters, Depends()], page_id: PageId = None, limit: Limit = 100) -> Json:
        """A page of conversations, newest first."""
        creating.catch_up()
        return Json(told_page(*page(world, filters, Window(page_id, limit))))

    @router.get("/count")
    async def count(filters: Annotated[Filters, Depends()]) -> int:
        """How many conversations there are."""
        return count_found(world, filters)

    @router.get("")
    async def read(
        ids: Annotated[list[str] | None, Query()] = None, page_id: PageId = None, limit: Limit = 100
    ) -> Json:
        """Conversations by id, null for those that do not exist; without ids the list, as documented."""
        if ids is None:
            return await search(Filters(), page_id, limit)
        creating.catch_up()
        return Json(told_list(map(world.conversations.get, hex_ids(ids))))

    @router.post("")
    async def create(body: StartConversationBody) -> StartTaskRecord:
        """Begin to create a conversation; the answer is its start task as it begins."""
        return creating.create(body).record()

    @router.patch("/{conversation_id}")
    async def change(conversation_id: UUID, body: ChangeConversationBody) -> Json:
        """Change title or publicity of a conversation."""
        conversation = found(conversation_id, "unknown_app_conversation")
        conversation.title = body.title or conversation.title
        conversation.public = conversation.public if body.public is None else body.public
        conversation.updated_at = stamp(world.now)
        conversation.changed()
        return Json(conversation.told())

    @router.delete("/{conversation_id}")
    async def delete(conversation_id: UUID) -> Done:
        """Delete a conversation; its sandbox stays."""
        world.drop(found(conversation_id, "Conversation not found"))
        return Done(success=True)

    return router
