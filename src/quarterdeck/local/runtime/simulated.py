"""Simulated sandboxes: only rows, which change by themselves as if people and agents were working."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from urllib.parse import urlsplit

import aiosqlite
from fastapi import HTTPException
from pydantic import SecretStr

from quarterdeck.client.models.enums import SandboxStatus, UrlName
from quarterdeck.local.errors import LocalServiceError
from quarterdeck.local.records import stamp
from quarterdeck.local.runtime.seeding import AGENTS, SEED, SPECS, new_id, new_key, seed, weighted
from quarterdeck.local.runtime.simulated_agents import SimulatedAgents
from quarterdeck.local.sandboxes import ExposedUrl, Sandbox, Sandboxes
from quarterdeck.local.specs import Spec
from quarterdeck.local.store import Store

Clock = Callable[[], datetime]
"""Returns the current time, in UTC."""
NOWHERE = "http://127.0.0.1:1/simulated"
"""The address of simulated sandboxes: nothing listens at port 1."""

_PAUSED_AFTER = 0.6
"""Seconds until a pause takes effect."""
_RUNS_AFTER = (2.0, 5.0)
"""Minimum and maximum seconds until a start or resume takes effect."""
_CATCHES_UP = timedelta(seconds=10)
"""The longest time that is simulated at once, after a period without requests."""
_STEP = timedelta(seconds=0.2)
"""The shortest time that is simulated."""
_BUSY_AT = 20
"""The number of the request, counted from 1, that is answered with 429 if faults are simulated."""


_TRANSITIONS: Mapping[tuple[SandboxStatus, SandboxStatus], float] = {
    (SandboxStatus.RUNNING, SandboxStatus.RUNNING): 75,
    (SandboxStatus.RUNNING, SandboxStatus.PAUSED): 11,
    (SandboxStatus.PAUSED, SandboxStatus.STARTING): 11,
    (SandboxStatus.RUNNING, SandboxStatus.ERROR): 1.5,
    (SandboxStatus.ERROR, SandboxStatus.STARTING): 1.5,
}
"""Weights of the spontaneous changes of a status; from RUNNING to RUNNING means that the agent in it works.

As many pause as resume, and fail as recover, so that the mix of statuses stays the same.
"""


@dataclass(frozen=True)
class Simulation:
    """How many sandboxes are simulated, and how they change; the same number always starts the same."""

    sandboxes: int
    churn: float = 1.0
    """Percentage of sandboxes that change per second."""
    faults: bool = False
    """Whether some requests fail on purpose, for testing."""

    def ids(self) -> tuple[str, ...]:
        """Return the ids of the initial sandboxes, newest first."""
        rng = Random(f"ids {SEED}")  # noqa: S311 - nothing here is secret
        return tuple(new_id(rng) for _ in range(self.sandboxes))


class SimulatedSandboxes(Sandboxes):
    """Changes the rows of sandboxes and conversations with time, which is simulated only at requests."""

    agents: SimulatedAgents

    def __init__(self, simulation: Simulation, store: Store, clock: Clock) -> None:
        super().__init__(store, SPECS, SimulatedAgents(store, clock))
        self.simulated = simulation.sandboxes
        self._simulation = simulation
        faulty = simulation.ids() if simulation.faults else ()
        self._pauses_fail = faulty[3::25]
        """Sandboxes whose pause is answered with an error."""
        self._pauses_ignored = faulty[7::50]
        """Sandboxes whose pause is confirmed, but does not happen."""
        self._gone = faulty[11::33]
        """Sandboxes that are listed until a request about them, and then no longer exist."""
        self._clock = clock
        self._now = clock()
        self._rng = Random(f"world {SEED}")  # noqa: S311 - nothing here is secret
        self._coming: dict[str, tuple[datetime, SandboxStatus]] = {}
        """The next status of a sandbox and when it takes effect; a new request replaces it."""
        self._changes_due = 0.0
        """The number of spontaneous changes that are due."""
        self._asked = 0
        self._passing = asyncio.Lock()

    async def open(self) -> None:
        """Fill the store with the initial rows."""
        await seed(self._store, self._simulation.ids(), self._now)
        for row in await self._store.select("sandboxes", "status = 'STARTING'"):
            self._come(row["id"], SandboxStatus.RUNNING, self._rng.uniform(2, 60))

    async def catch_up(self) -> None:
        """Simulate the time since the last request: changes take effect, some rows change, agents continue."""
        async with self._passing:
            passed = self._clock() - self._now
            if passed >= _STEP:
                self._now += passed
                async with self._store.transaction() as connection:
                    await self._arrive(connection)
                    await self._change_some(connection, min(passed, _CATCHES_UP))
        await self.agents.pass_time()

    def addresses(self, sandbox: Sandbox, agent_server: str) -> list[ExposedUrl]:
        """Return the address of its agent server, and two at which nothing responds."""
        place, key = f"{NOWHERE}/{sandbox.id}", sandbox.key.get_secret_value()
        return [
            ExposedUrl(name=UrlName.AGENT_SERVER, url=agent_server, port=urlsplit(agent_server).port or 80),
            ExposedUrl(name=UrlName.VSCODE, url=f"{place}/vscode/?tkn={key}&folder=workspace", port=1),
            ExposedUrl(name=UrlName.WORKER_1, url=f"{place}/worker-1", port=1),
        ]

    async def start(self, spec: Spec) -> str:
        """Create a sandbox, which runs after a few seconds."""
        self._count()
        sandbox_id, key, status = new_id(self._rng), SecretStr(new_key(self._rng)), SandboxStatus.STARTING
        sandbox = Sandbox(id=sandbox_id, spec_id=spec.id, created_at=stamp(self._now), key=key, status=status)
        self._come(sandbox_id, SandboxStatus.RUNNING, self._rng.uniform(*_RUNS_AFTER))
        return await self._add(sandbox)

    async def pause(self, sandbox_id: str) -> bool:
        """Pause a sandbox that is up; any other is left unchanged."""
        status = await self._asked_for(sandbox_id)
        if sandbox_id in self._pauses_fail:
            raise LocalServiceError("The simulated sandbox does not let itself be paused.")
        up = status in {SandboxStatus.RUNNING, SandboxStatus.STARTING}
        if up and sandbox_id not in self._pauses_ignored:
            self._come(sandbox_id, SandboxStatus.PAUSED, _PAUSED_AFTER)
        return status not in {None, SandboxStatus.MISSING}

    async def resume(self, sandbox_id: str) -> bool:
        """Resume a paused sandbox; any other is left unchanged."""
        status = await self._asked_for(sandbox_id)
        if status is SandboxStatus.PAUSED:
            async with self._store.transaction() as connection:
                await self._wake(connection, sandbox_id)
        return status not in {None, SandboxStatus.MISSING}

    async def delete(self, sandbox_id: str) -> bool:
        """Delete a sandbox; its conversations stay, without one."""
        return await self._asked_for(sandbox_id) is not None and await self._remove(sandbox_id)

    def _count(self) -> None:
        """Count a request; raises `HTTPException` (429) for the one that is to be refused."""
        self._asked += 1
        if self._simulation.faults and self._asked == _BUSY_AT:
            raise HTTPException(429, "Too many requests", {"Retry-After": "2"})

    async def _asked_for(self, sandbox_id: str) -> SandboxStatus | None:
        """Return the status of the sandbox of a request; None if there is none."""
        self._count()
        if sandbox_id in self._gone:
            await self._remove(sandbox_id)
        sandbox = await self.one(sandbox_id)
        return sandbox.status if sandbox else None

    async def _remove(self, sandbox_id: str) -> bool:
        self._coming.pop(sandbox_id, None)
        return await self._store.run("DELETE FROM sandboxes WHERE id = ?", (sandbox_id,)) > 0

    async def _arrive(self, connection: aiosqlite.Connection) -> None:
        """Apply the changes of status that are due."""
        due = [(status, each) for each, (when, status) in self._coming.items() if when <= self._now]
        for _, sandbox_id in due:
            del self._coming[sandbox_id]
        await connection.executemany("UPDATE sandboxes SET status = ? WHERE id = ?", due)

    async def _change_some(self, connection: aiosqlite.Connection, passed: timedelta) -> None:
        """Change as many sandboxes, or their conversations, as is due in that time."""
        changing_per_second = self._simulation.churn / 100 * await self._store.count("sandboxes")
        self._changes_due += passed.total_seconds() * changing_per_second
        changes, self._changes_due = int(self._changes_due), self._changes_due % 1
        if not changes:
            return
        by_status: defaultdict[str, list[str]] = defaultdict(list)
        for row in await connection.execute_fetchall("SELECT id, status FROM sandboxes"):
            by_status[row["status"]].append(row["id"])
        for _ in range(changes):
            before, after = weighted(self._rng, _TRANSITIONS)
            if of_status := by_status[before]:
                sandbox_id = of_status.pop(self._rng.randrange(len(of_status)))
                await self._change(connection, sandbox_id, after)

    async def _change(self, connection: aiosqlite.Connection, sandbox_id: str, after: SandboxStatus) -> None:
        if after is SandboxStatus.STARTING:
            await self._wake(connection, sandbox_id)
        elif after is not SandboxStatus.RUNNING:
            self._coming.pop(sandbox_id, None)
            await connection.execute("UPDATE sandboxes SET status = ? WHERE id = ?", (after, sandbox_id))
        else:
            spent, agent = self._rng.expovariate(1 / 0.02), weighted(self._rng, AGENTS)
            await connection.execute(
                "UPDATE conversations SET cost = coalesce(cost, 0) + ?, updated_at = ?, agent = ?"
                " WHERE sandbox_id = ? AND id NOT IN (SELECT value FROM json_each(?))",
                (spent, stamp(self._now), agent, sandbox_id, json.dumps([*self.agents.by_conversation])),
            )

    async def _wake(self, connection: aiosqlite.Connection, sandbox_id: str) -> None:
        """Set a sandbox to STARTING with a new key, as remote ones do; it runs after a few seconds."""
        statement = "UPDATE sandboxes SET status = 'STARTING', key = ? WHERE id = ?"
        await connection.execute(statement, (new_key(self._rng), sandbox_id))
        self._come(sandbox_id, SandboxStatus.RUNNING, self._rng.uniform(*_RUNS_AFTER))

    def _come(self, sandbox_id: str, status: SandboxStatus, after: float) -> None:
        self._coming[sandbox_id] = (self._now + timedelta(seconds=after), status)
