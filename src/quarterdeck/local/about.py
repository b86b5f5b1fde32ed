"""What the service says about itself: health, without a key, and suggestions for settings."""

from collections.abc import Mapping
from typing import Any, Literal

from fastapi import APIRouter

from quarterdeck import __version__

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
"""Suggestions by field; the service runs no agent and accepts any text."""


def health_router(simulated: int | None) -> APIRouter:
    """Return the router for health and server info."""
    router = APIRouter(tags=["Health"])

    @router.get("/alive")
    async def alive() -> dict[str, str]:
        """Respond that the service is there."""
        return {"status": "ok"}

    @router.get("/health")
    @router.get("/ready")
    async def ready() -> str:
        """Respond that the service is there."""
        return "OK"

    @router.get("/server_info")
    async def server_info() -> dict[str, Any]:
        """Return what this service is: that it runs no agent, how it stores settings, and what it simulates."""
        return {
            "service": "quarterdeck-local",
            "version": __version__,
            "settings_store": "merge",
            "runs_agents": False,
            "simulated_sandboxes": simulated,
        }

    return router


def options_router() -> APIRouter:
    """Return the router for suggestions, as plain lists."""
    router = APIRouter(prefix="/api/options", tags=["Options"])

    @router.get("/{of}")
    async def suggestions(of: Literal["models", "agents", "security-analyzers"]) -> list[str]:
        """Return the suggestions for a field."""
        return OPTIONS[of]

    return router
