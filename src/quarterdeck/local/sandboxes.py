"""Sandboxes as they are stored and told; what they are made of is the runtime's."""

import asyncio
import time
from collections.abc import Iterable

from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.local.errors import SandboxError
from quarterdeck.local.records import Page, SandboxRecord, Window
from quarterdeck.local.runtime.base import READY_WITHIN, Runtime, Sandbox
from quarterdeck.local.specs import Spec
from quarterdeck.local.store import Store


class Sandboxes:
    """The sandboxes of one store."""

    def __init__(self, store: Store, runtime: Runtime) -> None:
        self._store = store
        self.runtime = runtime

    async def page(self, window: Window, agent_server: str) -> Page[SandboxRecord]:
        """One page, newest first."""
        rows = await self._store.select("sandboxes", "1 ORDER BY created_at DESC, rowid DESC" + window.sql)
        found = await self.runtime.look([Sandbox.of(row) for row in rows])
        return window.page([self.record(sandbox, agent_server) for sandbox in found])

    async def read(self, ids: Iterable[str]) -> dict[str, Sandbox]:
        """Those of these sandboxes that exist, by id."""
        rows = await self._store.by_ids("sandboxes", ids)
        return {sandbox.id: sandbox for sandbox in await self.runtime.look([Sandbox.of(row) for row in rows])}

    def record(self, sandbox: Sandbox, agent_server: str) -> SandboxRecord:
        """What is told of a sandbox: key and addresses only while it runs; `agent_server` is where agents are asked."""
        running = sandbox.status is SandboxStatus.RUNNING
        return SandboxRecord(
            id=sandbox.id,
            created_by_user_id=None,
            sandbox_spec_id=sandbox.spec_id,
            status=sandbox.status,
            session_api_key=sandbox.key.get_secret_value() if running else None,
            exposed_urls=self.runtime.addresses(sandbox, agent_server) if running else None,
            created_at=sandbox.created_at,
        )

    async def started(self, spec: Spec) -> Sandbox:
        """Start a new sandbox and give it as it is told first, which may be when it is ready. Raises `SandboxError`."""
        sandbox_id = await self.runtime.start(spec)
        if self.runtime.answers_when_ready:
            return await self._store.changes.begin(self.until_ready(sandbox_id))
        return (await self.read([sandbox_id]))[sandbox_id]

    async def until_ready(self, sandbox_id: str) -> Sandbox:
        """Wait until a sandbox is running and give it. Raises `SandboxError` when it does not get so far."""
        deadline = time.monotonic() + READY_WITHIN
        pause = 0.02
        while sandbox := (await self.read([sandbox_id])).get(sandbox_id):
            if sandbox.status is SandboxStatus.RUNNING:
                return sandbox
            if sandbox.status is not SandboxStatus.STARTING or time.monotonic() > deadline:
                break
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, 0.3)
            await self._store.changes.run(self.runtime.catch_up())
        last_words = await asyncio.to_thread(self.runtime.last_words, sandbox_id)
        raise SandboxError(f"Sandbox {sandbox_id} did not get ready. The last it wrote: {last_words or 'nothing'}")
