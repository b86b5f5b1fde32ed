"""Services opened on folders of their own, or simulated; whatever runs in their sandboxes is killed afterwards."""

import asyncio
import json
import os
import signal
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, closing, suppress
from datetime import UTC, datetime, timedelta
from inspect import isawaitable
from pathlib import Path
from typing import Any

import httpx
import pytest

from quarterdeck.local.runtime.sessions import Process, members
from quarterdeck.local.runtime.simulated import Simulation
from quarterdeck.local.sandboxes import Identity
from quarterdeck.local.service import LocalService
from quarterdeck.local.specs import BUILT_IN, Spec
from tests.conftest import Home
from tests.servers import Mode, open_server

Json = Any
SANDBOXES, CONVERSATIONS = "/api/v1/sandboxes", "/api/v1/app-conversations"


class Caller:
    """Asks an app as the deck does, in the process, with the right key unless told otherwise."""

    def __init__(self, service: LocalService) -> None:
        transport = httpx.ASGITransport(service.app, raise_app_exceptions=False)
        key, self.service = {"X-Session-API-Key": service.key.get_secret_value()}, service
        self.http = httpx.AsyncClient(transport=transport, base_url="http://local", headers=key)

    async def get(self, path: str, **query: Json) -> Json:
        return (await self.http.get(path, params=query)).raise_for_status().json()

    async def post(self, path: str, body: Json = None, **query: Json) -> Json:
        return (await self.http.post(path, json=body, params=query)).raise_for_status().json()

    async def start(self, spec: str) -> Json:
        return await self.post(SANDBOXES, sandbox_spec_id=spec)

    async def delete(self, sandbox_id: str) -> httpx.Response:
        return await self.http.delete(f"{SANDBOXES}/{sandbox_id}", params={"sandbox_id": sandbox_id})

    async def sandbox(self, sandbox_id: str) -> Json:
        """What is told of a sandbox, None when there is none."""
        return (await self.get(SANDBOXES, id=sandbox_id))[0]

    async def status(self, sandbox_id: str) -> str:
        return str((await self.sandbox(sandbox_id))["status"])

    async def created(self, body: Json) -> Json:
        """The start task of a new conversation once it has ended."""
        return await self.ended((await self.post(CONVERSATIONS, body))["id"])

    async def ended(self, task_id: str) -> Json:
        async def over() -> Json:
            (task,) = await self.get(f"{CONVERSATIONS}/start-tasks", ids=task_id)
            return task if task["status"] in {"READY", "ERROR"} else None

        return await until(over)

    async def all(self, path: str = SANDBOXES) -> list[Json]:
        return await every(self.get, f"{path}/search")


class Simulated(Caller):
    """Asks a simulated service, whose time is moved by hand."""

    def __init__(self, service: LocalService, clock: list[datetime]) -> None:
        super().__init__(service)
        self._clock = clock

    def passes(self, seconds: float) -> None:
        self._clock[0] += timedelta(seconds=seconds)


Opener = Callable[..., Awaitable[Caller]]


@pytest.fixture
def folder(home: Home) -> Iterator[Path]:
    """The data folder, which is not there yet; afterwards nothing of its sandboxes runs."""
    yield home.data
    while running := processes(home.data):
        for process in running:
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)


@pytest.fixture
async def open_service(folder: Path) -> AsyncIterator[Opener]:
    """Opens the data folder, as often as asked, and closes what was opened."""
    callers: list[Caller] = []

    async def open_one(store: Mode = "merge", specs: Sequence[Spec] = BUILT_IN) -> Caller:
        callers.append(Caller(await open_server(folder, store, specs)))
        return callers[-1]

    yield open_one
    for caller in callers:
        await caller.http.aclose()
        await caller.service.aclose()


@pytest.fixture
async def caller(open_service: Opener) -> Caller:
    return await open_service()


@asynccontextmanager
async def simulated(simulation: Simulation) -> AsyncIterator[Simulated]:
    clock = [datetime(2026, 3, 1, 12, tzinfo=UTC)]
    service = await LocalService.simulated(simulation, clock=lambda: clock[0])
    caller = Simulated(service, clock)
    async with aclosing(service), caller.http:
        yield caller


async def every(get: Callable[..., Awaitable[Json]], path: str) -> list[Json]:
    """Every record of a list that is told in pages."""
    page = await get(path)
    records: list[Json] = page["items"]
    while page["next_page_id"] is not None:
        page = await get(path, page_id=page["next_page_id"])
        records += page["items"]
    return records


async def until(found: Callable[[], Json], within: float = 20.0) -> Json:
    """Ask until there is something to give; fails when the time is over."""
    deadline = time.monotonic() + within
    while True:
        result = found()
        if result := (await result if isawaitable(result) else result):
            return result
        assert time.monotonic() < deadline, "what was waited for did not come"
        await asyncio.sleep(0.01)


def sql(data: Path, statement: str, *values: str) -> list[Any]:
    """Run a statement on the database of a data folder, behind the back of its service."""
    with closing(sqlite3.connect(data / "service.db", isolation_level=None)) as database:
        return database.execute(statement, values).fetchall()


def leaders(data: Path) -> list[Identity]:
    if not (data / "service.db").exists():
        return []
    return [Identity(*row) for row in sql(data, "SELECT pid, ticks, boot FROM sandboxes")]


def processes(data: Path) -> list[Process]:
    return [process for leader in leaders(data) for process in members(leader)]


def stored(data: Path, document: str = "settings") -> Json:
    """A document of a data folder as it is stored, secrets in clear."""
    rows = sql(data, "SELECT record FROM documents WHERE name = ?", document)
    return json.loads(rows[0][0]) if rows else None
