"""``/api/v1/secrets``: secrets and the tokens of git providers, as release 1.11 has them (contract d)."""

from fastapi import APIRouter
from typing_extensions import TypedDict

from quarterdeck.local import secret_rules
from quarterdeck.local.paging import Limit
from quarterdeck.local.records import Message
from quarterdeck.local.secret_bodies import NestedDescribedBody, NestedSecretBody, TokensBody
from quarterdeck.local.secrets import Secrets


class SecretPage(TypedDict):
    """A page of secrets by name; the id of the next page is the last name of this one."""

    items: list[dict[str, str]]
    next_page_id: str | None


def nested_secrets_router(secrets: Secrets) -> APIRouter:
    """Search, store, describe, rename and delete secrets; set and clear tokens."""
    router = APIRouter(prefix="/api/v1/secrets", tags=["Secrets"])

    @router.get("/search")
    async def search(name__contains: str = "", page_id: str = "", limit: Limit = 100) -> SecretPage:
        """A page of secrets without their values."""
        found = [
            secret
            for secret in sorted(secret_rules.listing(await secrets.read()), key=lambda secret: secret["name"])
            if name__contains.lower() in secret["name"].lower() and secret["name"] > page_id
        ]
        return SecretPage(items=found[:limit], next_page_id=found[limit - 1]["name"] if len(found) > limit else None)

    @router.post("/git-providers")
    async def set_tokens(body: TokensBody) -> Message:
        """Store the tokens sent as all there are; 401 when one is refused."""
        tokens = body.tokens()
        await secrets.change(lambda stored: secret_rules.with_tokens(stored, tokens))
        return Message(message="Tokens stored")

    @router.delete("/git-providers")
    async def clear_tokens() -> Message:
        """Forget all tokens."""
        await secrets.change(lambda stored: stored and secret_rules.without_tokens(stored))
        return Message(message="Tokens cleared")

    @router.post("", status_code=201)
    async def write(body: NestedSecretBody) -> Message:
        """Store a secret, without asking in the place of one of that name."""
        value = body.value.get_secret_value()
        await secrets.change(lambda stored: secret_rules.written(stored, body.name, value, body.description))
        return Message(message="Secret stored")

    @router.put("/{name}")
    async def describe(name: str, body: NestedDescribedBody) -> Message:
        """Rename and describe a secret."""
        await secrets.change(lambda stored: secret_rules.described(stored, name, body.name, body.description))
        return Message(message="Secret changed")

    @router.delete("/{name}")
    async def delete(name: str) -> Message:
        """Delete a secret; done to nothing where nothing was ever stored, as real servers do."""
        await secrets.change(lambda stored: stored and secret_rules.removed(stored, name))
        return Message(message="Secret deleted")

    return router
