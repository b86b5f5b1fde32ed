"""``/api/v1/web-client/config``: what a web page asks first, without a key (contract a)."""

from typing import Any

from fastapi import APIRouter


def web_client_router() -> APIRouter:
    """What a web page has to know before anybody has signed in."""
    router = APIRouter(prefix="/api/v1/web-client", tags=["Web client"])

    @router.get("/config")
    async def config() -> dict[str, Any]:
        """The features that are on: none of them needs anything beyond this service."""
        return {
            "app_mode": "oss",
            "feature_flags": {"enable_billing": False, "hide_llm_settings": False, "enable_acp": True},
            "providers_configured": [],
            "maintenance_start_time": None,
            "error_message": None,
        }

    return router
