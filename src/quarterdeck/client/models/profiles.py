"""LLM profiles: named copies of the LLM settings (contract section c.2)."""

from dataclasses import dataclass

from quarterdeck.client.models.members import every, flag, members, optional, text


@dataclass(frozen=True)
class Profile:
    """One stored copy of the LLM settings, without its key."""

    name: str
    model: str | None = None
    base_url: str | None = None
    api_key_set: bool = False


@dataclass(frozen=True)
class Profiles:
    """All profiles in the server's order; `active` is the one in use, None when the settings were edited since."""

    items: tuple[Profile, ...] = ()
    active: str | None = None


def read_profiles(value: object) -> Profiles:
    """Read the answer that lists them; raises ValueError."""
    given = members(value).get
    return Profiles(every(_profile, given("profiles")), optional(text, given("active_profile")))


def _profile(value: object) -> Profile:
    given = members(value).get
    return Profile(
        text(given("name")),
        optional(text, given("model")),
        optional(text, given("base_url")),
        optional(flag, given("api_key_set")) or False,
    )
