"""The ASGI app: the paths of the documented interface and of real servers, over the parts of the service."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fastapi import APIRouter, Depends, FastAPI
from pydantic import SecretStr

from quarterdeck import __version__
from quarterdeck.local.answers import OF_ALL
from quarterdeck.local.generation import Generation
from quarterdeck.local.guard import BodyLimit, KeyGuard
from quarterdeck.local.routes.health import health_router

_REAL = "Settings, sandboxes as local processes, and conversations that are stored. It runs no agent."
_SIMULATED = "Settings, and simulated sandboxes and conversations: they are in memory only, and none of them is real."

OF_ALL_GENERATIONS = "/api/v1"
"""Where all generations have sandboxes, their specs, and conversations."""


@dataclass(frozen=True)
class Parts:
    """What the paths stand on."""

    folder: Path
    """The disk it says how full it is of."""
    generation: Generation
    fleet: Sequence[APIRouter]
    """Sandboxes, start tasks and conversations, in this order."""
    specs: APIRouter
    simulated: int | None = None
    """How many sandboxes are pretended; None when they are real."""


def build(parts: Parts, key: SecretStr) -> FastAPI:
    """Build the app; everything but health and its own description needs the key. Blocks for tens of milliseconds."""
    app = FastAPI(
        title="Quarterdeck local service" if parts.simulated is None else "Quarterdeck simulated service",
        version=__version__,
        description=_REAL if parts.simulated is None else _SIMULATED,
    )
    generation = parts.generation
    for kind, answer in {**OF_ALL, **generation.answers}.items():
        app.add_exception_handler(kind, answer)
    app.add_middleware(BodyLimit)
    for router in (health_router(parts.folder, generation.mode, parts.simulated), *generation.open_routers):
        app.include_router(router)
    guard, needs = Depends(KeyGuard(key)), [Depends(need) for need in generation.needs]
    for router in generation.routers:
        app.include_router(router, dependencies=[guard])
    for router in parts.fleet:
        app.include_router(router, prefix=OF_ALL_GENERATIONS, dependencies=[guard, *needs])
    app.include_router(parts.specs, prefix=OF_ALL_GENERATIONS, dependencies=[guard])
    return app
