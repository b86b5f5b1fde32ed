"""``/api/v1/sandboxes`` and ``/api/v1/sandbox-specs``."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, HTTPException, Query

from quarterdeck.local.records import Done, Page, Paging, SandboxRecord, SpecRecord, now
from quarterdeck.local.routes.agent import AgentServerUrl
from quarterdeck.local.sandboxes import Sandboxes
from quarterdeck.local.specs import Spec

_MOST_IDS = 100


def sandboxes_router(sandboxes: Sandboxes) -> APIRouter:
    """Search, read, start, pause, resume and delete sandboxes."""
    router = APIRouter(prefix="/sandboxes", tags=["Sandboxes"])
    runtime = sandboxes.runtime

    @router.get("/search")
    async def search(agents: AgentServerUrl, window: Paging) -> Page[SandboxRecord]:
        """A page of sandboxes, newest first."""
        return await sandboxes.page(window, agents)

    @router.get("")
    async def read(ids: Annotated[list[str], Query(alias="id")], agents: AgentServerUrl) -> list[SandboxRecord | None]:
        """Sandboxes by id, null for those that do not exist."""
        if len(ids) > _MOST_IDS:
            raise HTTPException(400, f"Too many ids requested. At most {_MOST_IDS} can be.")
        found = await sandboxes.read(ids)
        return [sandboxes.record(found[one], agents) if one in found else None for one in ids]

    @router.post("")
    async def start(agents: AgentServerUrl, sandbox_spec_id: str | None = None) -> SandboxRecord:
        """Start a sandbox and answer when it is ready; 404 when there is no such spec."""
        found = [spec for spec in runtime.specs if sandbox_spec_id in {None, spec.id}]
        if not found:
            raise HTTPException(404, "There is no such sandbox spec")
        return sandboxes.record(await sandboxes.started(found[0]), agents)

    @router.post("/{sandbox_id}/pause")
    async def pause(sandbox_id: str) -> Done:
        """Stop a sandbox; 404 when it does not run."""
        return _done(await runtime.pause(sandbox_id))

    @router.post("/{sandbox_id}/resume")
    async def resume(sandbox_id: str) -> Done:
        """Let a sandbox go on; 404 when it does not run."""
        return _done(await runtime.resume(sandbox_id))

    @router.delete("/{id}")
    async def delete(sandbox_id: str) -> Done:
        """Delete the sandbox that the query names: real servers do not look at the path."""
        return _done(await runtime.delete(sandbox_id))

    return router


def specs_router(specs: Sequence[Spec]) -> APIRouter:
    """Search and read specs; the first is the default."""
    router = APIRouter(prefix="/sandbox-specs", tags=["Sandbox specs"])
    opened_at = now()
    records = [_record(spec, opened_at) for spec in specs]
    by_id = {record["id"]: record for record in records}

    @router.get("/search")
    async def search(window: Paging) -> Page[SpecRecord]:
        """A page of specs."""
        return window.page(records[window.offset :])

    @router.get("")
    async def read(ids: Annotated[list[str], Query(alias="id")]) -> list[SpecRecord | None]:
        """Specs by id, null for those that do not exist."""
        return [by_id.get(one) for one in ids]

    return router


def _done(success: bool) -> Done:
    if not success:
        raise HTTPException(404)
    return Done(success=True)


def _record(spec: Spec, created_at: str) -> SpecRecord:
    return SpecRecord(
        id=spec.id,
        command=list(spec.command),
        created_at=created_at,
        initial_env=dict(spec.environment),
        working_dir="workspace",
    )
