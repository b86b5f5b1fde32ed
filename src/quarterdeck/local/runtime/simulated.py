"""Sandboxes that are only rows, and change by themselves as if people and agents were at work."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

import aiosqlite

from quarterdeck.client.models.enums import SandboxStatus, UrlName
from quarterdeck.local.errors import BusyError, LocalServiceError
from quarterdeck.local.records import ExposedUrl, stamp
from quarterdeck.local.runtime.base import Sandbox
from quarterdeck.local.runtime.seeding import AGENTS, SPECS, new_id, new_key, seed, weighted, weighted_sample
from quarterdeck.local.runtime.simulated_conversation import SimulatedAgents
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
_BETWEEN_CHANGES = 1.0
"""Seconds: how often some change by themselves, so that this is no part of what most requests cost."""
_STATE = """CASE WHEN status = 'RUNNING' AND NOT EXISTS (
    SELECT 1 FROM conversations WHERE sandbox_id = sandboxes.id
) THEN 'EMPTY' ELSE status END"""
"""The status of a sandbox; of one that runs, whether anybody works in it."""
_FATES: Mapping[str, Mapping[SandboxStatus, float]] = {
    "RUNNING": {SandboxStatus.RUNNING: 0.775, SandboxStatus.PAUSED: 0.2, SandboxStatus.ERROR: 0.025},
    "EMPTY": {SandboxStatus.PAUSED: 0.2, SandboxStatus.ERROR: 0.025},
    "PAUSED": {SandboxStatus.STARTING: 0.1},
    "ERROR": {SandboxStatus.STARTING: 0.15},
}
"""How likely a sandbox goes where, by its state; RUNNING is to work on.

As many must pause as wake, and fail as recover, given the shares of statuses that a simulation begins with."""


@dataclass(frozen=True)
class Faults:
    """What goes wrong on purpose: nothing, unless it is said."""

    pauses_fail: frozenset[str] = frozenset()
    """Sandboxes whose pause is answered with a server error."""
    pauses_ignored: frozenset[str] = frozenset()
    """Sandboxes whose pause is answered as done, and not done."""
    gone: frozenset[str] = frozenset()
    """Sandboxes that are listed until something is asked of them, and then gone."""
    rate_limit_at: int | None = None
    """Which request for a change, counted from 1, is told to come back later."""
    retry_after: int = 1
    """In how many seconds it may."""


@dataclass(frozen=True)
class Simulation:
    """How many sandboxes are pretended, and what becomes of them; equal seeds make equal ones."""

    sandboxes: int
    churn: float = 1.0
    """Percent of them that change by themselves in a second."""
    seed: int = 1
    faults: Faults = Faults()

    def ids(self) -> tuple[str, ...]:
        """The ids of the sandboxes it begins with, newest first."""
        dice = Random(f"ids {self.seed}")  # noqa: S311 - nothing here is secret
        return tuple(new_id(dice) for _ in range(self.sandboxes))


def some_faults(ids: Sequence[str]) -> Faults:
    """A few of each fault, for trying: of 100 sandboxes four pauses fail, two are ignored and three are gone."""
    return Faults(
        pauses_fail=frozenset(ids[3::25]),
        pauses_ignored=frozenset(ids[7::50]),
        gone=frozenset(ids[11::33]),
        rate_limit_at=20,
        retry_after=2,
    )


class SimulatedRuntime:
    """Changes the rows of sandboxes and conversations with time, which passes only when somebody asks."""

    answers_when_ready = False
    specs = SPECS

    def __init__(self, simulation: Simulation, store: Store, clock: Clock) -> None:
        self.agents = SimulatedAgents(store, simulation.seed, clock)
        self._simulation = simulation
        self._faults = simulation.faults
        self._store = store
        self._clock = clock
        self._now = clock()
        self._dice = Random(f"world {simulation.seed}")  # noqa: S311 - nothing here is secret
        self._coming: dict[str, tuple[datetime, SandboxStatus]] = {}
        """When which sandbox will read how; what is asked of one anew takes the place of what was coming."""
        self._unchanged_for = 0.0
        """Seconds in which nothing changed by itself."""
        self._owed = 0.0
        """How many changes are due for that."""
        self._asked = 0
        self._passing = asyncio.Lock()

    async def open(self) -> None:
        """Fill the store with what the simulation begins with."""
        await seed(self._store, self._simulation.seed, self._simulation.ids(), self._now)
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
                    await self._change_some(connection, await self._changes_due(min(passed, _CATCHES_UP)))
        await self.agents.pass_time()

    async def look(self, sandboxes: Sequence[Sandbox]) -> list[Sandbox]:
        """They are what their rows say."""
        return list(sandboxes)

    def addresses(self, sandbox: Sandbox, agent_server: str) -> list[ExposedUrl]:
        """That of its agent server, and two where nothing answers."""
        place, key = f"{NOWHERE}/{sandbox.id}", sandbox.key.get_secret_value()
        return [
            ExposedUrl(name=UrlName.AGENT_SERVER, url=agent_server, port=urlsplit(agent_server).port or 80),
            ExposedUrl(name=UrlName.VSCODE, url=f"{place}/vscode/?tkn={key}&folder=workspace", port=1),
            ExposedUrl(name=UrlName.WORKER_1, url=f"{place}/worker-1", port=1),
        ]

    def workspace(self, _sandbox_id: str) -> Path | None:
        """None: there are no files."""
        return None

    def last_words(self, _sandbox_id: str) -> str:
        """None: nothing runs."""
        return ""

    async def start(self, spec: Spec) -> str:
        """A new sandbox, which runs in a while."""
        self._count()
        sandbox_id = new_id(self._dice)
        await self._store.run(
            "INSERT INTO sandboxes (id, spec_id, created_at, key, status, pid, ticks, boot)"
            " VALUES (?, ?, ?, ?, 'STARTING', 0, 0, '')",
            (sandbox_id, spec.id, stamp(self._now), new_key(self._dice)),
        )
        self._run_soon(sandbox_id)
        return sandbox_id

    async def pause(self, sandbox_id: str) -> bool:
        """Let a sandbox that is up be paused in a moment; nothing happens to any other."""
        status = await self._asked_for(sandbox_id)
        if sandbox_id in self._faults.pauses_fail:
            raise LocalServiceError("The simulated sandbox does not let itself be paused.")
        up = status in {SandboxStatus.RUNNING, SandboxStatus.STARTING}
        if up and sandbox_id not in self._faults.pauses_ignored:
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
        await self._asked_for(sandbox_id)
        return await self._remove(sandbox_id)

    def _count(self) -> None:
        """Count what is asked; raises `BusyError` when it is the turn of that."""
        self._asked += 1
        if self._asked == self._faults.rate_limit_at:
            raise BusyError("Too many requests", self._faults.retry_after)

    async def _asked_for(self, sandbox_id: str) -> SandboxStatus | None:
        """The status of the sandbox that is asked something; None when there is none."""
        self._count()
        if sandbox_id in self._faults.gone:
            await self._remove(sandbox_id)
        rows = await self._store.by_ids("sandboxes", [sandbox_id])
        return SandboxStatus(rows[0]["status"]) if rows else None

    async def _remove(self, sandbox_id: str) -> bool:
        self._coming.pop(sandbox_id, None)
        return await self._store.run("DELETE FROM sandboxes WHERE id = ?", (sandbox_id,)) > 0

    async def _arrive(self, connection: aiosqlite.Connection) -> None:
        """Let sandboxes read what was coming, if it is due."""
        due = [(status, each) for each, (when, status) in self._coming.items() if when <= self._now]
        await connection.executemany("UPDATE sandboxes SET status = ? WHERE id = ?", due)
        for _, sandbox_id in due:
            del self._coming[sandbox_id]

    async def _changes_due(self, passed: timedelta) -> int:
        """How many sandboxes change by themselves now; what is left of one is owed."""
        self._unchanged_for += passed.total_seconds()
        if self._unchanged_for < _BETWEEN_CHANGES:
            return 0
        self._owed += self._unchanged_for * await self._store.count("sandboxes") * self._simulation.churn / 100
        self._unchanged_for = 0.0
        changes, self._owed = int(self._owed), self._owed % 1
        return changes

    async def _change_some(self, connection: aiosqlite.Connection, changes: int) -> None:
        """Change so many sandboxes, or conversations in them."""
        if not changes:
            return
        rows = await connection.execute_fetchall(f"SELECT id, {_STATE} AS state FROM sandboxes")  # noqa: S608 - both are ours
        states = {row["id"]: row["state"] for row in rows if row["state"] in _FATES}
        weights = {sandbox_id: sum(_FATES[state].values()) for sandbox_id, state in states.items()}
        for sandbox_id in weighted_sample(self._dice, weights, changes):
            await self._change(connection, sandbox_id, weighted(self._dice, _FATES[states[sandbox_id]]))

    async def _change(self, connection: aiosqlite.Connection, sandbox_id: str, fate: SandboxStatus) -> None:
        match fate:
            case SandboxStatus.PAUSED:
                self._come(sandbox_id, SandboxStatus.PAUSED, _PAUSED_AFTER)
            case SandboxStatus.STARTING:
                await self._wake(connection, sandbox_id)
            case SandboxStatus.ERROR:
                self._coming.pop(sandbox_id, None)
                await connection.execute("UPDATE sandboxes SET status = 'ERROR' WHERE id = ?", (sandbox_id,))
            case _:
                spent, agent = self._dice.expovariate(1 / 0.02), weighted(self._dice, AGENTS)
                await connection.execute(
                    "UPDATE conversations SET cost = coalesce(cost, 0) + ?, updated_at = ?, agent = ?"
                    " WHERE sandbox_id = ? AND id NOT IN (SELECT value FROM json_each(?))",
                    (spent, stamp(self._now), agent, sandbox_id, json.dumps([*self.agents.plays])),
                )

    async def _wake(self, connection: aiosqlite.Connection, sandbox_id: str) -> None:
        """Let a sandbox start with a new key, as remote ones do, and run in a while."""
        statement = "UPDATE sandboxes SET status = 'STARTING', key = ? WHERE id = ?"
        await connection.execute(statement, (new_key(self._dice), sandbox_id))
        self._run_soon(sandbox_id)

    def _run_soon(self, sandbox_id: str) -> None:
        self._come(sandbox_id, SandboxStatus.RUNNING, self._dice.uniform(*_RUNS_AFTER))

    def _come(self, sandbox_id: str, status: SandboxStatus, after: float) -> None:
        self._coming[sandbox_id] = (self._now + timedelta(seconds=after), status)
