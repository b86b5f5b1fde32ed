"""``/api/settings``: load and store (documented interface 4.2 and 4.3)."""

from typing import Any

from fastapi import APIRouter, Response
from fastapi.exceptions import RequestValidationError

from quarterdeck.local.answers import json_answer
from quarterdeck.local.bodies import SettingsBody
from quarterdeck.local.records import Message
from quarterdeck.local.settings import Settings
from quarterdeck.local.settings_store import masked_secrets


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
        sent = body.sent()
        if settings.merges and (masked := masked_secrets(sent)):
            raise RequestValidationError([_mask_at(location) for location in masked])
        await settings.save(sent)
        return Message(message="Settings stored")

    return router


def _mask_at(location: tuple[str | int, ...]) -> dict[str, Any]:
    words = "Value error, this is a mask and not the secret; leave it out to keep what is stored"
    return {"type": "value_error", "loc": ("body", *location), "msg": words}
