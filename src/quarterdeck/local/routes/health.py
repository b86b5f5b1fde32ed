"""What needs no key: whether the service is there, and what it is."""

import asyncio
import time
from pathlib import Path
from typing import Any

import psutil
from fastapi import APIRouter


def health_router(folder: Path, store: str, simulated: int | None) -> APIRouter:
    """Health, and what the service says of itself."""
    router = APIRouter(tags=["Health"])
    opened = time.monotonic()

    @router.get("/alive")
    async def alive() -> dict[str, str]:
        """The service is there."""
        return {"status": "ok"}

    @router.get("/health")
    async def health() -> str:
        """The service is there."""
        return "OK"

    @router.get("/ready")
    async def ready() -> str:
        """The service is there."""
        return "OK"

    @router.get("/server_info")
    async def server_info() -> dict[str, Any]:
        """What this is: Quarterdeck's local service, which runs no agent; how it stores settings, what it pretends."""
        return {
            "service": "quarterdeck-local",
            "settings_store": store,
            "runs_agents": False,
            "simulated_sandboxes": simulated,
            "uptime": time.monotonic() - opened,
            "resources": await asyncio.to_thread(_resources, folder),
        }

    return router


def _resources(folder: Path) -> dict[str, Any]:
    process = psutil.Process()
    with process.oneshot():
        memory = process.memory_info()
        return {
            "cpu_percent": process.cpu_percent(),
            "memory": {"rss": memory.rss, "vms": memory.vms, "percent": process.memory_percent()},
            "disk": dict(psutil.disk_usage(str(folder))._asdict()),
        }
