"""The ASGI app: the paths of the documented interface and of real servers, over the parts of the service."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fastapi import APIRouter, Depends, FastAPI
from pydantic import SecretStr

from quarterdeck import __version__
from quarterdeck.local.answers import OF_ALL
from quarterdeck.local.conversations import Conversations
from quarterdeck.local.generation import Generation
from quarterdeck.local.guard import BodyLimit, KeyGuard
from quarterdeck.local.routes.conversations import conversations_router
from quarterdeck.local.routes.health import health_router
from quarterdeck.local.routes.sandboxes import sandboxes_router
from quarterdeck.local.routes.specs import specs_router
from quarterdeck.local.routes.start_tasks import start_tasks_router
from quarterdeck.local.sandboxes import Sandboxes
from quarterdeck.local.specs import Spec
from quarterdeck.local.start_tasks import StartTasks


@dataclass(frozen=True)
class Parts:
    """What the paths stand on."""

    folder: Path
    generation: Generation
    sandboxes: Sandboxes
    conversations: Conversations
    start_tasks: StartTasks
    specs: Sequence[Spec]


def build(parts: Parts, key: SecretStr) -> FastAPI:
    """Build the app; everything but health and its own description needs the key. Blocks for tens of milliseconds."""
    app = FastAPI(
        title="Quarterdeck local service",
        version=__version__,
        description="Settings, sandboxes as local processes, and conversations that are stored. It runs no agent.",
    )
    generation = parts.generation
    for kind, answer in {**OF_ALL, **generation.answers}.items():
        app.add_exception_handler(kind, answer)
    app.add_middleware(BodyLimit)
    for router in (health_router(parts.folder, generation.mode), *generation.open_routers):
        app.include_router(router)
    guard = Depends(KeyGuard(key))
    for router in (*generation.routers, _of_sandboxes(parts)):
        app.include_router(router, dependencies=[guard])
    return app


def _of_sandboxes(parts: Parts) -> APIRouter:
    """What all generations have: sandboxes, their specs, and conversations."""
    router = APIRouter(prefix="/api/v1")
    needs = [Depends(need) for need in parts.generation.needs]
    for one in (
        sandboxes_router(parts.sandboxes),
        start_tasks_router(parts.start_tasks),
        conversations_router(parts.conversations, parts.start_tasks),
    ):
        router.include_router(one, dependencies=needs)
    router.include_router(specs_router(parts.specs))
    return router
