"""``/api/settings``: storing and loading the settings record.

A store *merges*: what the body leaves out is kept.
"""

from fastapi import APIRouter, Response

from quarterdeck.local.bodies import McpConfigBody, SettingsBody
from quarterdeck.local.records import Message, json_answer
from quarterdeck.local.secrets import merged, providers_set, unless_blank
from quarterdeck.local.store import Record, Store

DEFAULTS: Record = SettingsBody().model_dump(mode="json", exclude={"secrets_store"})
"""The record of a user who has set nothing."""
STORED = Message(message="Settings stored")
_SECRETS = ("llm_api_key", "search_api_key", "sandbox_api_key")
_NOT_STORED_HERE = frozenset({"llm_api_key_set", "search_api_key_set", "provider_tokens_set", "secrets_store"})


class Settings:
    """Loads and stores the settings record."""

    def __init__(self, store: Store) -> None:
        self.store = store

    async def load(self) -> Response:
        """Load the settings; 404 with `error` if nothing is stored."""
        record = await self.store.document("settings")
        if record is None:
            return json_answer({"error": "Settings not found"}, 404)
        return json_answer(load_response(record, await self.store.document("secrets")))

    async def llm_model(self) -> str | None:
        """Return the model for new conversations."""
        return (await self.store.document("settings") or {}).get("llm_model")

    async def save(self, body: SettingsBody) -> Message:
        """Store a body, completely or not at all."""
        sent = body.sent()
        async with self.store.changing("settings", "secrets") as documents:
            documents["settings"] = merge(documents["settings"], sent)
            if secrets := sent.get("secrets_store"):
                documents["secrets"] = merged(documents["secrets"], secrets)
        return STORED


def merge(stored: Record | None, sent: Record) -> Record:
    """Return the record after a store: null unsets a member, but for a secret null keeps it and "" clears it."""
    record = DEFAULTS | (stored or {})
    for name, value in sent.items():
        if name in _SECRETS:
            record[name] = record[name] if value is None else unless_blank(value)
        elif name == "mcp_config" and value is not None:
            record[name] = {**McpConfigBody().model_dump(), **(record[name] or {}), **value}
        elif name not in _NOT_STORED_HERE:
            record[name] = value
    record["llm_base_url"] = record["llm_base_url"] or None
    return record


def load_response(record: Record, secrets: Record | None) -> Record:
    """Return the record as a load returns it: secrets are null, and load-only members say which are set."""
    record = DEFAULTS | record
    return {
        **record,
        **dict.fromkeys(_SECRETS),
        "secrets_store": {"provider_tokens": {}},
        "provider_tokens_set": providers_set(secrets),
        "llm_api_key_set": record["llm_api_key"] is not None,
        "search_api_key_set": record["search_api_key"] is not None,
    }


def settings_router(settings: Settings) -> APIRouter:
    """Return the router to load and store settings."""
    router = APIRouter(prefix="/api/settings", tags=["Settings"])

    router.add_api_route("", settings.load, response_model=None)
    router.add_api_route("", settings.save, methods=["POST"])
    return router
