"""``/api/options``: suggestions as releases 1.2 and 1.6 give them, in bare lists (contract g.6)."""

from typing import Any

from fastapi import APIRouter

from quarterdeck.local.options import AGENTS, MODELS, SECURITY_ANALYZERS


def options_router() -> APIRouter:
    """What can be chosen in settings."""
    router = APIRouter(prefix="/api/options", tags=["Options"])

    @router.get("/models")
    async def models() -> list[str]:
        """Models."""
        return [f"{model.provider}/{model.name}" for model in MODELS]

    @router.get("/agents")
    async def agents() -> list[str]:
        """Agents."""
        return list(AGENTS)

    @router.get("/security-analyzers")
    async def security_analyzers() -> list[str]:
        """Security analyzers."""
        return list(SECURITY_ANALYZERS)

    @router.get("/config")
    async def config() -> dict[str, Any]:
        """What a web page would ask first."""
        return {"APP_MODE": "oss", "FEATURE_FLAGS": {"ENABLE_BILLING": False, "HIDE_LLM_SETTINGS": False}}

    return router
