"""What the service accepts in request bodies: strict models of its own, with the rules of contract c.1 and g.2."""

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, FiniteFloat, StringConstraints

from quarterdeck.client.models.enums import GitProvider
from quarterdeck.local.mcp_bodies import McpConfigBody
from quarterdeck.local.open_body import OpenBody, Secret

Text = Annotated[str, StringConstraints(max_length=20_000)]
Grouping = Literal["NO_GROUPING", "GROUP_BY_NEWEST", "LEAST_RECENTLY_USED", "FEWEST_CONVERSATIONS", "ADD_TO_ANY"]


def _bare(member: str) -> Callable[[object], object]:
    """Take a text alone for an object that has just this member."""
    return lambda value: {member: value} if isinstance(value, str) else value


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


class TextPart(BaseModel):
    """Text of a message."""

    type: Literal["text"]
    text: Annotated[str, StringConstraints(max_length=200_000)]


class ImagePart(BaseModel):
    """Images of a message, by address."""

    type: Literal["image"]
    image_urls: Annotated[list[Text], Field(max_length=100)]


class MessageBody(BaseModel):
    """A message; its content is a list of typed parts (contract T16)."""

    role: Literal["user", "system", "assistant", "tool"] = "user"
    content: Annotated[list[Annotated[TextPart | ImagePart, Field(discriminator="type")]], Field(max_length=100)] = []
    run: bool = True

    def text(self) -> str:
        """All its text."""
        return "\n".join(part.text for part in self.content if isinstance(part, TextPart))


class Trigger(StrEnum):
    """What made a conversation be created (contract section g.1)."""

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


Title = Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)]
Short = Annotated[str, StringConstraints(max_length=2_000)]


class StartConversationBody(BaseModel):
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


def _not_empty(title: str) -> str:
    if not title:
        raise ValueError("a title needs at least one character that is not a blank")
    return title


class ChangeConversationBody(BaseModel):
    """What can be changed of a conversation; null and what is left out change nothing (release 1.11)."""

    title: Annotated[Title, AfterValidator(_not_empty)] | None = None
    public: bool | None = None
