"""LLM profiles: named copies of the LLM settings (contract section c.2)."""

from quarterdeck.service.models.base import Wire


class Profile(Wire):
    """One stored copy of the LLM settings, without its key."""

    name: str
    model: str | None = None
    base_url: str | None = None
    api_key_set: bool = False


class Profiles(Wire):
    """All profiles in the server's order; `active` is the one in use, None when the settings were edited since."""

    items: tuple[Profile, ...] = ()
    active: str | None = None
