"""The parts of request bodies, and the settings record: the rules of release 1.6; 422 for anything invalid."""

import json
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    PlainSerializer,
    SecretStr,
    StringConstraints,
    model_validator,
)

from quarterdeck.client.models.enums import Grouping, is_mask

_SCHEMES = frozenset({"http", "https", "ws", "wss"})


class Body(BaseModel):
    """A body or a record; its text form has the names of its members and no values, which may be secret."""

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        return ((None, name) for name in sorted(self.model_fields_set))


class OpenBody(Body):
    """A body whose unknown members are kept, if JSON can represent them."""

    model_config = ConfigDict(extra="allow")

    @model_validator(mode="after")
    def _can_be_given_back(self) -> Self:
        try:
            json.dumps(self.model_extra, allow_nan=False, ensure_ascii=False).encode()
        except ValueError as error:  # NaN, Infinity, or a lone surrogate
            raise ValueError("a member that is not known holds what JSON cannot carry") from error
        return self


def _no_mask(secret: SecretStr) -> SecretStr:
    if is_mask(secret.get_secret_value()):
        raise ValueError("this is a mask and not the secret; leave it out to keep what is stored")
    return secret


def _check_address(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in _SCHEMES or not parts.hostname:
        raise ValueError("an address begins with http://, https://, ws:// or wss:// and a host")
    return value


def _bare(member: str) -> Callable[[object], object]:
    """Accept a plain text instead of an object with only this member."""
    return lambda value: {member: value} if isinstance(value, str) else value


Secret = Annotated[
    SecretStr,
    AfterValidator(_no_mask),
    PlainSerializer(lambda secret: secret.get_secret_value(), return_type=str),
]
"""A secret in a body; dumping the body, which is done to store it, returns its value."""
Trimmed = Annotated[str, StringConstraints(strip_whitespace=True)]
Address = Annotated[Trimmed, AfterValidator(_check_address)]


class SseBody(OpenBody):
    """A server connected over SSE."""

    url: Address
    api_key: Secret | None = None


class ShttpBody(OpenBody):
    """A server connected over streamable HTTP; `timeout` in seconds."""

    url: Address
    api_key: Secret | None = None
    timeout: Annotated[int, Field(ge=1, le=3600)] | None = 60


class StdioBody(OpenBody):
    """A server started as a command inside the sandbox."""

    name: Annotated[Trimmed, StringConstraints(pattern=r"^[A-Za-z0-9_-]+$")]
    command: Annotated[Trimmed, StringConstraints(pattern=r"^[^ ]+$")]
    args: list[str] = []
    env: dict[str, Secret] = {}


class McpConfigBody(Body):
    """The three lists and nothing else; none of them may be null."""

    model_config = ConfigDict(extra="forbid")

    sse_servers: list[SseBody] = []
    stdio_servers: list[StdioBody] = []
    shttp_servers: list[ShttpBody] = []


class ProviderToken(OpenBody):
    """The token of one git provider and its host."""

    token: Secret | None = None
    host: str | None = None


class CustomSecret(OpenBody):
    """A secret that a sandbox may use."""

    secret: Secret | None = None
    description: str | None = None


class SecretsStore(OpenBody):
    """Tokens by provider and secrets by name: written, never returned."""

    provider_tokens: dict[str, Annotated[ProviderToken, BeforeValidator(_bare("token"))]] = {}
    custom_secrets: dict[str, Annotated[CustomSecret, BeforeValidator(_bare("secret"))]] = {}


class SettingsBody(OpenBody):
    """The settings record of the documented interface, and the additions of release 1.6."""

    language: str | None = None
    agent: str | None = None
    max_iterations: int | None = None
    security_analyzer: str | None = None
    confirmation_mode: bool | None = None
    llm_model: str | None = None
    llm_api_key: Secret | None = None
    llm_base_url: str | None = None
    user_version: int | None = None
    remote_runtime_resource_factor: int | None = None
    secrets_store: SecretsStore = SecretsStore()
    enable_default_condenser: bool = True
    enable_sound_notifications: bool = False
    enable_proactive_conversation_starters: bool = True
    enable_solvability_analysis: bool = True
    user_consents_to_analytics: bool | None = None
    sandbox_base_container_image: str | None = None
    sandbox_runtime_container_image: str | None = None
    mcp_config: McpConfigBody | None = None
    disabled_skills: list[str] | None = None
    search_api_key: Secret | None = None
    sandbox_api_key: Secret | None = None
    max_budget_per_task: FiniteFloat | None = None
    condenser_max_size: Annotated[int, Field(ge=20)] | None = None
    email: str | None = None
    email_verified: bool | None = None
    git_user_name: str | None = None
    git_user_email: str | None = None
    v1_enabled: bool = True
    sandbox_grouping_strategy: Grouping | None = "NO_GROUPING"

    def sent(self) -> dict[str, Any]:
        """Return only the members that the body had, with secrets in clear, as they are stored.

        Of the MCP lists these are also only those that it had, but a server in them gets its defaults.
        """
        sent = self.model_dump(mode="json", include=self.model_fields_set)
        if self.mcp_config is not None:
            sent["mcp_config"] = self.mcp_config.model_dump(mode="json", include=self.mcp_config.model_fields_set)
        return sent
