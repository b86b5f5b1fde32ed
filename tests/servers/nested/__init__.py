"""A server that speaks the nested generation, as release 1.11 does: settings changed by differences."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Request, Response
from pydantic import BaseModel, StringConstraints, ValidationError

from quarterdeck.local.about import MODELS
from quarterdeck.local.errors import RefusalError
from quarterdeck.local.records import Limit, Message, Page, json_answer
from quarterdeck.local.secrets import SecretBody, Secrets
from quarterdeck.local.service import LocalService
from tests.client.recorded import NESTED, exchange
from tests.servers.nested.record import BLOCKS, ECHOED, Llm, NestedRecord, NestedSettings, Profiles, words_of
from tests.servers.replacing import Before, CheckedTokens

OWN = ("/api/v1/settings", "/api/v1/secrets", "/api/v1/config")
FLAT = ("/api/settings", "/api/secrets", "/api/options", "/api/add-git-providers", "/api/unset-provider-tokens")
"""What the local service has and releases of this generation have not."""


class NestedSecrets(CheckedTokens):
    """Overwrites without asking, keeping the description."""

    async def create(self, body: SecretBody) -> Message:
        for secret in (await self.listing())["custom_secrets"]:
            if secret["name"] == body.name:
                await super().delete(body.name)
                kept = secret["description"] if body.description is None else body.description
                body = body.model_copy(update={"description": kept})
        return await super().create(body)


def nested(service: LocalService) -> Before:
    settings, secrets = NestedSettings(service.store), nested_secrets_router(NestedSecrets(service.store))
    of_settings = nested_settings_router(settings), nested_profiles_router(settings)
    server = Before(service, "nested", (*OWN, *FLAT), (*of_settings, secrets, nested_options_router()))
    server.app.add_exception_handler(RefusalError, _on_refusal)
    return server


async def _on_refusal(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RefusalError)
    return json_answer({"detail": str(error)}, error.status)


def nested_settings_router(settings: NestedSettings) -> APIRouter:
    router = APIRouter(prefix="/api/v1/settings", tags=["Settings"])

    @router.get("", response_model=None)
    async def load() -> Response:
        record = await settings.load()
        return json_answer({"error": "Settings not found"}, 404) if record is None else json_answer(record)

    @router.post("", response_model=None)
    async def change(body: dict[str, Any]) -> Response:
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


ProfileName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,64}$")]


def _is_in(block: Any, key: str) -> bool:
    name, _, rest = key.partition(".")
    field = block.model_fields.get(name) if isinstance(block, type) and issubclass(block, BaseModel) else None
    return field is not None and (not rest or _is_in(field.annotation, rest))


def nested_secrets_router(secrets: Secrets) -> APIRouter:
    router = APIRouter(prefix="/api/v1/secrets", tags=["Secrets"])

    @router.get("/search")
    async def search() -> Page[dict[str, str]]:
        listed = (await secrets.listing())["custom_secrets"]
        return Page(items=sorted(listed, key=lambda secret: secret["name"]), next_page_id=None)

    router.add_api_route("", secrets.create, methods=["POST"], status_code=201)
    router.add_api_route("/{name}", secrets.describe, methods=["PUT"])
    router.add_api_route("/git-providers", secrets.set_tokens, methods=["POST"])
    router.add_api_route("/git-providers", secrets.clear_tokens, methods=["DELETE"])
    router.add_api_route("/{name}", secrets.delete, methods=["DELETE"])
    return router


def nested_profiles_router(settings: NestedSettings) -> APIRouter:
    router = APIRouter(prefix="/api/v1/settings/profiles", tags=["Profiles"])

    @router.get("")
    async def listing() -> dict[str, Any]:
        record = await settings.read()
        kept = record.llm_profiles if record else Profiles()
        profiles = [
            {"name": name, "model": llm.model, "base_url": llm.base_url, "api_key_set": llm.api_key is not None}
            for name, llm in kept.profiles.items()
        ]
        return {"profiles": profiles, "active_profile": kept.active}

    @router.post("/{name}", status_code=201)
    async def save(name: ProfileName, llm: Annotated[Llm | None, Body(embed=True)] = None) -> dict[str, str]:
        async with settings.changing() as record:
            kept = record.llm_profiles
            kept.profiles[name] = llm or record.agent_settings.llm
            kept.active = None if kept.active == name else kept.active
        return {"name": name, "message": "Profile saved"}

    @router.post("/{name}/activate")
    async def activate(name: ProfileName) -> dict[str, str]:
        async with settings.changing() as record:
            _activate(record, name)
        return {"name": name, "message": "Profile activated", "model": record.agent_settings.llm.model}

    @router.post("/{name}/rename")
    async def rename(name: ProfileName, new_name: Annotated[ProfileName, Body(embed=True)]) -> dict[str, str]:
        async with settings.changing() as record:
            kept = record.llm_profiles
            _profile(kept, name)
            if new_name != name and new_name in kept.profiles:
                raise RefusalError(f"There is a profile {new_name} already.", 409)
            kept.profiles = {new_name if one == name else one: llm for one, llm in kept.profiles.items()}
            kept.active = new_name if kept.active == name else kept.active
        return {"name": new_name, "message": "Profile renamed"}

    @router.delete("/{name}")
    async def delete(name: ProfileName) -> dict[str, str]:
        """Delete a profile, if there is one; when it was in use, the first of the others comes into use."""
        if await settings.read() is not None:
            async with settings.changing() as record:
                kept = record.llm_profiles
                kept.profiles.pop(name, None)
                if kept.active == name:
                    kept.active = None
                    if kept.profiles:
                        _activate(record, next(iter(kept.profiles)))
        return {"name": name, "message": "Profile deleted"}

    return router


def _activate(record: NestedRecord, name: str) -> None:
    record.agent_settings.llm, record.llm_profiles.active = _profile(record.llm_profiles, name), name


def _profile(kept: Profiles, name: str) -> Llm:
    if name not in kept.profiles:
        raise RefusalError(f"There is no profile {name}.", 404)
    return kept.profiles[name]


def nested_options_router() -> APIRouter:
    """The models that are verified, which is all that clients ask for; they read the first page only."""
    router = APIRouter(prefix="/api/v1/config", tags=["Options"])

    @router.get("/models/search")
    async def models(limit: Limit) -> Page[dict[str, Any]]:
        named = [model.partition("/") for model in MODELS]
        told = {"verified": True, "hidden": False, "canonical": None}
        found = [{"provider": provider, "name": name, **told} for provider, _, name in named]
        return Page(items=found[:limit], next_page_id="opaque" if len(found) > limit else None)

    return router
