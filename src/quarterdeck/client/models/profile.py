"""LLM profiles: named copies of the LLM settings."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from quarterdeck.client.models.base import Starred, Wire


class Profile(Starred):
    """One stored copy of the LLM settings, without its key."""

    name: str
    model: str | None = None
    base_url: str | None = None
    api_key_set: Annotated[bool, BeforeValidator(lambda value: value or False)] = False


class Profiles(Wire):
    """All profiles in the server's order; `active` is the one in use, None when the settings were edited since."""

    items: tuple[Profile, ...] = Field((), validation_alias="profiles")
    active: str | None = Field(None, validation_alias="active_profile")
