"""Sandboxes as sessions of processes that outlive the service, recognized by the identity of their leader."""

import asyncio
import os
import secrets
import shutil
import socket
import sqlite3
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.local.agents import Agents
from quarterdeck.local.errors import LocalServiceError
from quarterdeck.local.records import new_key, now
from quarterdeck.local.runtime.sessions import (
    Process,
    continue_session,
    end_session,
    launch,
    live_process,
    stop_session,
)
from quarterdeck.local.sandboxes import READY_WITHIN, ExposedUrl, Identity, Sandbox, Sandboxes
from quarterdeck.local.specs import Spec
from quarterdeck.local.store import Ownership, Store

_LOG = "output.log"
"""The file with the output of a sandbox's command."""
_ANSWERS_WITHIN = 0.5
"""Seconds to wait for a response."""


class ProcessSandboxes(Sandboxes):
    """Runs sandboxes in folders of their own under one folder."""

    def __init__(self, folder: Path, store: Store, specs: Sequence[Spec], ownership: Ownership) -> None:
        super().__init__(store, specs, Agents(store))
        self._folder = folder
        self._ownership = ownership
        self._silent_since: dict[int, float] = {}
        """Since when each port has not responded, on the monotonic clock; a responding port is not in it."""
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def observe(self, sandboxes: Sequence[Sandbox]) -> Sequence[Sandbox]:
        """Determine the status of these sandboxes, and store changes."""
        seen = await asyncio.to_thread(lambda: [live_process(sandbox.leader) for sandbox in sandboxes])
        statuses = await asyncio.gather(*map(self._judge, sandboxes, seen))
        current = []
        for sandbox, status in zip(sandboxes, statuses, strict=True):
            has_run = sandbox.has_run or status is SandboxStatus.RUNNING
            if (status, has_run) != (sandbox.status, sandbox.has_run):
                await self._store.run(
                    "UPDATE sandboxes SET status = ?, has_run = max(has_run, ?) WHERE id = ?",
                    (status, has_run, sandbox.id),
                )
            current.append(sandbox.model_copy(update={"status": status, "has_run": has_run}))
        return current

    def addresses(self, sandbox: Sandbox, _agent_server: str) -> list[ExposedUrl]:
        """Return the address that its spec declares, if any."""
        name = next((spec.address for spec in self.specs if spec.id == sandbox.spec_id), None)
        if name is None or sandbox.port is None:
            return []
        url = f"http://127.0.0.1:{sandbox.port}/?session_api_key={sandbox.key.get_secret_value()}"
        return [ExposedUrl(name=name, url=url, port=sandbox.port)]

    def last_output_line(self, sandbox_id: str) -> str:
        """Return the last line of a sandbox's output, if any. Blocks."""
        try:
            with (self._folder / sandbox_id / _LOG).open("rb") as log:
                log.seek(max(0, log.seek(0, os.SEEK_END) - 2000))
                return log.read().decode(errors="replace").strip().rpartition("\n")[2].strip()
        except FileNotFoundError:
            return ""

    async def start(self, spec: Spec) -> str:
        """Start the processes of a new sandbox and return its id; it may not respond yet."""
        port, status = _free_port() if spec.address else None, SandboxStatus.STARTING
        sandbox = Sandbox(
            id=secrets.token_hex(10), spec_id=spec.id, created_at=now(), key=new_key(), status=status, port=port
        )
        folder = self._folder / sandbox.id
        environment = {**spec.initial_env, "SESSION_API_KEY": sandbox.key.get_secret_value(), "SANDBOX_ID": sandbox.id}
        try:
            feed = await asyncio.to_thread(_make, folder, with_input=spec.reads_input)
            command, log = spec.command_line(port), folder / _LOG
            leader = await asyncio.to_thread(launch, command, folder / "workspace", log, feed, environment)
        except (LocalServiceError, OSError):
            await asyncio.to_thread(_remove, folder)
            raise
        try:
            return await self._add(sandbox.model_copy(update=asdict(leader)))
        except sqlite3.Error:
            await end_session(leader)
            raise

    async def pause(self, sandbox_id: str) -> bool:
        """Stop every process of a sandbox; returns False if there is none."""
        return await self._signal(sandbox_id, stop_session)

    async def resume(self, sandbox_id: str) -> bool:
        """Continue every process of a sandbox; returns False if there is none."""
        return await self._signal(sandbox_id, continue_session)

    async def delete(self, sandbox_id: str) -> bool:
        """End the processes of a sandbox and remove its folder; returns False if there is no such sandbox."""
        async with self._turns[sandbox_id]:
            sandbox = await self._stored(sandbox_id)
            if sandbox is None:
                return False
            await self._check_own(sandbox)
            if not await end_session(sandbox.leader):
                raise LocalServiceError(f"Not every process of sandbox {sandbox_id} could be ended. Try again.")
            await asyncio.to_thread(_remove, self._folder / sandbox_id)
            await self._store.run("DELETE FROM sandboxes WHERE id = ?", (sandbox_id,))
        self._turns.pop(sandbox_id, None)
        return True

    async def _signal(self, sandbox_id: str, signal: Callable[[Identity], Awaitable[bool]]) -> bool:
        async with self._turns[sandbox_id]:
            sandbox = await self._stored(sandbox_id)
            if sandbox is None or await asyncio.to_thread(live_process, sandbox.leader) is None:
                return False
            done = await signal(sandbox.leader)
            if sandbox.port:
                self._silent_since.pop(sandbox.port, None)
        if not done:
            raise LocalServiceError(f"Not every process of sandbox {sandbox_id} could be signalled. Try again.")
        return True

    async def _stored(self, sandbox_id: str) -> Sandbox | None:
        """Return a sandbox as last seen."""
        rows = await self._store.by_ids("sandboxes", [sandbox_id])
        return Sandbox(**rows[0]) if rows else None

    async def _check_own(self, sandbox: Sandbox) -> None:
        """Raise LocalServiceError if its processes may be running but cannot be seen here: the owner saw them alive."""
        if sandbox.status in {SandboxStatus.MISSING, SandboxStatus.ERROR} or self._ownership.held():
            return
        if await asyncio.to_thread(live_process, sandbox.leader) is None:
            raise LocalServiceError(
                f"Sandbox {sandbox.id} is not seen from here. Delete it in the Quarterdeck that runs it."
            )

    async def _judge(self, sandbox: Sandbox, seen: Process | None) -> SandboxStatus:
        """Return the status of a sandbox.

        Only the owner of the data folder declares a sandbox dead: others may just not see its processes, and use the
        status that the owner stored.
        """
        if seen is None:
            if not self._ownership.held():
                return sandbox.status
            return SandboxStatus.MISSING if sandbox.has_run else SandboxStatus.ERROR
        if seen.stopped:
            return SandboxStatus.PAUSED
        if sandbox.port is None:
            return SandboxStatus.RUNNING
        if await answers(sandbox.port):
            self._silent_since.pop(sandbox.port, None)
            return SandboxStatus.RUNNING
        moment = time.monotonic()
        silent = moment - self._silent_since.setdefault(sandbox.port, moment)
        return SandboxStatus.STARTING if silent < READY_WITHIN else SandboxStatus.ERROR


def _make(folder: Path, *, with_input: bool) -> Path:
    """Create the folder of a sandbox, accessible to its owner only, and return the input of its command."""
    folder.mkdir(mode=0o700, parents=True)
    (folder / "workspace").mkdir()
    if not with_input:
        return Path(os.devnull)
    os.mkfifo(folder / "input", 0o600)
    return folder / "input"


def _remove(folder: Path) -> None:
    """Remove a folder with everything in it, even read-only subfolders."""
    for parent, folders, _ in os.walk(folder):
        for each in (Path(parent) / name for name in folders):
            if not each.is_symlink():
                each.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    """Return a port of 127.0.0.1 on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as trial:
        return int(trial.getsockname()[1])


async def answers(port: int) -> bool:
    """Request ``/alive`` on a port of 127.0.0.1; any HTTP response counts."""
    try:
        async with asyncio.timeout(_ANSWERS_WITHIN):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(b"GET /alive HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")
                return (await reader.readline()).startswith(b"HTTP/")
            finally:
                writer.close()
    except (OSError, TimeoutError, ValueError):  # ValueError: an endless first line
        return False
