"""``/api/v1/sandbox-specs``."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query

from quarterdeck.local.records import Limit, PageId, SpecPage, SpecRecord, Window, now
from quarterdeck.local.specs import Spec


def specs_router(specs: Sequence[Spec]) -> APIRouter:
    """Search and read specs; the first is the default."""
    router = APIRouter(prefix="/sandbox-specs", tags=["Sandbox specs"])
    opened_at = now()
    records = [_record(spec, opened_at) for spec in specs]
    by_id = {record["id"]: record for record in records}

    @router.get("/search")
    async def search(page_id: PageId = None, limit: Limit = 100) -> SpecPage:
        """A page of specs."""
        window = Window(page_id, limit)
        rest = records[window.offset :]
        return SpecPage(items=rest[:limit], next_page_id=window.next_page_id(len(rest)))

    @router.get("")
    async def read(ids: Annotated[list[str], Query(alias="id")]) -> list[SpecRecord | None]:
        """Specs by id, null for those that do not exist."""
        return [by_id.get(one) for one in ids]

    return router


def _record(spec: Spec, created_at: str) -> SpecRecord:
    return SpecRecord(
        id=spec.id,
        command=list(spec.command),
        created_at=created_at,
        initial_env=dict(spec.environment),
        working_dir="workspace",
    )
