"""``/api/v1/settings/profiles``: named language models, as release 1.11 has them (contract c.2)."""

from typing import Any

from fastapi import APIRouter

from quarterdeck.local.nested import profiles
from quarterdeck.local.nested.profiles import ProfileName, RenameProfileBody, SaveProfileBody
from quarterdeck.local.nested.settings import NestedSettings


def nested_profiles_router(settings: NestedSettings) -> APIRouter:
    """List, read, save, activate, rename and delete profiles."""
    router = APIRouter(prefix="/api/v1/settings/profiles", tags=["Profiles"])

    @router.get("")
    async def listing() -> dict[str, Any]:
        """All profiles in short."""
        return profiles.listing(await settings.read())

    @router.get("/{name}")
    async def detail(name: ProfileName) -> dict[str, Any]:
        """All of one profile but its secrets."""
        return profiles.detail(await settings.read(), name)

    @router.post("/{name}", status_code=201)
    async def save(name: ProfileName, body: SaveProfileBody | None = None) -> dict[str, str]:
        """Save a model, the one in use unless one is given; 409 when there are too many."""
        await settings.change(lambda record: profiles.saved(record, name, body or SaveProfileBody()))
        return {"name": name, "message": "Profile saved"}

    @router.post("/{name}/activate")
    async def activate(name: ProfileName) -> dict[str, str | None]:
        """Put the model of a profile into use."""
        await settings.change(lambda record: profiles.activated(record, name))
        return {"name": name, "message": "Profile activated", "model": await settings.llm_model()}

    @router.post("/{name}/rename")
    async def rename(name: ProfileName, body: RenameProfileBody) -> dict[str, str]:
        """Rename a profile; 409 when the name is taken."""
        await settings.change(lambda record: profiles.renamed(record, name, body.new_name))
        return {"name": body.new_name, "message": "Profile renamed"}

    @router.delete("/{name}")
    async def delete(name: ProfileName) -> dict[str, str]:
        """Delete a profile if there is one."""
        if await settings.read() is not None:
            await settings.change(lambda record: profiles.deleted(record, name))
        return {"name": name, "message": "Profile deleted"}

    return router
