"""``/api/settings``, ``/api/secrets`` and the tokens of git providers."""

from fastapi import APIRouter, Response

from quarterdeck.local import secrets as rules
from quarterdeck.local.answers import json_answer
from quarterdeck.local.bodies import DescribedBody, SecretBody, SettingsBody, TokensBody
from quarterdeck.local.records import Message
from quarterdeck.local.secrets import Secrets
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
        await settings.save(body)
        return Message(message="Settings stored")

    return router


def secrets_router(secrets: Secrets) -> APIRouter:
    """List, create, describe, rename and delete secrets; set and clear tokens."""
    router = APIRouter(prefix="/api", tags=["Secrets"])

    @router.get("/secrets")
    async def read() -> dict[str, list[dict[str, str]]]:
        """All secrets without their values, the one stored last at the end."""
        return {"custom_secrets": rules.listing(await secrets.read())}

    @router.post("/secrets", status_code=201)
    async def create(body: SecretBody) -> Message:
        """Store a new secret; 400 when there is one of that name."""
        value = body.value.get_secret_value()
        await secrets.change(lambda stored: rules.added(stored, body.name, value, body.description))
        return Message(message="Secret stored")

    @router.put("/secrets/{name}")
    async def describe(name: str, body: DescribedBody) -> Message:
        """Rename and describe a secret; 404 when there is none of that name."""
        await secrets.change(lambda stored: rules.described(stored, name, body.name, body.description))
        return Message(message="Secret changed")

    @router.delete("/secrets/{name}")
    async def delete(name: str) -> Message:
        """Delete a secret; 404 when there is none of that name."""
        await secrets.change(lambda stored: rules.removed(stored, name))
        return Message(message="Secret deleted")

    @router.post("/add-git-providers")
    async def set_tokens(body: TokensBody) -> Message:
        """Store the tokens sent as all there are; 401 when one is refused."""
        tokens = body.tokens()
        await secrets.change(lambda stored: rules.with_tokens(stored, tokens))
        return Message(message="Tokens stored")

    @router.post("/unset-provider-tokens")
    async def clear_tokens() -> Message:
        """Forget all tokens."""
        await secrets.change(rules.without_tokens)
        return Message(message="Tokens cleared")

    return router
