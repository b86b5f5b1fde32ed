"""``/api/v1/sandboxes`` of a simulation: bytes that were made before, joined."""

from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, Response

from quarterdeck.local.records import Done, Limit, PageId, Window
from quarterdeck.local.simulated.orders import Orders
from quarterdeck.local.simulated.records import told_list, told_page
from quarterdeck.local.simulated.world import World

MOST_IDS = 100


class Json(Response):
    """An answer whose bytes are JSON already."""

    media_type = "application/json"


def sandboxes_router(world: World) -> APIRouter:
    """Search, read, start, pause, resume and delete simulated sandboxes."""
    router = APIRouter(prefix="/sandboxes", tags=["Sandboxes"])
    orders = Orders(world)

    @router.get("/search")
    async def search(page_id: PageId = None, limit: Limit = 100) -> Json:
        """A page of sandboxes, newest first."""
        world.catch_up()
        return Json(told_page(*world.sandboxes.page(Window(page_id, limit))))

    @router.get("")
    async def read(ids: Annotated[list[str], Query(alias="id")]) -> Json:
        """Sandboxes by id, null for those that do not exist."""
        if len(ids) > MOST_IDS:
            raise HTTPException(400, f"Too many ids requested. At most {MOST_IDS} can be.")
        world.catch_up()
        return Json(told_list(map(world.sandboxes.get, ids)))

    @router.post("")
    async def start(sandbox_spec_id: str | None = None) -> Json:
        """Begin to start a sandbox; the answer is how it begins."""
        return Json(orders.start(sandbox_spec_id).told())

    @router.post("/{sandbox_id}/pause")
    async def pause(sandbox_id: str) -> Done:
        """Begin to pause a sandbox."""
        orders.pause(sandbox_id)
        return Done(success=True)

    @router.post("/{sandbox_id}/resume")
    async def resume(sandbox_id: str) -> Done:
        """Begin to resume a sandbox."""
        orders.resume(sandbox_id)
        return Done(success=True)

    @router.delete("/{id}")
    async def delete(sandbox_id: str) -> Done:
        """Delete the sandbox that the query names, as real servers do."""
        orders.delete(sandbox_id)
        return Done(success=True)

    return router
