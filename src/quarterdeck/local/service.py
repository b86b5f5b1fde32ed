"""The local service, opened on a data folder: creates its parts and the ASGI app."""

import asyncio
import secrets
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from fastapi import Depends, FastAPI, HTTPException, Request, Response, Security
from fastapi.exceptions import RequestValidationError
from fastapi.security import APIKeyHeader
from pydantic import SecretStr
from starlette.types import ASGIApp, Receive, Scope, Send

from quarterdeck import __version__
from quarterdeck.local.about import health_router, options_router
from quarterdeck.local.agent_server import agent_router, copies_router
from quarterdeck.local.conversations import Conversations, conversations_router
from quarterdeck.local.errors import LocalServiceError
from quarterdeck.local.records import json_answer, new_key
from quarterdeck.local.runtime.processes import ProcessSandboxes
from quarterdeck.local.runtime.simulated import Clock, SimulatedSandboxes, Simulation
from quarterdeck.local.sandboxes import Sandboxes, sandboxes_router, specs_router
from quarterdeck.local.secrets import Secrets, secrets_router
from quarterdeck.local.settings import Settings, settings_router
from quarterdeck.local.specs import BUILT_IN, Spec
from quarterdeck.local.start_tasks import StartTasks, start_tasks_router
from quarterdeck.local.store import ChangeRunner, Ownership, Store

App = Callable[..., Awaitable[None]]
"""An ASGI app."""


@dataclass(frozen=True)
class LocalService:
    """An opened service: an ASGI app and the key it requires."""

    app: App
    key: SecretStr
    store: Store
    _closing: AsyncExitStack

    @classmethod
    async def open(
        cls, folder: Path, *, key: SecretStr | None = None, specs: Sequence[Spec] = BUILT_IN
    ) -> "LocalService":
        """Open a data folder, which is created if missing, with a new key unless one is given.

        `specs` are the specs of sandboxes, the first one is the default. Raises `LocalServiceError` if the folder
        cannot be used.
        """
        async with AsyncExitStack() as opened:
            folder, ownership = await asyncio.to_thread(_take_folder, folder)
            opened.callback(ownership.close)
            store = await Store.open(folder / "service.db")
            opened.push_async_callback(store.close)
            sandboxes = ProcessSandboxes(folder / "sandboxes", store, specs, ownership)
            key = key or new_key()
            app, start_tasks = await asyncio.to_thread(build, store, sandboxes, key)
            store.changes.begin(start_tasks.go_on(ownership))
            return cls(app, key, store, opened.pop_all())

    @classmethod
    async def simulated(
        cls, simulation: Simulation, *, key: SecretStr | None = None, clock: Clock = lambda: datetime.now(UTC)
    ) -> "LocalService":
        """Open a simulated service, of which nothing is stored, with a new key unless one is given."""
        async with AsyncExitStack() as opened:
            store = await Store.open(None)
            opened.push_async_callback(store.close)
            sandboxes = SimulatedSandboxes(simulation, store, clock)
            await sandboxes.open()
            key = key or new_key()
            app, _ = await asyncio.to_thread(build, store, sandboxes, key)
            return cls(app, key, store, opened.pop_all())

    async def aclose(self) -> None:
        """Finish the current changes, close the database and release the folder; sandboxes keep running."""
        await self._closing.aclose()


def build(store: Store, sandboxes: Sandboxes, key: SecretStr) -> tuple[FastAPI, StartTasks]:
    """Build the app and its start tasks. Blocks for tens of milliseconds.

    Everything except health and server info requires the key, agent servers that of their sandbox.
    """
    settings, conversations = Settings(store), Conversations(store, sandboxes)
    start_tasks = StartTasks(store, sandboxes, conversations, settings)
    app = new_app(store)
    app.include_router(health_router(sandboxes.simulated))
    app.include_router(agent_router(store, sandboxes, conversations))
    needs_key = Depends(guard(key))
    for router in (
        settings_router(settings),
        secrets_router(Secrets(store)),
        options_router(),
        specs_router(sandboxes.specs),
    ):
        app.include_router(router, dependencies=[needs_key])
    for router in (
        sandboxes_router(sandboxes),
        start_tasks_router(start_tasks),
        conversations_router(store, conversations),
        copies_router(sandboxes, conversations),
    ):
        app.include_router(router, prefix="/api/v1", dependencies=[needs_key, Depends(sandboxes.catch_up)])
    return app, start_tasks


def new_app(store: Store) -> FastAPI:
    """Return an app without routes, which completes requests and describes errors."""
    app = FastAPI(
        title="Quarterdeck local service",
        version=__version__,
        description="Settings, sandboxes, and conversations that are stored or played. It runs no agent.",
        exception_handlers={
            RequestValidationError: _on_invalid,
            LocalServiceError: _on_own_error,
            sqlite3.Error: _on_failure,
            OSError: _on_failure,
        },
    )
    app.add_middleware(complete_requests, changes=store.changes)
    return app


def guard(key: SecretStr) -> Callable[..., Awaitable[None]]:
    """Return a dependency that requires the key; missing, empty and wrong keys get the same response, equally fast."""

    async def check(
        sent: Annotated[str | None, Security(APIKeyHeader(name="X-Session-API-Key", auto_error=False))],
    ) -> None:
        if not secrets.compare_digest((sent or "").encode(), key.get_secret_value().encode()):
            raise HTTPException(401, "Unauthorized")

    return check


def complete_requests(app: ASGIApp, changes: ChangeRunner) -> ASGIApp:
    """Return an app that completes every request, even if the client stops waiting for the response."""

    async def complete(scope: Scope, receive: Receive, send: Send) -> None:
        """Run a request as one change; a socket stays open, and protects its own changes."""
        answer = app(scope, receive, send)
        await (changes.run(answer) if scope["type"] == "http" else answer)

    return complete


async def _on_invalid(_request: Request, error: RequestValidationError) -> Response:
    """Respond with 422 as FastAPI does, but without the input, which may contain secrets."""
    problems = [{"type": one["type"], "loc": one["loc"], "msg": one["msg"], "input": None} for one in error.errors()]
    return json_answer({"detail": problems}, 422)


async def _on_own_error(_request: Request, error: LocalServiceError) -> Response:
    return json_answer({error.member: str(error)}, error.status)


async def _on_failure(_request: Request, error: Exception) -> Response:
    """Respond with 500 and the words of the database or the system."""
    return json_answer({"detail": f"The local service cannot use its data: {error}."}, 500)


def _take_folder(folder: Path) -> tuple[Path, Ownership]:
    """Make the folder accessible to its owner only, and request its lock; returns its absolute path, too."""
    folder = folder.absolute()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        return folder, Ownership(folder)
    except OSError as error:
        raise LocalServiceError(
            f"The local service cannot keep its data in {folder}: {error.strerror}. Make it a folder that you can write"
            " to, or set XDG_DATA_HOME to another one."
        ) from error
