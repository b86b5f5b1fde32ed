"""What the service accepts in request bodies: the rules of release 1.6; 422 for whatever is wrong."""

import json
import shlex
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit
from uuid import UUID

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

from quarterdeck.client.models.enums import GitProvider

Text = Annotated[str, StringConstraints(max_length=20_000)]
Trimmed = Annotated[str, StringConstraints(strip_whitespace=True, max_length=20_000)]
Short = Annotated[str, StringConstraints(max_length=2_000)]
Title = Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)]
Grouping = Literal["NO_GROUPING", "GROUP_BY_NEWEST", "LEAST_RECENTLY_USED", "FEWEST_CONVERSATIONS", "ADD_TO_ANY"]
Secret = Annotated[
    SecretStr,
    StringConstraints(max_length=20_000),
    PlainSerializer(lambda secret: secret.get_secret_value(), return_type=str),
]
"""A secret in a body; dumping the body, which is done to store it, gives its value."""

_SCHEMES = frozenset({"http", "https", "ws", "wss"})


class Body(BaseModel):
    """A body; its text form names its members and shows no value, for any of them may hold a secret."""

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        return ((None, name) for name in sorted(self.model_fields_set))


class OpenBody(Body):
    """A body whose unknown members are kept, as long as JSON can carry them back."""

    model_config = ConfigDict(extra="allow")

    @model_validator(mode="after")
    def _can_be_given_back(self) -> Self:
        try:
            json.dumps(self.model_extra, allow_nan=False, ensure_ascii=False).encode()
        except ValueError as error:  # NaN, Infinity, or half of a surrogate pair
            raise ValueError("a member that is not known holds what JSON cannot carry") from error
        return self


def _check_address(value: str) -> str:
    if not value:
        raise ValueError("an address is needed")
    parts = urlsplit(value)
    if not parts.scheme or "://" not in value:
        raise ValueError("the address needs a scheme, such as https://")
    if parts.scheme not in _SCHEMES:
        raise ValueError("the scheme of the address has to be http, https, ws or wss")
    if not parts.hostname:
        raise ValueError("the address needs a host")
    return value


def _split_arguments(value: object) -> object:
    return shlex.split(value) if isinstance(value, str) else value


def _split_environment(value: object) -> object:
    """Read the short form ``K=V,K2=V2``."""
    if not isinstance(value, str):
        return value
    pairs = [pair.partition("=") for pair in value.split(",") if pair.strip()]
    if not all(name.strip() and equals for name, equals, _ in pairs):
        raise ValueError("the environment is an object, or a text like NAME=value,OTHER=value")
    return {name.strip(): text.strip() for name, _, text in pairs}


def _bare(member: str) -> Callable[[object], object]:
    """Take a text alone for an object that has just this member."""
    return lambda value: {member: value} if isinstance(value, str) else value


Address = Annotated[Trimmed, AfterValidator(_check_address)]


class SseBody(OpenBody):
    """A server reached over SSE."""

    url: Address
    api_key: Secret | None = None


class ShttpBody(OpenBody):
    """A server reached over streamable HTTP; `timeout` in seconds."""

    url: Address
    api_key: Secret | None = None
    timeout: Annotated[int, Field(ge=1, le=3600)] | None = 60


class StdioBody(OpenBody):
    """A server started as a command inside the sandbox."""

    name: Annotated[Trimmed, StringConstraints(pattern=r"^[A-Za-z0-9_-]+$")]
    command: Annotated[Trimmed, StringConstraints(pattern=r"^[^ ]+$")]
    args: Annotated[list[str], BeforeValidator(_split_arguments)] = []
    env: Annotated[dict[str, Secret], BeforeValidator(_split_environment)] = {}


class McpConfigBody(Body):
    """The three lists and nothing else; none of them is null."""

    model_config = ConfigDict(extra="forbid")

    sse_servers: list[Annotated[SseBody, BeforeValidator(_bare("url"))]] = []
    stdio_servers: list[StdioBody] = []
    shttp_servers: list[Annotated[ShttpBody, BeforeValidator(_bare("url"))]] = []


class ProviderToken(OpenBody):
    """The token of one git provider and the host it is for."""

    token: Secret | None = None
    host: Text | None = None


class CustomSecret(OpenBody):
    """A secret that a sandbox may use."""

    secret: Secret | None = None
    description: Text | None = None


class SecretsStore(OpenBody):
    """Tokens by provider and secrets by name: written, never told."""

    provider_tokens: dict[str, Annotated[ProviderToken, BeforeValidator(_bare("token"))]] = {}
    custom_secrets: dict[str, Annotated[CustomSecret, BeforeValidator(_bare("secret"))]] = {}


class SettingsBody(OpenBody):
    """The settings record of the documented interface (2.2) with what release 1.6 adds to it."""

    language: Text | None = None
    agent: Text | None = None
    max_iterations: int | None = None
    security_analyzer: Text | None = None
    confirmation_mode: bool | None = None
    llm_model: Text | None = None
    llm_api_key: Secret | None = None
    llm_base_url: Text | None = None
    user_version: int | None = None
    remote_runtime_resource_factor: int | None = None
    secrets_store: SecretsStore = SecretsStore()
    enable_default_condenser: bool = True
    enable_sound_notifications: bool = False
    enable_proactive_conversation_starters: bool = True
    enable_solvability_analysis: bool = True
    user_consents_to_analytics: bool | None = None
    sandbox_base_container_image: Text | None = None
    sandbox_runtime_container_image: Text | None = None
    mcp_config: McpConfigBody | None = None
    disabled_skills: list[Text] | None = None
    search_api_key: Secret | None = None
    sandbox_api_key: Secret | None = None
    max_budget_per_task: FiniteFloat | None = None
    condenser_max_size: Annotated[int, Field(ge=20)] | None = None
    email: Text | None = None
    email_verified: bool | None = None
    git_user_name: Text | None = None
    git_user_email: Text | None = None
    v1_enabled: bool = True
    sandbox_grouping_strategy: Grouping = "NO_GROUPING"

    def sent(self) -> dict[str, Any]:
        """Only what the body had, secrets in clear, as it is stored; of the MCP lists only those that it had."""
        whole = self.model_dump(mode="json")
        sent = {name: whole[name] for name in self.model_fields_set}
        if self.mcp_config is not None:
            sent["mcp_config"] = {name: whole["mcp_config"][name] for name in self.mcp_config.model_fields_set}
        return sent


class TextPart(Body):
    """Text of a message."""

    type: Literal["text"]
    text: Annotated[str, StringConstraints(max_length=200_000)]


class ImagePart(Body):
    """Images of a message, by address."""

    type: Literal["image"]
    image_urls: Annotated[list[Text], Field(max_length=100)]


class MessageBody(Body):
    """A message; its content is a list of typed parts."""

    role: Literal["user", "system", "assistant", "tool"] = "user"
    content: Annotated[list[Annotated[TextPart | ImagePart, Field(discriminator="type")]], Field(max_length=100)] = []
    run: bool = True

    def text(self) -> str:
        """All its text."""
        return "\n".join(part.text for part in self.content if isinstance(part, TextPart))


class Trigger(StrEnum):
    """What made a conversation be created."""

    RESOLVER = "resolver"
    GUI = "gui"
    SUGGESTED_TASK = "suggested_task"
    OPENHANDS_API = "openhands_api"
    SLACK = "slack"
    MICROAGENT_MANAGEMENT = "microagent_management"
    JIRA = "jira"
    JIRA_DC = "jira_dc"
    LINEAR = "linear"
    BITBUCKET = "bitbucket"


class DescribedBody(Body):
    """Name and description of a secret; a value beside them is ignored."""

    name: Text
    description: Text | None = None


class SecretBody(DescribedBody):
    """A secret."""

    value: Secret


class TokensBody(Body):
    """Tokens by git provider."""

    provider_tokens: dict[GitProvider, ProviderToken] = {}

    def tokens(self) -> dict[str, dict[str, Any]]:
        """Them in clear, as they are stored."""
        return {provider.value: token.model_dump(mode="json") for provider, token in self.provider_tokens.items()}


class StartConversationBody(Body):
    """What a conversation is created with; unknown members are ignored, as real servers do."""

    model_config = ConfigDict(extra="ignore")

    sandbox_id: Short | None = None
    conversation_id: UUID | None = None
    initial_message: MessageBody | None = None
    llm_model: Short | None = None
    selected_repository: Short | None = None
    selected_branch: Short | None = None
    git_provider: GitProvider | None = None
    title: Title | None = None
    trigger: Trigger | None = None
    pr_number: Annotated[list[int], Field(max_length=100)] = []
    parent_conversation_id: UUID | None = None
    agent_type: Literal["default", "plan"] = "default"
    public: bool | None = None


class ChangeConversationBody(Body):
    """What can be changed of a conversation; null and what is left out change nothing (release 1.11)."""

    title: Annotated[Title, StringConstraints(min_length=1)] | None = None
    public: bool | None = None


class AnswerBody(Body):
    """An answer to what an agent asks."""

    accept: bool
    reason: Text = "User rejected the action."


class Policy(Body):
    """When an agent asks before it acts."""

    kind: Literal["NeverConfirm", "AlwaysConfirm", "ConfirmRisky"]
    threshold: Literal["LOW", "MEDIUM", "HIGH"] = "HIGH"
    confirm_unknown: bool = True

    def told(self) -> dict[str, Any]:
        """It as a state tells it."""
        return self.model_dump() if self.kind == "ConfirmRisky" else {"kind": self.kind}


class PolicyBody(Body):
    """A change of that."""

    policy: Policy
