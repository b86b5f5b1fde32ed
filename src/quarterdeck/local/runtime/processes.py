"""Sandboxes as sessions of processes that outlive the service, known again by the identity of their leader."""

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
from quarterdeck.local.runtime.sessions import Seen, continue_session, end_session, launch, look, stop_session
from quarterdeck.local.sandboxes import READY_WITHIN, ExposedUrl, Identity, Sandbox, Sandboxes
from quarterdeck.local.specs import Spec
from quarterdeck.local.store import Ownership, Store

_LOG = "output.log"
"""What the command of a sandbox has written."""
_ANSWERS_WITHIN = 0.5
"""Seconds for an answer to come."""


class ProcessSandboxes(Sandboxes):
    """Runs sandboxes in folders of their own under one folder."""

    def __init__(self, folder: Path, store: Store, specs: Sequence[Spec], ownership: Ownership) -> None:
        super().__init__(store, specs, Agents(store))
        self._folder = folder
        self._addresses = {spec.id: spec.address for spec in specs}
        self._ownership = ownership
        self._silent_since: dict[int, float] = {}
        """By port, on the monotonic clock; a port that answers is not in it."""
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def look(self, sandboxes: Sequence[Sandbox]) -> Sequence[Sandbox]:
        """See what became of these sandboxes, and store what is news."""
        seen = await asyncio.to_thread(lambda: [look(sandbox.leader) for sandbox in sandboxes])
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
        """The one its spec speaks of, if it does."""
        name = self._addresses.get(sandbox.spec_id)
        if name is None or sandbox.port is None:
            return []
        url = f"http://127.0.0.1:{sandbox.port}/?session_api_key={sandbox.key.get_secret_value()}"
        return [ExposedUrl(name=name, url=url, port=sandbox.port)]

    def last_words(self, sandbox_id: str) -> str:
        """The last line a sandbox wrote, if any. Blocks."""
        try:
            with (self._folder / sandbox_id / _LOG).open("rb") as log:
                log.seek(max(0, log.seek(0, os.SEEK_END) - 2000))
                return log.read().decode(errors="replace").strip().rpartition("\n")[2].strip()
        except FileNotFoundError:
            return ""

    async def start(self, spec: Spec) -> str:
        """Start the processes of a new sandbox and give its id; it may not answer yet."""
        sandbox_id, key, created_at = secrets.token_hex(10), new_key(), now()
        port = _free_port() if spec.address else None
        folder = self._folder / sandbox_id
        environment = {**spec.environment, "SESSION_API_KEY": key.get_secret_value(), "SANDBOX_ID": sandbox_id}
        try:
            feed = await asyncio.to_thread(_make, folder, with_input=spec.reads_input)
            command, log = spec.command_line(port), folder / _LOG
            leader = await asyncio.to_thread(launch, command, folder / "workspace", log, feed, environment)
        except (LocalServiceError, OSError):
            await asyncio.to_thread(_remove, folder)
            raise
        row = {
            "id": sandbox_id,
            "spec_id": spec.id,
            "created_at": created_at,
            "key": key.get_secret_value(),
            "port": port,
            **asdict(leader),
            "status": SandboxStatus.STARTING,
        }
        try:
            await self._store.insert("sandboxes", row)
        except sqlite3.Error:
            await end_session(leader)
            raise
        return sandbox_id

    async def pause(self, sandbox_id: str) -> bool:
        """Stop every process of a sandbox; False when there is none to stop."""
        return await self._signal(sandbox_id, stop_session)

    async def resume(self, sandbox_id: str) -> bool:
        """Let every process of a sandbox go on; False when there is none."""
        return await self._signal(sandbox_id, continue_session)

    async def delete(self, sandbox_id: str) -> bool:
        """End the processes of a sandbox and remove its folder; False when there is no such sandbox."""
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
            if sandbox is None or await asyncio.to_thread(look, sandbox.leader) is Seen.GONE:
                return False
            done = await signal(sandbox.leader)
            if sandbox.port:
                self._silent_since.pop(sandbox.port, None)
        if not done:
            raise LocalServiceError(f"Not every process of sandbox {sandbox_id} could be signalled. Try again.")
        return True

    async def _stored(self, sandbox_id: str) -> Sandbox | None:
        """A sandbox as it was last seen."""
        rows = await self._store.by_ids("sandboxes", [sandbox_id])
        return Sandbox(**rows[0]) if rows else None

    async def _check_own(self, sandbox: Sandbox) -> None:
        """Refuse to end what may run out of sight: its processes cannot be seen here, and the owner saw them alive."""
        dead = sandbox.status in {SandboxStatus.MISSING, SandboxStatus.ERROR}
        if not dead and not self._ownership.held() and await asyncio.to_thread(look, sandbox.leader) is Seen.GONE:
            raise LocalServiceError(
                f"Sandbox {sandbox.id} is not seen from here. Delete it in the Quarterdeck that runs it."
            )

    async def _judge(self, sandbox: Sandbox, seen: Seen) -> SandboxStatus:
        """Say what state a sandbox is in.

        Only the owner of the data folder declares a sandbox dead: to everybody else, who may just not see its
        processes, it is what the owner last saw.
        """
        if seen is Seen.GONE:
            if not self._ownership.held():
                return sandbox.status
            return SandboxStatus.MISSING if sandbox.has_run else SandboxStatus.ERROR
        if seen is Seen.STOPPED:
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
    """Create the folder of a sandbox, for its owner alone, and give what its command reads."""
    folder.mkdir(mode=0o700, parents=True)
    (folder / "workspace").mkdir()
    if not with_input:
        return Path(os.devnull)
    os.mkfifo(folder / "input", 0o600)
    return folder / "input"


def _remove(folder: Path) -> None:
    """Remove it with all that is in it, also from folders that their maker made read-only."""
    for parent, folders, _ in os.walk(folder):
        for each in (Path(parent) / name for name in folders):
            if not each.is_symlink():
                each.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as trial:
        return int(trial.getsockname()[1])


async def answers(port: int) -> bool:
    """Ask ``/alive`` on a port of 127.0.0.1; any HTTP answer is one."""
    try:
        async with asyncio.timeout(_ANSWERS_WITHIN):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(b"GET /alive HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")
                return (await reader.readline()).startswith(b"HTTP/")
            finally:
                writer.close()
    except (OSError, TimeoutError, ValueError):  # ValueError: a first line without end
        return False
