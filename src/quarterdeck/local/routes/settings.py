"""``/api/settings``: load and store."""

from fastapi import APIRouter, Response

from quarterdeck.local.answers import json_answer
from quarterdeck.local.bodies import SettingsBody
from quarterdeck.local.records import Message
from quarterdeck.local.settings import Settings


def settings_router(settings: Settings) -> APIRouter:
    """Load and store settings."""
    router = APIRouter(prefix="/api/settings", tags=["Settings"])

    @router.get("", response_model=None)
    async def load() -> Response:
        """Load the settings; 404 with `error` when nothing is stored."""
        record = await settings.load()
        return json_answer(404, {"error": "Settings not found"}) if record is None else json_answer(200, record)

    @router.post("")
    async def store(body: SettingsBody) -> Message:
        """Store settings."""
        await settings.save(body.sent())
        return Message(message="Settings stored")

    return router
