"""Settings, secrets and profiles: the canonical record has 25 flat fields and three that only a load has."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, Field, SecretStr

from quarterdeck.client.models.base import HidesSecrets, Kept, Wire
from quarterdeck.client.models.mcp import McpConfig

LOAD_ONLY = frozenset({"llm_api_key_set", "search_api_key_set", "provider_tokens_set"})
"""Members of a load response that no store accepts."""

SECRET_FIELDS = frozenset({"llm_api_key", "search_api_key", "sandbox_api_key"})
"""Members whose value a server never returns."""

PROFILES = "llm_profiles"
"""The member of a nested record that repeats the list of profiles."""

SettingsChanges = Mapping[str, Any]
"""New values by canonical field name.

A missing name keeps the value, None unsets it or clears a secret, a new secret is a `SecretStr`, `mcp_config` is a
whole `McpConfig`. On the nested generation, the dotted place of a leaf is also a name, for which None restores the
server's default.
"""


class Loss(NamedTuple):
    """A stored value that a store removes, or may remove, although the changes do not name it."""

    field: str
    """A canonical field, "secrets_store" for git tokens and custom secrets, or the place of the agent kind."""
    certain: bool
    """Whether it is certainly removed, if stored; otherwise the behaviour of this server is unknown."""
    parts: tuple[str, ...] = ()
    """Names of the removed parts, for example MCP servers or git providers; empty if not known."""


class Settings(Kept):
    """Everything stored for the user, without the values of secrets."""

    language: str | None = None
    agent: str | None = None
    max_iterations: int | None = None
    security_analyzer: str | None = None
    confirmation_mode: bool | None = None
    llm_model: str | None = None
    llm_api_key: SecretStr | None = None
    llm_base_url: str | None = None
    remote_runtime_resource_factor: int | None = None
    secrets_store: dict[str, Any] | None = None
    enable_default_condenser: bool = True
    enable_sound_notifications: bool = False
    enable_proactive_conversation_starters: bool = True
    enable_solvability_analysis: bool = True
    user_consents_to_analytics: bool | None = None
    sandbox_base_container_image: str | None = None
    sandbox_runtime_container_image: str | None = None
    mcp_config: McpConfig | None = None
    search_api_key: SecretStr | None = None
    sandbox_api_key: SecretStr | None = None
    max_budget_per_task: float | None = None
    email: str | None = None
    email_verified: bool | None = None
    git_user_name: str | None = None
    git_user_email: str | None = None

    llm_api_key_set: bool | None = None
    """Whether a key is stored; None if the server does not tell."""
    search_api_key_set: bool | None = None
    provider_tokens_set: dict[str, str | None] | None = None

    leaves: Mapping[str, Any] = Field(default_factory=dict, repr=False)
    """On the nested generation, every value by its dotted place, such as "agent_settings.llm.temperature".

    The value of a secret is None. Empty on the flat generation.
    """

    @property
    def active_profile(self) -> str | None:
        """The LLM profile that the settings of the model are a copy of, if a server keeps profiles and any is."""
        profiles = (self.model_extra or {}).get(PROFILES)
        active = profiles.get("active") if isinstance(profiles, dict) else None
        return active if isinstance(active, str) else None


class CustomSecret(Wire):
    """A secret that sandboxes get as an environment variable; its value is never returned."""

    name: str
    description: str | None = None

    @property
    def id(self) -> str:
        """Its identity: the name."""
        return self.name


class CustomSecrets(Wire):
    """The response that lists all of them."""

    custom_secrets: tuple[CustomSecret, ...]


@dataclass(frozen=True)
class ProviderToken:
    """Access to one git provider; a `token` of None keeps the stored one, a `host` of None means the usual one."""

    token: SecretStr | None = None
    host: str | None = None


class Profile(HidesSecrets):
    """One stored copy of the LLM settings, without its key."""

    name: str
    model: str | None = None
    base_url: str | None = None
    api_key_set: Annotated[bool, BeforeValidator(lambda value: value or False)] = False


class Profiles(Wire):
    """All profiles in the server's order; `active` is the one in use, None if the settings were edited since."""

    items: tuple[Profile, ...] = Field((), validation_alias="profiles")
    active: str | None = Field(None, validation_alias="active_profile")
