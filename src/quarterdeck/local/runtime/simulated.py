"""Sandboxes that are only rows, and change by themselves as if people and agents were at work."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import NamedTuple
from urllib.parse import urlsplit

import aiosqlite
from fastapi import HTTPException

from quarterdeck.client.models.enums import SandboxStatus, UrlName
from quarterdeck.local.errors import LocalServiceError
from quarterdeck.local.records import stamp
from quarterdeck.local.runtime.played import PlayedAgents
from quarterdeck.local.runtime.seeding import AGENTS, SEED, SPECS, new_id, new_key, seed, weighted
from quarterdeck.local.sandboxes import ExposedUrl, Sandbox, Sandboxes
from quarterdeck.local.specs import Spec
from quarterdeck.local.store import Store

Clock = Callable[[], datetime]
"""Gives the moment it is, in UTC."""
NOWHERE = "http://127.0.0.1:1/simulated"
"""Where simulated sandboxes say that they are: nothing listens at port 1."""

_PAUSED_AFTER = 0.6
"""Seconds that a pause takes."""
_RUNS_AFTER = (2.0, 5.0)
"""Between how many seconds a start or resume takes."""
_CATCHES_UP = timedelta(seconds=10)
"""The longest time that is made up for when nobody asked anything."""
_STEP = timedelta(seconds=0.2)
"""The shortest time in which something that is under way arrives."""
_BUSY_AT = 20
"""Which request for a change, counted from 1, is told to come back later where things go wrong on purpose."""


class _Fate(NamedTuple):
    """What becomes of a sandbox by itself: one of this status comes to that one; from RUNNING to RUNNING it works."""

    of: SandboxStatus
    to: SandboxStatus


_FATES: Mapping[_Fate, float] = {
    _Fate(SandboxStatus.RUNNING, SandboxStatus.RUNNING): 75,
    _Fate(SandboxStatus.RUNNING, SandboxStatus.PAUSED): 11,
    _Fate(SandboxStatus.PAUSED, SandboxStatus.STARTING): 11,
    _Fate(SandboxStatus.RUNNING, SandboxStatus.ERROR): 1.5,
    _Fate(SandboxStatus.ERROR, SandboxStatus.STARTING): 1.5,
}
"""Percent of what happens. As many pause as wake, and fail as recover, so that a simulation stays as it begins."""


@dataclass(frozen=True)
class Simulation:
    """How many sandboxes are pretended, and what becomes of them; as many begin the same each time."""

    sandboxes: int
    churn: float = 1.0
    """Percent of them that change by themselves in a second."""
    faults: bool = False
    """Whether some go wrong on purpose, which is for trying."""

    def ids(self) -> tuple[str, ...]:
        """The ids of the sandboxes it begins with, newest first."""
        dice = Random(f"ids {SEED}")  # noqa: S311 - nothing here is secret
        return tuple(new_id(dice) for _ in range(self.sandboxes))


class SimulatedSandboxes(Sandboxes):
    """Changes the rows of sandboxes and conversations with time, which passes only when somebody asks."""

    answers_when_ready = False

    def __init__(self, simulation: Simulation, store: Store, clock: Clock) -> None:
        self._played = PlayedAgents(store, clock)
        super().__init__(store, SPECS, self._played)
        self._simulation = simulation
        faulty = simulation.ids() if simulation.faults else ()
        self._pauses_fail = faulty[3::25]
        """Sandboxes whose pause is answered with an error."""
        self._pauses_ignored = faulty[7::50]
        """Those whose pause is answered as done, and not done."""
        self._gone = faulty[11::33]
        """Those that are listed until something is asked of them, and gone then."""
        self._clock = clock
        self._now = clock()
        self._dice = Random(f"world {SEED}")  # noqa: S311 - nothing here is secret
        self._coming: dict[str, tuple[datetime, SandboxStatus]] = {}
        """When which sandbox will read how; what is asked of one anew takes the place of what was coming."""
        self._owed = 0.0
        """How many changes by themselves are due."""
        self._asked = 0
        self._passing = asyncio.Lock()

    async def open(self) -> None:
        """Fill the store with what the simulation begins with."""
        await seed(self._store, self._simulation.ids(), self._now)
        for row in await self._store.select("sandboxes", "status = 'STARTING'"):
            self._come(row["id"], SandboxStatus.RUNNING, self._dice.uniform(2, 60))

    async def catch_up(self) -> None:
        """Let the time pass that has passed: what was under way arrives, some rows change, and agents go on."""
        async with self._passing:
            passed = self._clock() - self._now
            if passed >= _STEP:
                self._now += passed
                async with self._store.transaction() as connection:
                    await self._arrive(connection)
                    await self._change_some(connection, min(passed, _CATCHES_UP))
        await self._played.pass_time()

    def addresses(self, sandbox: Sandbox, agent_server: str) -> list[ExposedUrl]:
        """That of its agent server, and two where nothing answers."""
        place, key = f"{NOWHERE}/{sandbox.id}", sandbox.key.get_secret_value()
        return [
            ExposedUrl(name=UrlName.AGENT_SERVER, url=agent_server, port=urlsplit(agent_server).port or 80),
            ExposedUrl(name=UrlName.VSCODE, url=f"{place}/vscode/?tkn={key}&folder=workspace", port=1),
            ExposedUrl(name=UrlName.WORKER_1, url=f"{place}/worker-1", port=1),
        ]

    async def start(self, spec: Spec) -> str:
        """A new sandbox, which runs in a while."""
        self._count()
        sandbox_id = new_id(self._dice)
        await self._store.run(
            "INSERT INTO sandboxes (id, spec_id, created_at, key, status, pid, ticks, boot)"
            " VALUES (?, ?, ?, ?, 'STARTING', 0, 0, '')",
            (sandbox_id, spec.id, stamp(self._now), new_key(self._dice)),
        )
        self._come(sandbox_id, SandboxStatus.RUNNING, self._dice.uniform(*_RUNS_AFTER))
        return sandbox_id

    async def pause(self, sandbox_id: str) -> bool:
        """Let a sandbox that is up be paused in a moment; nothing happens to any other."""
        status = await self._asked_for(sandbox_id)
        if sandbox_id in self._pauses_fail:
            raise LocalServiceError("The simulated sandbox does not let itself be paused.")
        up = status in {SandboxStatus.RUNNING, SandboxStatus.STARTING}
        if up and sandbox_id not in self._pauses_ignored:
            self._come(sandbox_id, SandboxStatus.PAUSED, _PAUSED_AFTER)
        return status not in {None, SandboxStatus.MISSING}

    async def resume(self, sandbox_id: str) -> bool:
        """Wake a paused sandbox; nothing happens to any other."""
        status = await self._asked_for(sandbox_id)
        if status is SandboxStatus.PAUSED:
            async with self._store.transaction() as connection:
                await self._wake(connection, sandbox_id)
        return status not in {None, SandboxStatus.MISSING}

    async def delete(self, sandbox_id: str) -> bool:
        """Take a sandbox away; its conversations stay, without one."""
        return await self._asked_for(sandbox_id) is not None and await self._remove(sandbox_id)

    def _count(self) -> None:
        """Count what is asked; raises `HTTPException` (429) once, at the request that is to be refused."""
        self._asked += 1
        if self._simulation.faults and self._asked == _BUSY_AT:
            raise HTTPException(429, "Too many requests", {"Retry-After": "2"})

    async def _asked_for(self, sandbox_id: str) -> SandboxStatus | None:
        """The status of the sandbox that is asked something; None when there is none."""
        self._count()
        if sandbox_id in self._gone:
            await self._remove(sandbox_id)
        sandbox = await self.one(sandbox_id)
        return sandbox.status if sandbox else None

    async def _remove(self, sandbox_id: str) -> bool:
        self._coming.pop(sandbox_id, None)
        return await self._store.run("DELETE FROM sandboxes WHERE id = ?", (sandbox_id,)) > 0

    async def _arrive(self, connection: aiosqlite.Connection) -> None:
        """Let sandboxes read what was coming, if it is due."""
        due = [(status, each) for each, (when, status) in self._coming.items() if when <= self._now]
        await connection.executemany("UPDATE sandboxes SET status = ? WHERE id = ?", due)
        for _, sandbox_id in due:
            del self._coming[sandbox_id]

    async def _change_some(self, connection: aiosqlite.Connection, passed: timedelta) -> None:
        """Change as many sandboxes, or conversations in them, as is due in that time."""
        share = self._simulation.churn / 100
        self._owed += passed.total_seconds() * share * await self._store.count("sandboxes") if share else 0
        changes, self._owed = int(self._owed), self._owed % 1
        if not changes:
            return
        by_status: defaultdict[str, list[str]] = defaultdict(list)
        for row in await connection.execute_fetchall("SELECT id, status FROM sandboxes"):
            by_status[row["status"]].append(row["id"])
        for _ in range(changes):
            fate = weighted(self._dice, _FATES)
            if of_status := by_status[fate.of]:
                sandbox_id = of_status.pop(self._dice.randrange(len(of_status)))
                await self._change(connection, sandbox_id, fate)

    async def _change(self, connection: aiosqlite.Connection, sandbox_id: str, fate: _Fate) -> None:
        if fate.to is SandboxStatus.STARTING:
            await self._wake(connection, sandbox_id)
        elif fate.to is not fate.of:
            self._coming.pop(sandbox_id, None)
            await connection.execute("UPDATE sandboxes SET status = ? WHERE id = ?", (fate.to, sandbox_id))
        else:
            spent, agent = self._dice.expovariate(1 / 0.02), weighted(self._dice, AGENTS)
            await connection.execute(
                "UPDATE conversations SET cost = coalesce(cost, 0) + ?, updated_at = ?, agent = ?"
                " WHERE sandbox_id = ? AND id NOT IN (SELECT value FROM json_each(?))",
                (spent, stamp(self._now), agent, sandbox_id, json.dumps([*self._played.plays])),
            )

    async def _wake(self, connection: aiosqlite.Connection, sandbox_id: str) -> None:
        """Let a sandbox start with a new key, as remote ones do, and run in a while."""
        statement = "UPDATE sandboxes SET status = 'STARTING', key = ? WHERE id = ?"
        await connection.execute(statement, (new_key(self._dice), sandbox_id))
        self._come(sandbox_id, SandboxStatus.RUNNING, self._dice.uniform(*_RUNS_AFTER))

    def _come(self, sandbox_id: str, status: SandboxStatus, after: float) -> None:
        self._coming[sandbox_id] = (self._now + timedelta(seconds=after), status)
