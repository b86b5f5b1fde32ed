"""The stored settings: what a store makes of the record, and what a load tells of it, as pure functions.

A store *merges*: nothing is lost that a body leaves out.
"""

from collections.abc import Iterator
from typing import Any

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, SecretStr

from quarterdeck.local.bodies import SettingsBody
from quarterdeck.local.secrets import NO_SECRETS, is_mask, merged, providers_set, unless_blank
from quarterdeck.local.store import Record, Store

Location = tuple[str | int, ...]

DEFAULTS: Record = SettingsBody().model_dump(mode="json", exclude={"secrets_store"})
"""The record of somebody who has set nothing."""

_SECRETS = ("llm_api_key", "search_api_key", "sandbox_api_key")
_NOT_STORED_HERE = frozenset({"llm_api_key_set", "search_api_key_set", "provider_tokens_set", "secrets_store"})
_NO_SERVERS: Record = {"sse_servers": [], "stdio_servers": [], "shttp_servers": []}
_SHORTEST_MASK_OF_ENVIRONMENT = 3  # a single star is a value like any other there


class Settings:
    """Loads and stores the one settings record."""

    def __init__(self, store: Store) -> None:
        self.store = store

    async def load(self) -> Record | None:
        """What a load answers; None when nothing is stored."""
        record = await self.store.document("settings")
        return None if record is None else load_response(record, await self.store.document("secrets"))

    async def llm_model(self) -> str | None:
        """The model that conversations begin with."""
        return (await self.store.document("settings") or {}).get("llm_model")

    async def save(self, body: SettingsBody) -> None:
        """Store what a body had, all of it or nothing. Raises `RequestValidationError` for masks."""
        if masked := [_mask_at(location) for location in masked_secrets(body)]:
            raise RequestValidationError(masked)
        sent = body.sent()
        secrets = sent.get("secrets_store")
        await self.store.change(
            settings=lambda stored: merge(stored, sent),
            secrets=lambda stored: merged(stored or NO_SECRETS, secrets) if secrets else None,
        )


def merge(stored: Record | None, sent: Record) -> Record:
    """Store what was sent and keep the rest: null unsets, but of a secret null keeps and "" clears."""
    record = DEFAULTS | (stored or {})
    for name, value in sent.items():
        if name in _NOT_STORED_HERE:
            continue
        if name in _SECRETS:
            record[name] = record[name] if value is None else unless_blank(value)
        elif name == "mcp_config":
            record[name] = None if value is None else {**_NO_SERVERS, **(record[name] or {}), **value}
        else:
            record[name] = None if name == "llm_base_url" and value == "" else value
    return record


def load_response(record: Record, secrets: Record | None = None) -> Record:
    """The stored record with its secrets as null, and the load-only members that say which are set."""
    record = DEFAULTS | record
    return {
        **record,
        **dict.fromkeys(_SECRETS),
        "secrets_store": {"provider_tokens": {}},
        "provider_tokens_set": providers_set(secrets),
        "llm_api_key_set": record["llm_api_key"] is not None,
        "search_api_key_set": record["search_api_key"] is not None,
    }


def masked_secrets(value: object, place: Location = ()) -> Iterator[Location]:
    """Where a body has a mask in the place of a secret: somebody showed it and it was never the secret."""
    match value:
        case SecretStr():
            text = value.get_secret_value().strip()
            if is_mask(text) and len(text) >= (_SHORTEST_MASK_OF_ENVIRONMENT if "env" in place[-2:-1] else 1):
                yield place
        case BaseModel():
            for name, member in value:
                yield from masked_secrets(member, (*place, name))
        case dict():
            for name, member in value.items():
                yield from masked_secrets(member, (*place, name))
        case list():
            for index, member in enumerate(value):
                yield from masked_secrets(member, (*place, index))


def _mask_at(location: Location) -> dict[str, Any]:
    words = "Value error, this is a mask and not the secret; leave it out to keep what is stored"
    return {"type": "value_error", "loc": ("body", *location), "msg": words}
