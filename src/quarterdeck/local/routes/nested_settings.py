"""``/api/v1/settings``: load, change, and the schema of what is nested, as release 1.11 has them (contract c.2)."""

from typing import Any

from fastapi import APIRouter, Response

from quarterdeck.local.answers import json_answer
from quarterdeck.local.nested.record import ECHOED
from quarterdeck.local.nested.schema import agent_schema, conversation_schema
from quarterdeck.local.nested.settings import NestedSettings


def nested_settings_router(settings: NestedSettings) -> APIRouter:
    """Load and change settings."""
    router = APIRouter(prefix="/api/v1/settings", tags=["Settings"])

    @router.get("", response_model=None)
    async def load() -> Response:
        """Load the settings; 404 with `error` when nothing is stored."""
        record = await settings.load()
        return json_answer(404, {"error": "Settings not found"}) if record is None else json_answer(200, record)

    @router.post("", response_model=None)
    async def change(body: dict[str, Any]) -> Response:
        """Change what is sent; 422 with `keys` for what a load tells and only a difference changes."""
        if echoed := [name for name in ECHOED if name in body]:
            return json_answer(422, {"error": "These members are changed by their _diff.", "keys": echoed})
        await settings.patch(body)
        return json_answer(200, {"message": "Settings stored"})

    @router.get("/agent-schema")
    async def of_agent() -> dict[str, Any]:
        """What can be put into `agent_settings`."""
        return agent_schema()

    @router.get("/conversation-schema")
    async def of_conversation() -> dict[str, Any]:
        """What can be put into `conversation_settings`."""
        return conversation_schema()

    return router
