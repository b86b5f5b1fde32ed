"""Sandboxes: sessions of processes that outlive the service, known again by the identity of their leader."""

import asyncio
import secrets
import sqlite3
import time
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.local.errors import LocalServiceError, SandboxError
from quarterdeck.local.launching import Place, free_port, launch, new_key
from quarterdeck.local.liveness import Liveness
from quarterdeck.local.processes import Seen, continue_session, end_session, look, stop_session
from quarterdeck.local.records import SandboxRecord, Window, now
from quarterdeck.local.sandbox_state import READY_WITHIN, Sandbox, from_row, judge, to_record
from quarterdeck.local.specs import Spec
from quarterdeck.local.store import Ownership, Store


class Sandboxes:
    """The sandboxes of one data folder."""

    def __init__(self, folder: Path, store: Store, specs: Sequence[Spec], ownership: Ownership) -> None:
        self._folder = folder
        self._store = store
        self._specs = {spec.id: spec for spec in specs}
        self._ownership = ownership
        self._liveness = Liveness()
        self._given_ports: set[int] = set()
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @property
    def default_spec(self) -> Spec:
        """What a sandbox is started from when nobody says."""
        return next(iter(self._specs.values()))

    def spec(self, spec_id: str) -> Spec | None:
        """The spec of that id; None when there is no such spec."""
        return self._specs.get(spec_id)

    def place(self, sandbox_id: str) -> Place:
        """The folder of a sandbox."""
        return Place(self._folder / sandbox_id)

    def record(self, sandbox: Sandbox) -> SandboxRecord:
        """What is told of a sandbox."""
        return to_record(sandbox, self.spec(sandbox.spec_id))

    async def page(self, window: Window) -> tuple[list[Sandbox], str | None]:
        """One page, newest first, and the id of the next."""
        rows = await self._rows("1 ORDER BY created_at DESC, rowid DESC" + window.sql)
        return await self._look(rows[: window.limit]), window.next_page_id(len(rows))

    async def read(self, ids: Collection[str]) -> dict[str, Sandbox]:
        """Those of these sandboxes that exist, by id."""
        rows = await self._store.by_ids("sandboxes", ids)
        return {sandbox.id: sandbox for sandbox in await self._look([from_row(row) for row in rows])}

    async def start(self, spec: Spec) -> str:
        """Start the processes of a new sandbox and give its id; it may not answer yet. Raises `SandboxError`."""
        return await self._store.changes.run(self._start(spec))

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
        last_words = await asyncio.to_thread(self.place(sandbox_id).last_words)
        raise SandboxError(f"Sandbox {sandbox_id} did not get ready. The last it wrote: {last_words or 'nothing'}")

    async def pause(self, sandbox_id: str) -> bool:
        """Stop every process of a sandbox; False when there is none to stop."""
        return await self._store.changes.run(self._signal(sandbox_id, SandboxStatus.PAUSED))

    async def resume(self, sandbox_id: str) -> bool:
        """Let every process of a sandbox go on; False when there is none."""
        return await self._store.changes.run(self._signal(sandbox_id, SandboxStatus.RUNNING))

    async def delete(self, sandbox_id: str) -> bool:
        """End a sandbox and remove its workspace; False when there is no such sandbox."""
        return await self._store.changes.run(self._delete(sandbox_id))

    async def _start(self, spec: Spec) -> str:
        sandbox_id, key, created_at = secrets.token_hex(10), new_key(), now()
        port = await self._take_port() if spec.address else None
        place = self.place(sandbox_id)
        environment = {"SESSION_API_KEY": key, "SANDBOX_ID": sandbox_id}
        try:
            await asyncio.to_thread(place.make, spec)
            leader = await asyncio.to_thread(launch, spec, place, port, environment)
        except (SandboxError, OSError):
            await asyncio.to_thread(place.remove)
            raise
        try:
            await self._store.run(
                "INSERT INTO sandboxes (id, spec_id, created_at, key, port, pid, ticks, boot, status)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (sandbox_id, spec.id, created_at, key, port, leader.pid, leader.ticks, leader.boot, "STARTING"),
            )
        except sqlite3.Error:
            await end_session(leader)
            raise
        return sandbox_id

    async def _take_port(self) -> int:
        rows = await self._store.select("sandboxes", "port IS NOT NULL")
        port = free_port(self._given_ports | {row["port"] for row in rows})
        self._given_ports.add(port)
        return port

    async def _signal(self, sandbox_id: str, wanted: SandboxStatus) -> bool:
        async with self._turns[sandbox_id]:
            rows = await self._rows("id = ?", (sandbox_id,))
            if not rows or await asyncio.to_thread(look, rows[0].leader) is Seen.GONE:
                return False
            to_state = stop_session if wanted is SandboxStatus.PAUSED else continue_session
            done = await to_state(rows[0].leader)
            if rows[0].port:
                self._liveness.forget(rows[0].port)
        if not done:
            raise LocalServiceError(f"Not every process of sandbox {sandbox_id} could be signalled. Try again.")
        return True

    async def _delete(self, sandbox_id: str) -> bool:
        async with self._turns[sandbox_id]:
            rows = await self._rows("id = ?", (sandbox_id,))
            if not rows:
                return False
            await self._check_own(rows[0])
            if not await end_session(rows[0].leader):
                raise LocalServiceError(f"Not every process of sandbox {sandbox_id} could be ended. Try again.")
            await asyncio.to_thread(self.place(sandbox_id).remove)
            await self._store.run("DELETE FROM sandboxes WHERE id = ?", (sandbox_id,))
        self._turns.pop(sandbox_id, None)
        return True

    async def _check_own(self, sandbox: Sandbox) -> None:
        """Refuse to end what may run out of sight: its processes cannot be seen here, and the owner saw them alive."""
        dead = sandbox.status in {SandboxStatus.MISSING, SandboxStatus.ERROR}
        if not dead and not self._ownership.held() and await asyncio.to_thread(look, sandbox.leader) is Seen.GONE:
            raise LocalServiceError(
                f"Sandbox {sandbox.id} is not seen from here. Delete it in the Quarterdeck that runs it."
            )

    async def _rows(self, condition: str, parameters: Sequence[str] = ()) -> list[Sandbox]:
        rows = await self._store.select("sandboxes", condition, parameters)
        return [from_row(row) for row in rows]

    async def _look(self, sandboxes: list[Sandbox]) -> list[Sandbox]:
        """See what became of them, and store what is news."""
        seen = await asyncio.to_thread(lambda: [look(sandbox.leader) for sandbox in sandboxes])
        silences = await asyncio.gather(*map(self._silence, sandboxes, seen))
        owner = self._ownership.held()
        current = []
        for sandbox, sight, silence in zip(sandboxes, seen, silences, strict=True):
            status = judge(sandbox, sight, silence, owner=owner)
            has_run = sandbox.has_run or status is SandboxStatus.RUNNING
            news = replace(sandbox, status=status, has_run=has_run)
            if news != sandbox:
                await self._store.run(
                    "UPDATE sandboxes SET status = ?, has_run = max(has_run, ?) WHERE id = ?",
                    (status, has_run, sandbox.id),
                )
            current.append(news)
        return current

    async def _silence(self, sandbox: Sandbox, seen: Seen) -> float | None:
        """How long the address of a sandbox has been silent while its processes ran."""
        if sandbox.port is None or seen is not Seen.ALIVE:
            return None
        return await self._liveness.silence(sandbox.port)
