"""The local service, opened on a data folder: its parts put together, and the ASGI app over them."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from fastapi import APIRouter, Depends, FastAPI
from pydantic import SecretStr

from quarterdeck import __version__
from quarterdeck.local.answers import OF_ALL, OF_FLAT, Answers
from quarterdeck.local.conversations import Conversations
from quarterdeck.local.errors import LocalServiceError
from quarterdeck.local.guard import BodyLimit, KeyGuard, ToTheEnd
from quarterdeck.local.routes.about import health_router, options_router
from quarterdeck.local.routes.agent import agent_router, copies_router
from quarterdeck.local.routes.conversations import conversations_router, start_tasks_router
from quarterdeck.local.routes.sandboxes import sandboxes_router, specs_router
from quarterdeck.local.routes.settings import secrets_router, settings_router
from quarterdeck.local.runtime.base import Runtime
from quarterdeck.local.runtime.launching import new_key
from quarterdeck.local.runtime.processes import ProcessRuntime
from quarterdeck.local.runtime.simulated import Clock, SimulatedRuntime, Simulation
from quarterdeck.local.sandboxes import Sandboxes
from quarterdeck.local.secrets import Secrets
from quarterdeck.local.settings import Settings
from quarterdeck.local.specs import BUILT_IN, Spec
from quarterdeck.local.start_tasks import StartTasks
from quarterdeck.local.store import Ownership, Store

App = Callable[..., Awaitable[None]]
"""An ASGI app."""

_REAL = "Settings, sandboxes as local processes, and conversations that are stored. It runs no agent."
_SIMULATED = "Settings, and simulated sandboxes and conversations: they are in memory only, and none of them is real."


@dataclass(frozen=True)
class Generation:
    """What the service speaks of settings and secrets; the paths of sandboxes and conversations are always the same."""

    store: str
    """How settings are stored, as the service says of itself."""
    answers: Answers
    routers: Sequence[APIRouter]
    """Paths of its own, which need the key."""
    llm_model: Callable[[], Awaitable[str | None]]
    """Gives the model that conversations begin with."""
    needs: Sequence[Callable[[], Awaitable[object]]] = ()
    """What has to go well before sandboxes and conversations are told of."""


def flat(settings: Settings, secrets: Secrets, store: str) -> Generation:
    """The paths of releases 1.2 and 1.6."""
    return Generation(
        store, OF_FLAT, (settings_router(settings), secrets_router(secrets), options_router()), settings.llm_model
    )


def merging(store: Store) -> Generation:
    """The service's own: release 1.6, but for settings that are merged."""
    return flat(Settings(store), Secrets(store), "merge")


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class LocalService:
    """An opened service: an ASGI app and the key that it wants."""

    app: App
    key: SecretStr
    _closing: AsyncExitStack

    @classmethod
    async def open(
        cls,
        folder: Path,
        *,
        key: SecretStr | None = None,
        specs: Sequence[Spec] = BUILT_IN,
        speaking: Callable[[Store], Generation] = merging,
    ) -> "LocalService":
        """Open a data folder, made if there is none, with a key made if none is given.

        `specs` are what sandboxes can be started from, the first is the default. Raises `LocalServiceError` when the
        folder cannot be used.
        """
        async with AsyncExitStack() as opened:
            folder, ownership = await asyncio.to_thread(_take_folder, folder)
            opened.callback(ownership.close)
            store = await Store.open(folder / "service.db")
            opened.push_async_callback(store.close)
            runtime = ProcessRuntime(folder / "sandboxes", store, specs, ownership)
            key = key or new_key()
            app, start_tasks = await asyncio.to_thread(build, store, runtime, key, folder, speaking)
            if ownership.held():
                await start_tasks.go_on()
            return cls(app, key, opened.pop_all())

    @classmethod
    async def simulated(
        cls, simulation: Simulation, *, key: SecretStr | None = None, clock: Clock = _now
    ) -> "LocalService":
        """Open a service of which nothing is kept and nothing is real, with a key made if none is given."""
        async with AsyncExitStack() as opened:
            store = await Store.in_memory()
            opened.push_async_callback(store.close)
            runtime = SimulatedRuntime(simulation, store, clock)
            await runtime.open()
            key = key or new_key()
            app, _ = await asyncio.to_thread(
                build, store, runtime, key, Path.home(), merging, simulated=simulation.sandboxes
            )
            return cls(app, key, opened.pop_all())

    async def close(self) -> None:
        """Finish the changes under way, close the database and give the folder up; sandboxes go on running."""
        await self._closing.aclose()


def build(
    store: Store,
    runtime: Runtime,
    key: SecretStr,
    folder: Path,
    speaking: Callable[[Store], Generation],
    simulated: int | None = None,
) -> tuple[FastAPI, StartTasks]:
    """Build the app, and the start tasks that it works at. Blocks for tens of milliseconds.

    Everything but health and its own description needs the key, agent servers that of their sandbox. `folder` is on the
    disk it says how full it is of; `simulated` how many sandboxes are pretended, None when they are real.
    """
    generation = speaking(store)
    sandboxes = Sandboxes(store, runtime)
    conversations = Conversations(store, sandboxes)
    start_tasks = StartTasks(store, sandboxes, conversations, generation.llm_model)
    app = FastAPI(
        title="Quarterdeck local service" if simulated is None else "Quarterdeck simulated service",
        version=__version__,
        description=_REAL if simulated is None else _SIMULATED,
    )
    for kind, answer in {**OF_ALL, **generation.answers}.items():
        app.add_exception_handler(kind, answer)
    app.add_middleware(BodyLimit)
    app.add_middleware(ToTheEnd, changes=store.changes)
    app.include_router(health_router(folder, generation.store, simulated))
    app.include_router(agent_router(store, runtime, conversations))
    guard = Depends(KeyGuard(key))
    for router in generation.routers:
        app.include_router(router, dependencies=[guard])
    app.include_router(specs_router(runtime.specs), prefix="/api/v1", dependencies=[guard])
    first = [guard, *(Depends(need) for need in generation.needs), Depends(runtime.catch_up)]
    for router in (
        sandboxes_router(sandboxes),
        start_tasks_router(start_tasks),
        conversations_router(conversations, start_tasks),
        copies_router(runtime, conversations),
    ):
        app.include_router(router, prefix="/api/v1", dependencies=first)
    return app, start_tasks


def _take_folder(folder: Path) -> tuple[Path, Ownership]:
    """Make the folder its owner's alone, and ask for its lock; gives its whole path, for sandboxes run elsewhere."""
    folder = folder.absolute()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        return folder, Ownership(folder)
    except OSError as error:
        raise LocalServiceError(
            f"The local service cannot keep its data in {folder}: {error.strerror}. Make it yours, or name another one."
        ) from error
