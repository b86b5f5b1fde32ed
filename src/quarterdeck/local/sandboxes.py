"""``/api/v1/sandboxes`` and ``/api/v1/sandbox-specs``: sandboxes as they are stored and returned.

Their implementations are in `runtime/`: processes, or simulated rows.
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
from quarterdeck.local.records import AgentServerUrl, Done, Page, Paging
from quarterdeck.local.specs import Spec
from quarterdeck.local.store import Store

READY_WITHIN = 20.0
"""Seconds for a sandbox to respond before its silence is an error."""
_READ_AGAIN = 0.05
"""Seconds between two looks at a sandbox that is starting."""
_MOST_IDS = 100


@dataclass(frozen=True)
class Identity:
    """Identifies one process: its pid, its start in clock ticks since boot, and the boot."""

    pid: int
    ticks: int
    boot: str


class Sandbox(Body):
    """A stored sandbox; `status` is the last one seen, `has_run` means that it was RUNNING at least once."""

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
        """The identity of its leading process; without processes, one that does not exist."""
        return Identity(self.pid, self.ticks, self.boot)


class ExposedUrl(TypedDict):
    """One address of a sandbox; its query contains the sandbox's key."""

    name: str
    url: str
    port: int


class SandboxRecord(TypedDict):
    """A sandbox in a response; key and addresses are included only while it is RUNNING."""

    id: str
    sandbox_spec_id: str
    status: str
    session_api_key: str | None
    exposed_urls: list[ExposedUrl] | None
    created_at: str


class Sandboxes(ABC):
    """The sandboxes of one store, and the agents in them; callers make sure that each change is completed.

    The first spec is the default.
    """

    simulated: int | None = None
    """How many sandboxes were simulated at first; None if they are real."""

    def __init__(self, store: Store, specs: Sequence[Spec], agents: Agents) -> None:
        self.specs = specs
        self.agents = agents
        self._store = store

    @abstractmethod
    async def start(self, spec: Spec) -> str:
        """Start a new sandbox and return its id. Raises `LocalServiceError`."""

    @abstractmethod
    async def pause(self, sandbox_id: str) -> bool:
        """Pause a sandbox; returns False if there is nothing to pause."""

    @abstractmethod
    async def resume(self, sandbox_id: str) -> bool:
        """Resume a sandbox; returns False if there is nothing to resume."""

    @abstractmethod
    async def delete(self, sandbox_id: str) -> bool:
        """Delete a sandbox and everything in it; returns False if there is none."""

    @abstractmethod
    def addresses(self, sandbox: Sandbox, agent_server: str) -> list[ExposedUrl]:
        """Return the addresses of a running sandbox, which contain its key; `agent_server` is that for agents."""

    async def catch_up(self) -> None:  # noqa: B027 - processes run by themselves
        """Simulate the time since the last request; called before each response."""

    async def observe(self, sandboxes: Sequence[Sandbox]) -> Sequence[Sandbox]:
        """Return these sandboxes with their current status."""
        return sandboxes

    def last_output_line(self, _sandbox_id: str) -> str:
        """Return the last line of a sandbox's output, if any. Blocks."""
        return ""

    async def page(self, window: Paging, agents: AgentServerUrl) -> Page[SandboxRecord]:
        """Return a page of sandboxes, newest first."""
        rows = await self._store.select("sandboxes", "1" + window.sql)
        found = await self.observe([Sandbox(**row) for row in rows])
        return window.page([self.record(sandbox, agents) for sandbox in found])

    async def read(self, ids: Iterable[str]) -> dict[str, Sandbox]:
        """Return those of these sandboxes that exist, by id."""
        rows = await self._store.by_ids("sandboxes", ids)
        return {sandbox.id: sandbox for sandbox in await self.observe([Sandbox(**row) for row in rows])}

    async def _add(self, sandbox: Sandbox) -> str:
        """Store a new sandbox and return its id."""
        row = sandbox.model_dump() | {"key": sandbox.key.get_secret_value()}
        await self._store.insert("sandboxes", row)
        return sandbox.id

    async def one(self, sandbox_id: str) -> Sandbox | None:
        """Return a sandbox, None if it does not exist."""
        return (await self.read([sandbox_id])).get(sandbox_id)

    async def until_ready(self, sandbox_id: str) -> Sandbox:
        """Wait until a sandbox is running and return it. Raises `LocalServiceError` if it fails."""
        deadline = time.monotonic() + READY_WITHIN
        while sandbox := await self.one(sandbox_id):
            if sandbox.status is SandboxStatus.RUNNING:
                return sandbox
            if sandbox.status is not SandboxStatus.STARTING or time.monotonic() > deadline:
                break
            await asyncio.sleep(_READ_AGAIN)
            await self._store.changes.run(self.catch_up())
        said = await asyncio.to_thread(self.last_output_line, sandbox_id)
        raise LocalServiceError(f"Sandbox {sandbox_id} did not get ready. Its last output: {said or 'nothing'}")

    async def started(self, spec: Spec) -> Sandbox:
        """Start a new sandbox and return it for the response, which waits until a real one is ready.

        Raises `LocalServiceError`.
        """
        sandbox_id = await self.start(spec)
        if self.simulated is None:
            return await self._store.changes.begin(self.until_ready(sandbox_id))
        return (await self.read([sandbox_id]))[sandbox_id]

    def record(self, sandbox: Sandbox, agent_server: str) -> SandboxRecord:
        """Return a sandbox as in responses."""
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
    """Return the router to search, read, start, pause, resume and delete sandboxes."""
    router = APIRouter(prefix="/sandboxes", tags=["Sandboxes"])

    router.add_api_route("/search", sandboxes.page)

    @router.get("")
    async def read(ids: Annotated[list[str], Query(alias="id")], agents: AgentServerUrl) -> list[SandboxRecord | None]:
        """Return sandboxes by id, null for those that do not exist."""
        if len(ids) > _MOST_IDS:
            raise HTTPException(400, f"Too many ids requested. At most {_MOST_IDS} can be.")
        found = await sandboxes.read(ids)
        return [sandboxes.record(found[one], agents) if one in found else None for one in ids]

    @router.post("")
    async def start(agents: AgentServerUrl, sandbox_spec_id: str | None = None) -> SandboxRecord:
        """Start a sandbox and respond when it is ready; 404 if there is no such spec."""
        found = [spec for spec in sandboxes.specs if sandbox_spec_id in {None, spec.id}]
        if not found:
            raise HTTPException(404, "There is no such sandbox spec")
        return sandboxes.record(await sandboxes.started(found[0]), agents)

    @router.post("/{sandbox_id}/pause")
    async def pause(sandbox_id: str) -> Done:
        """Pause a sandbox; 404 if it does not run."""
        return _done(await sandboxes.pause(sandbox_id))

    @router.post("/{sandbox_id}/resume")
    async def resume(sandbox_id: str) -> Done:
        """Resume a sandbox; 404 if it has no processes."""
        return _done(await sandboxes.resume(sandbox_id))

    @router.delete("/{id}")
    async def delete(sandbox_id: str) -> Done:
        """Delete the sandbox named in the query: real servers ignore the path."""
        return _done(await sandboxes.delete(sandbox_id))

    return router


def specs_router(specs: Sequence[Spec]) -> APIRouter:
    """Return the router to search and read specs."""
    router = APIRouter(prefix="/api/v1/sandbox-specs", tags=["Sandbox specs"])

    @router.get("/search")
    async def search(window: Paging) -> Page[Spec]:
        """Return a page of specs."""
        return window.page(specs[window.offset :])

    @router.get("")
    async def read(ids: Annotated[list[str], Query(alias="id")]) -> list[Spec | None]:
        """Return specs by id, null for those that do not exist."""
        known = {spec.id: spec for spec in specs}
        return [known.get(one) for one in ids]

    return router


def _done(success: bool) -> Done:
    if not success:
        raise HTTPException(404)
    return Done(success=True)
