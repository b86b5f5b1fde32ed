"""``/api/v1/app-conversations/start-tasks``."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query

from quarterdeck.local.records import Limit, PageId, StartTaskPage, StartTaskRecord, Window
from quarterdeck.local.routes.conversations import hex_ids
from quarterdeck.local.start_tasks import Filters, Order, StartTasks


def start_tasks_router(start_tasks: StartTasks) -> APIRouter:
    """List, count and read start tasks."""
    router = APIRouter(prefix="/app-conversations/start-tasks", tags=["Conversations"])

    @router.get("/search")
    async def search(
        filters: Annotated[Filters, Depends(_filters)],
        sort_order: Order = Order.CREATED_AT_DESC,
        page_id: PageId = None,
        limit: Limit = 100,
    ) -> StartTaskPage:
        """A page of start tasks."""
        items, next_page_id = await start_tasks.page(filters, sort_order, Window(page_id, limit))
        return StartTaskPage(items=items, next_page_id=next_page_id)

    @router.get("/count")
    async def count(filters: Annotated[Filters, Depends(_filters)]) -> int:
        """How many start tasks there are."""
        return await start_tasks.count(filters)

    @router.get("")
    async def read(ids: Annotated[list[str], Query()]) -> list[StartTaskRecord | None]:
        """Start tasks by id, null for those that do not exist."""
        wanted = hex_ids(ids)
        found = await start_tasks.read(wanted)
        return [found.get(one) for one in wanted]

    return router


def _filters(conversation_id__eq: UUID | None = None, created_at__gte: datetime | None = None) -> Filters:
    return Filters(conversation_id__eq.hex if conversation_id__eq else None, created_at__gte)
