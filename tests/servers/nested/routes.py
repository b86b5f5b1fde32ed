"""The paths of release 1.11, over the store that the local service has."""

import re
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Response
from pydantic import AfterValidator, BaseModel, ValidationError

from quarterdeck.local.about import MODELS
from quarterdeck.local.records import Limit, Message, Page, json_answer
from quarterdeck.local.secrets import DescribedBody, SecretBody, Secrets
from tests.client.recorded import NESTED, exchange
from tests.servers.nested.agent import AcpAgent, ConversationSettings, OpenHandsAgent
from tests.servers.nested.record import ECHOED, NestedSettings, words_of


def _check_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError("a name has letters, digits and _, and begins with no digit")
    return name


def nested_settings_router(settings: NestedSettings) -> APIRouter:
    """Load and change settings."""
    router = APIRouter(prefix="/api/v1/settings", tags=["Settings"])

    @router.get("", response_model=None)
    async def load() -> Response:
        """Load the settings; 404 with `error` when nothing is stored."""
        record = await settings.load()
        return json_answer({"error": "Settings not found"}, 404) if record is None else json_answer(record)

    @router.post("", response_model=None)
    async def change(body: dict[str, Any]) -> Response:
        """Change what is sent; 422 with `keys` for what a load tells and only a difference changes."""
        if echoed := [name for name in ECHOED if name in body]:
            return json_answer({"error": "These members are changed by their _diff.", "keys": echoed}, 422)
        try:
            await settings.patch(body)
        except ValidationError as error:
            return json_answer({"error": words_of(error)}, 400)
        return json_answer({"message": "Settings stored"})

    @router.get("/{section}-schema")
    async def schema(section: Literal["agent", "conversation"]) -> dict[str, Any]:
        """What clients make forms of: what was recorded of the fields that are stored here."""
        recorded: dict[str, Any] = exchange(NESTED, f"settings-{section}-schema").answer.body
        sections = [
            each | {"fields": [field for field in each["fields"] if _is_in(BLOCKS[field["variant"]], field["key"])]}
            for each in recorded["sections"]
        ]
        return recorded | {"sections": sections}

    return router


BLOCKS = {"openhands": OpenHandsAgent, "acp": AcpAgent, None: ConversationSettings}
"""What a field is stored in, by the kind of agent that it is for."""


def _is_in(block: Any, key: str) -> bool:
    name, _, rest = key.partition(".")
    field = block.model_fields.get(name) if isinstance(block, type) and issubclass(block, BaseModel) else None
    return field is not None and (not rest or _is_in(field.annotation, rest))


UNVERIFIED = {"openai/gpt-4.1", "gemini/gemini-2.5-flash", "ollama/llama3"}
OFFERED = [(*model.partition("/")[::2], model not in UNVERIFIED) for model in MODELS]
"""Provider, name, and whether it is verified."""
VariableName = Annotated[str, AfterValidator(_check_name)]


class NestedDescribedBody(DescribedBody):
    name: VariableName


class NestedSecretBody(SecretBody):
    name: VariableName


def nested_secrets_router(secrets: Secrets) -> APIRouter:
    """Search, store, describe, rename and delete secrets; set and clear tokens."""
    router = APIRouter(prefix="/api/v1/secrets", tags=["Secrets"])

    @router.get("/search")
    async def search(name__contains: str = "", page_id: str = "", limit: Limit = 100) -> Page[dict[str, str]]:
        """The id of the next page is the last name of this one."""
        found = [
            secret
            for secret in sorted((await secrets.listing())["custom_secrets"], key=lambda secret: secret["name"])
            if name__contains.lower() in secret["name"].lower() and secret["name"] > page_id
        ]
        return Page(items=found[:limit], next_page_id=found[limit - 1]["name"] if len(found) > limit else None)

    @router.post("", status_code=201)
    async def write(body: NestedSecretBody) -> Message:
        """Store a secret, without asking in the place of one of that name."""
        return await secrets.create(body)

    @router.put("/{name}")
    async def describe(name: str, body: NestedDescribedBody) -> Message:
        return await secrets.describe(name, body)

    router.add_api_route("/git-providers", secrets.set_tokens, methods=["POST"])
    router.add_api_route("/git-providers", secrets.clear_tokens, methods=["DELETE"])
    router.add_api_route("/{name}", secrets.delete, methods=["DELETE"])
    return router


def nested_options_router() -> APIRouter:
    """What can be chosen in settings; clients read its first page only."""
    router = APIRouter(prefix="/api/v1/config", tags=["Options"])

    @router.get("/models/search")
    async def models(query: str = "", verified__eq: bool | None = None, limit: Limit = 50) -> Page[dict[str, Any]]:
        found = [
            {"provider": provider, "name": name, "verified": verified, "hidden": False, "canonical": None}
            for provider, name, verified in OFFERED
            if query.lower() in f"{provider}/{name}".lower() and verified__eq in {None, verified}
        ]
        return Page(items=found[:limit], next_page_id="opaque" if len(found) > limit else None)

    return router
