"""``/api/secrets`` and the tokens of git providers: written, never returned.

They are one document: `provider_tokens` has `token` and `host` by provider, `custom_secrets` has `secret` and
`description` by name. None means that nothing was ever stored.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from copy import deepcopy
from typing import Annotated

import fastapi
from fastapi import APIRouter

from quarterdeck.client.models.enums import GitProvider
from quarterdeck.local.bodies import Body, ProviderToken, Secret
from quarterdeck.local.errors import RefusalError
from quarterdeck.local.records import Message
from quarterdeck.local.store import Record, Store

_NO_SECRETS: Record = {"provider_tokens": {}, "custom_secrets": {}}


class DescribedBody(Body):
    """Name and description of a secret; a value in the body is ignored."""

    name: str
    description: str | None = None


class SecretBody(DescribedBody):
    """A secret."""

    value: Secret


Tokens = Annotated[dict[GitProvider, ProviderToken], fastapi.Body(embed=True)]


class Secrets:
    """Lists and changes the document of secrets; its public methods are the operations."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def read(self) -> Record | None:
        """Return the whole document, including values; None if nothing was ever stored."""
        return await self._store.document("secrets")

    @asynccontextmanager
    async def _changing(self) -> AsyncIterator[Record]:
        """Yield the document for changes; nothing is stored if an exception is raised."""
        async with self._store.changing("secrets") as documents:
            stored = documents["secrets"] = documents["secrets"] or deepcopy(_NO_SECRETS)
            yield stored

    async def listing(self) -> dict[str, list[dict[str, str]]]:
        """Return all secrets without their values, the one stored last at the end."""
        entries: Mapping[str, Record] = (await self.read() or _NO_SECRETS)["custom_secrets"]
        told = [{"name": name, "description": entry.get("description") or ""} for name, entry in entries.items()]
        return {"custom_secrets": told}

    async def create(self, body: SecretBody) -> Message:
        """Store a new secret; 400 if the name exists."""
        async with self._changing() as stored:
            if body.name in stored["custom_secrets"]:
                raise _taken(body.name)
            value = body.value.get_secret_value()
            stored["custom_secrets"][body.name] = {"secret": value, "description": body.description or ""}
        return Message(message="Secret stored")

    async def describe(self, name: str, body: DescribedBody) -> Message:
        """Rename and describe a secret, which then comes last; a missing description means an empty one.

        404 if there is no secret with that name, 400 if there is one with the new name.
        """
        async with self._changing() as stored:
            entry = _take(stored, name)
            if body.name in stored["custom_secrets"]:
                raise _taken(body.name)
            stored["custom_secrets"][body.name] = entry | {"description": body.description or ""}
        return Message(message="Secret changed")

    async def delete(self, name: str) -> Message:
        """Delete a secret; 404 if there is none with that name."""
        async with self._changing() as stored:
            _take(stored, name)
        return Message(message="Secret deleted")

    async def set_tokens(self, provider_tokens: Tokens) -> Message:
        """Replace all tokens by these; a provider without a token keeps its own, with the host that is sent."""
        async with self._changing() as stored:
            before, stored["provider_tokens"] = stored["provider_tokens"], {}
            for provider, sent in provider_tokens.items():
                entry = sent.model_dump(mode="json")
                token = unless_blank(entry["token"]) or before.get(provider, {}).get("token")
                stored["provider_tokens"][provider] = {"token": token, "host": entry["host"]}
        return Message(message="Tokens stored")

    async def clear_tokens(self) -> Message:
        """Delete all tokens."""
        await self.set_tokens({})
        return Message(message="Tokens cleared")


def unless_blank(text: str | None) -> str | None:
    """Return the text, or None if it is blank."""
    return text if text and text.strip() else None


def providers_set(stored: Record | None) -> dict[str, str | None]:
    """Return the host of each git provider that has a token."""
    tokens: Mapping[str, Record] = (stored or _NO_SECRETS)["provider_tokens"]
    return {name: entry.get("host") for name, entry in tokens.items() if entry.get("token")}


def merged(stored: Record | None, sent: Record) -> Record:
    """Merge the `secrets_store` of a settings body by name: null keeps a secret, "" deletes its entry."""
    stored = stored or _NO_SECRETS
    return (stored | sent) | {
        group: _merged_entries(stored[group], sent[group], member)
        for group, member in (("provider_tokens", "token"), ("custom_secrets", "secret"))
    }


def _merged_entries(stored: Mapping[str, Record], sent: Mapping[str, Record], secret: str) -> Record:
    entries = dict(stored)
    for name, entry in sent.items():
        told = {member: value for member, value in entry.items() if value is not None}
        entries[name] = stored.get(name, {}) | told
    return {name: entry for name, entry in entries.items() if unless_blank(entry.get(secret))}


def _take(stored: Record, name: str) -> Record:
    if name not in stored["custom_secrets"]:
        raise RefusalError(f"There is no secret {name}.", 404)
    entry: Record = stored["custom_secrets"].pop(name)
    return entry


def _taken(name: str) -> RefusalError:
    return RefusalError(f"There is a secret {name} already.", 400, "message")


def secrets_router(secrets: Secrets) -> APIRouter:
    """Return the router to list, create, describe, rename and delete secrets, and to set and clear tokens."""
    router = APIRouter(prefix="/api", tags=["Secrets"])
    router.add_api_route("/secrets", secrets.listing)
    router.add_api_route("/secrets", secrets.create, methods=["POST"], status_code=201)
    router.add_api_route("/secrets/{name}", secrets.describe, methods=["PUT"])
    router.add_api_route("/secrets/{name}", secrets.delete, methods=["DELETE"])
    router.add_api_route("/add-git-providers", secrets.set_tokens, methods=["POST"])
    router.add_api_route("/unset-provider-tokens", secrets.clear_tokens, methods=["POST"])
    return router
