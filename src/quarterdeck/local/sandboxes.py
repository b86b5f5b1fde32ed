"""``/api/v1/sandboxes`` and ``/api/v1/sandbox-specs``: sandboxes as they are stored and told.

What they are made of is in `runtime/`: processes, or nothing but rows.
"""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, HTTPException, Query
from pydantic import ConfigDict, SecretStr
from typing_extensions import TypedDict

from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.local.agents import Agents
from quarterdeck.local.bodies import Body
from quarterdeck.local.errors import LocalServiceError
from quarterdeck.local.records import AgentServerUrl, Done, Page, Paging, now
from quarterdeck.local.specs import Spec
from quarterdeck.local.store import Store

READY_WITHIN = 20.0
"""Seconds that a sandbox has to answer before its silence is an error."""
_MOST_IDS = 100


@dataclass(frozen=True)
class Identity:
    """One process and no other: its pid, when it started in clock ticks since boot, and which boot."""

    pid: int
    ticks: int
    boot: str


class Sandbox(Body):
    """A stored sandbox; `status` is the last one that was seen, `has_run` whether it ever was RUNNING."""

    model_config = ConfigDict(frozen=True)

    id: str
    spec_id: str
    created_at: str
    key: SecretStr
    status: SandboxStatus
    has_run: bool = False
    port: int | None = None
    pid: int = 0
    ticks: int = 0
    boot: str = ""

    @property
    def leader(self) -> Identity:
        """What leads its processes; of one of which nothing runs, no process."""
        return Identity(self.pid, self.ticks, self.boot)


class ExposedUrl(TypedDict):
    """One address of a sandbox; its query holds the sandbox's key."""

    name: str
    url: str
    port: int


class SandboxRecord(TypedDict):
    """A sandbox; key and addresses are told only while it is RUNNING."""

    id: str
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


class Sandboxes(ABC):
    """The sandboxes of one store, and the agents in them; a change is done whole by whoever asks for it.

    The first spec is the default.
    """

    answers_when_ready = True
    """Whether the answer to a start waits until the sandbox is ready."""

    def __init__(self, store: Store, specs: Sequence[Spec], agents: Agents) -> None:
        self.specs = specs
        self.agents = agents
        self._store = store

    @abstractmethod
    async def start(self, spec: Spec) -> str:
        """Begin a new sandbox and give its id. Raises `LocalServiceError`."""

    @abstractmethod
    async def pause(self, sandbox_id: str) -> bool:
        """Stop a sandbox; False when there is nothing to stop."""

    @abstractmethod
    async def resume(self, sandbox_id: str) -> bool:
        """Let a sandbox go on; False when there is nothing that could."""

    @abstractmethod
    async def delete(self, sandbox_id: str) -> bool:
        """End a sandbox and remove all of it; False when there is none."""

    @abstractmethod
    def addresses(self, sandbox: Sandbox, agent_server: str) -> list[ExposedUrl]:
        """Where a running sandbox is reached; the addresses hold its key. `agent_server` is where agents are asked."""

    async def catch_up(self) -> None:  # noqa: B027 - processes need no telling
        """Let happen what happened by itself since; asked before anything is told."""

    async def look(self, sandboxes: Sequence[Sandbox]) -> Sequence[Sandbox]:
        """What became of these sandboxes."""
        return sandboxes

    def last_words(self, _sandbox_id: str) -> str:
        """The last line a sandbox wrote, if any. Blocks."""
        return ""

    async def page(self, window: Paging, agents: AgentServerUrl) -> Page[SandboxRecord]:
        """A page of sandboxes, newest first."""
        rows = await self._store.select("sandboxes", "1 ORDER BY created_at DESC, rowid DESC" + window.sql)
        found = await self.look([Sandbox(**row) for row in rows])
        return window.page([self.record(sandbox, agents) for sandbox in found])

    async def read(self, ids: Iterable[str]) -> dict[str, Sandbox]:
        """Those of these sandboxes that exist, by id."""
        rows = await self._store.by_ids("sandboxes", ids)
        return {sandbox.id: sandbox for sandbox in await self.look([Sandbox(**row) for row in rows])}

    async def one(self, sandbox_id: str) -> Sandbox | None:
        """A sandbox, None when there is none."""
        return (await self.read([sandbox_id])).get(sandbox_id)

    async def until_ready(self, sandbox_id: str) -> Sandbox:
        """Wait until a sandbox is running and give it. Raises `LocalServiceError` when it does not get so far."""
        deadline = time.monotonic() + READY_WITHIN
        pause = 0.02
        while sandbox := await self.one(sandbox_id):
            if sandbox.status is SandboxStatus.RUNNING:
                return sandbox
            if sandbox.status is not SandboxStatus.STARTING or time.monotonic() > deadline:
                break
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, 0.3)
            await self._store.changes.run(self.catch_up())
        said = await asyncio.to_thread(self.last_words, sandbox_id)
        raise LocalServiceError(f"Sandbox {sandbox_id} did not get ready. The last it wrote: {said or 'nothing'}")

    async def started(self, spec: Spec) -> Sandbox:
        """Start a new sandbox and give it as it is told first. Raises `LocalServiceError`."""
        sandbox_id = await self.start(spec)
        if self.answers_when_ready:
            return await self._store.changes.begin(self.until_ready(sandbox_id))
        return (await self.read([sandbox_id]))[sandbox_id]

    def record(self, sandbox: Sandbox, agent_server: str) -> SandboxRecord:
        """What is told of a sandbox."""
        running = sandbox.status is SandboxStatus.RUNNING
        return SandboxRecord(
            id=sandbox.id,
            sandbox_spec_id=sandbox.spec_id,
            status=sandbox.status,
            session_api_key=sandbox.key.get_secret_value() if running else None,
            exposed_urls=self.addresses(sandbox, agent_server) if running else None,
            created_at=sandbox.created_at,
        )


def sandboxes_router(sandboxes: Sandboxes) -> APIRouter:
    """Search, read, start, pause, resume and delete sandboxes."""
    router = APIRouter(prefix="/sandboxes", tags=["Sandboxes"])

    router.add_api_route("/search", sandboxes.page)

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
        found = [spec for spec in sandboxes.specs if sandbox_spec_id in {None, spec.id}]
        if not found:
            raise HTTPException(404, "There is no such sandbox spec")
        return sandboxes.record(await sandboxes.started(found[0]), agents)

    @router.post("/{sandbox_id}/pause")
    async def pause(sandbox_id: str) -> Done:
        """Stop a sandbox; 404 when it does not run."""
        return _done(await sandboxes.pause(sandbox_id))

    @router.post("/{sandbox_id}/resume")
    async def resume(sandbox_id: str) -> Done:
        """Let a sandbox go on; 404 when it does not run."""
        return _done(await sandboxes.resume(sandbox_id))

    @router.delete("/{id}")
    async def delete(sandbox_id: str) -> Done:
        """Delete the sandbox that the query names: real servers do not look at the path."""
        return _done(await sandboxes.delete(sandbox_id))

    return router


def specs_router(specs: Sequence[Spec]) -> APIRouter:
    """Search and read specs."""
    router = APIRouter(prefix="/api/v1/sandbox-specs", tags=["Sandbox specs"])
    opened_at = now()
    records = {
        spec.id: SpecRecord(
            id=spec.id,
            command=list(spec.command),
            created_at=opened_at,
            initial_env=dict(spec.environment),
            working_dir="workspace",
        )
        for spec in specs
    }

    @router.get("/search")
    async def search(window: Paging) -> Page[SpecRecord]:
        """A page of specs."""
        return window.page([*records.values()][window.offset :])

    @router.get("")
    async def read(ids: Annotated[list[str], Query(alias="id")]) -> list[SpecRecord | None]:
        """Specs by id, null for those that do not exist."""
        return [records.get(one) for one in ids]

    return router


def _done(success: bool) -> Done:
    if not success:
        raise HTTPException(404)
    return Done(success=True)
