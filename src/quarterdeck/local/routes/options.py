"""``/api/options``: suggestions, in bare lists; the service runs no agent and takes any text."""

from typing import Any

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


def options_router() -> APIRouter:
    """What can be chosen in settings."""
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
