"""What the service says of itself: health, which needs no key, and what can be chosen in settings."""

import asyncio
import time
from pathlib import Path
from typing import Any

import psutil
from fastapi import APIRouter

MODELS = [
    "anthropic/claude-opus-4-5-20251101",
    "anthropic/claude-sonnet-4-5-20250929",
    "anthropic/claude-haiku-4-5-20251001",
    "anthropic/claude-sonnet-4-20250514",
    "openai/gpt-5",
    "openai/gpt-5-mini",
    "openai/gpt-4.1",
    "gemini/gemini-2.5-pro",
    "gemini/gemini-2.5-flash",
    "mistral/devstral-medium-2507",
    "deepseek/deepseek-chat",
    "ollama/llama3",
]
AGENTS = ["BrowsingAgent", "CodeActAgent", "DummyAgent", "LocAgent", "ReadOnlyAgent", "VisualBrowsingAgent"]
SECURITY_ANALYZERS = ["grayswan", "invariant", "llm"]


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


def options_router() -> APIRouter:
    """Suggestions, in bare lists: the service runs no agent and takes any text."""
    router = APIRouter(prefix="/api/options", tags=["Options"])

    @router.get("/models")
    async def models() -> list[str]:
        """Models."""
        return MODELS

    @router.get("/agents")
    async def agents() -> list[str]:
        """Agents."""
        return AGENTS

    @router.get("/security-analyzers")
    async def security_analyzers() -> list[str]:
        """Security analyzers."""
        return SECURITY_ANALYZERS

    @router.get("/config")
    async def config() -> dict[str, Any]:
        """What a web page would ask first."""
        return {"APP_MODE": "oss", "FEATURE_FLAGS": {"ENABLE_BILLING": False, "HIDE_LLM_SETTINGS": False}}

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
