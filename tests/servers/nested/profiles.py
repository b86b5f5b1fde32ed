"""Named language models: what is told of them, and what changes them."""

from typing import Annotated, Any

from fastapi import APIRouter, Body
from pydantic import StringConstraints

from quarterdeck.local.errors import RefusalError
from tests.servers.nested.agent import Llm
from tests.servers.nested.record import NestedRecord, NestedSettings, Profiles

ProfileName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,64}$")]


def nested_profiles_router(settings: NestedSettings) -> APIRouter:
    """List, save, activate, rename and delete profiles."""
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
        """Save a model, the one in use unless one is given."""
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
        """Rename a profile, in its place; 409 when the name is taken."""
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
    record.agent_settings.llm = _profile(record.llm_profiles, name)
    record.llm_profiles.active = name


def _profile(kept: Profiles, name: str) -> Llm:
    if name not in kept.profiles:
        raise RefusalError(f"There is no profile {name}.", 404)
    return kept.profiles[name]
