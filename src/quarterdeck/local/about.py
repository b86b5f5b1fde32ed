"""What the service says of itself: health, which needs no key, and what can be chosen in settings."""

from collections.abc import Mapping
from typing import Any, Literal

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
OPTIONS: Mapping[str, list[str]] = {
    "models": MODELS,
    "agents": ["BrowsingAgent", "CodeActAgent", "DummyAgent", "LocAgent", "ReadOnlyAgent", "VisualBrowsingAgent"],
    "security-analyzers": ["grayswan", "invariant", "llm"],
}
"""Suggestions by what they are for: the service runs no agent and takes any text."""


def health_router(simulated: int | None) -> APIRouter:
    """Health, and what the service says of itself."""
    router = APIRouter(tags=["Health"])

    @router.get("/alive")
    async def alive() -> dict[str, str]:
        """The service is there."""
        return {"status": "ok"}

    @router.get("/health")
    @router.get("/ready")
    async def ready() -> str:
        """The service is there."""
        return "OK"

    @router.get("/server_info")
    async def server_info() -> dict[str, Any]:
        """What this is: Quarterdeck's local service, which runs no agent; how it stores settings, what it pretends."""
        return {
            "service": "quarterdeck-local",
            "settings_store": "merge",
            "runs_agents": False,
            "simulated_sandboxes": simulated,
        }

    return router


def options_router() -> APIRouter:
    """Suggestions, in bare lists."""
    router = APIRouter(prefix="/api/options", tags=["Options"])

    @router.get("/{of}")
    async def suggestions(of: Literal["models", "agents", "security-analyzers"]) -> list[str]:
        """What can be chosen."""
        return OPTIONS[of]

    return router
