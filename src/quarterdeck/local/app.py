"""The ASGI app: the paths of the documented interface and of real servers, over the parts of the service."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fastapi import APIRouter, Depends, FastAPI
from pydantic import SecretStr

from quarterdeck import __version__
from quarterdeck.local.answers import EXPECTED
from quarterdeck.local.conversations import Conversations
from quarterdeck.local.guard import BodyLimit, KeyGuard
from quarterdeck.local.routes.conversations import conversations_router
from quarterdeck.local.routes.health import health_router
from quarterdeck.local.routes.sandboxes import sandboxes_router
from quarterdeck.local.routes.settings import settings_router
from quarterdeck.local.routes.specs import specs_router
from quarterdeck.local.routes.start_tasks import start_tasks_router
from quarterdeck.local.sandboxes import Sandboxes
from quarterdeck.local.settings import Settings
from quarterdeck.local.specs import Spec
from quarterdeck.local.start_tasks import StartTasks


@dataclass(frozen=True)
class Parts:
    """What the paths stand on."""

    folder: Path
    settings: Settings
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
    for kind, answer in EXPECTED.items():
        app.add_exception_handler(kind, answer)
    app.add_middleware(BodyLimit)
    app.include_router(health_router(parts.folder, parts.settings.mode))
    guarded = APIRouter(dependencies=[Depends(KeyGuard(key))])
    guarded.include_router(settings_router(parts.settings))
    for router in (
        sandboxes_router(parts.sandboxes),
        specs_router(parts.specs),
        start_tasks_router(parts.start_tasks),
        conversations_router(parts.conversations, parts.start_tasks),
    ):
        guarded.include_router(router, prefix="/api/v1")
    app.include_router(guarded)
    return app
