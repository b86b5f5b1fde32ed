"""The settings of an agent and of its conversations: a part of the leaves that release 1.11 has.

Of the schema that clients make forms of they are told the fields that stand here.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    FiniteFloat,
    PlainSerializer,
    SecretStr,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

TOLD: Mapping[str, bool] = {"told": True}
"""The context in which a record is dumped to be told to a client; without it, it is dumped to be stored."""


def is_told(info: SerializationInfo) -> bool:
    return info.context is TOLD


def _blank_is_none(value: object) -> object:
    return None if isinstance(value, str) and not value.strip() else value


def _value(secret: SecretStr, info: SerializationInfo) -> str | None:
    return None if is_told(info) else secret.get_secret_value()


Secret = Annotated[SecretStr, PlainSerializer(_value)]
"""A secret: stored in clear, told as null."""
Key = Annotated[Secret | None, BeforeValidator(_blank_is_none)]
"""A secret that blanks clear."""
BlankIsNone = BeforeValidator(_blank_is_none)


class Block(BaseModel):
    """Part of nested settings: members that are not known are dropped, and null stands for the default."""

    never_null: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="before")
    @classmethod
    def _null_is_default(cls, sent: object) -> object:
        if not isinstance(sent, dict):
            return sent
        return {name: value for name, value in sent.items() if value is not None or name in cls.never_null}


def _text_is_bearer(auth: object) -> object:
    return {"strategy": "bearer", "value": auth} if isinstance(auth, str) else auth


class McpBlock(Block):
    """Is told without its variables and headers, and without what is not set."""

    @model_serializer(mode="wrap")
    def _told(self, dump: SerializerFunctionWrapHandler, info: SerializationInfo) -> dict[str, Any]:
        whole: dict[str, Any] = dump(self)
        if not is_told(info):
            return whole
        return {name: value for name, value in whole.items() if value is not None and name not in ("env", "headers")}


class McpAuth(McpBlock):
    """How a server is shown who asks; of the members only those that its strategy needs are there."""

    strategy: Literal["none", "api_key", "bearer", "basic", "header", "oauth2"]
    value: Secret | None = None
    header_name: str | None = None
    username: str | None = None
    password: Secret | None = None
    headers: dict[str, Secret] | None = None


class McpServer(McpBlock):
    url: str | None = None
    transport: Literal["stdio", "http", "streamable-http", "sse"] | None = None
    command: str | None = None
    args: list[str] | None = None
    env: dict[str, Secret] | None = None
    cwd: str | None = None
    description: str | None = None
    timeout: float | None = None
    headers: dict[str, Secret] | None = None
    auth: Annotated[McpAuth | None, BeforeValidator(_text_is_bearer)] = None

    @model_validator(mode="before")
    @classmethod
    def _bearer_header_is_auth(cls, sent: object) -> object:
        """Take an `Authorization: Bearer` header for `auth`."""
        if not isinstance(sent, dict) or not isinstance(headers := sent.get("headers"), dict):
            return sent
        token = headers.get("Authorization")
        if not isinstance(token, str) or not token.lower().startswith("bearer "):
            return sent
        others = {name: value for name, value in headers.items() if name != "Authorization"}
        return sent | {"headers": others, "auth": token.partition(" ")[2]}


def _bare_map(sent: object) -> object:
    """The servers themselves, which some put into an object as its one member."""
    return sent["mcpServers"] if isinstance(sent, dict) and set(sent) == {"mcpServers"} else sent


McpConfig = Annotated[dict[str, McpServer], BeforeValidator(_bare_map)]


class Llm(Block):
    never_null: ClassVar[frozenset[str]] = frozenset({"model"})
    model: str = "gpt-5.5"
    api_key: Key = None
    base_url: Annotated[str | None, BlankIsNone] = None
    num_retries: Annotated[int, Field(ge=0)] = 5
    timeout: Annotated[int | None, Field(ge=0)] = 300
    temperature: Annotated[FiniteFloat | None, Field(ge=0)] = None
    extra_headers: dict[str, str] | None = None
    reasoning_effort: Literal["low", "medium", "high", "xhigh", "none"] | None = "high"
    litellm_extra_body: dict[str, Any] = {}


class Condenser(Block):
    enabled: bool = True
    max_size: Annotated[int, Field(ge=20)] = 240
    condenser_kind: Literal["llm_summarizing", "no_op"] = "llm_summarizing"
    max_tokens: int | None = None
    keep_first: Annotated[int, Field(ge=0)] = 2
    minimum_progress: FiniteFloat = 0.1
    hard_context_reset_max_retries: int = 5
    hard_context_reset_context_scaling: FiniteFloat = 0.8


class Verification(Block):
    critic_enabled: bool = False
    critic_mode: Literal["finish_and_message", "all_actions"] = "finish_and_message"
    enable_iterative_refinement: bool = False
    critic_threshold: FiniteFloat = 0.6
    max_refinement_iterations: Annotated[int, Field(ge=1)] = 3
    critic_server_url: str | None = None
    critic_model_name: str | None = None
    critic_api_key: Key = None


class OpenHandsAgent(Block):
    schema_version: int = 4
    agent_kind: Literal["openhands"] = "openhands"
    agent: str = "CodeActAgent"
    llm: Llm = Llm()
    tools: list[dict[str, Any]] | None = None
    enable_sub_agents: bool = False
    enable_switch_llm_tool: bool = True
    tool_concurrency_limit: Annotated[int, Field(ge=1)] = 1
    mcp_config: McpConfig = {}
    agent_context: dict[str, Any] = {}
    condenser: Condenser = Condenser()
    verification: Verification = Verification()


class AcpAgent(Block):
    schema_version: int = 4
    agent_kind: Literal["acp"]
    acp_server: Literal["claude-code", "codex", "gemini-cli", "custom"] = "claude-code"
    acp_command: list[str] = []
    mcp_config: McpConfig = {}
    llm: Llm = Llm()
    agent_context: dict[str, Any] | None = None


AgentSettings = Annotated[OpenHandsAgent | AcpAgent, Field(discriminator="agent_kind")]


class ConversationSettings(Block):
    schema_version: int = 1
    max_iterations: Annotated[int, Field(ge=1)] = 500
    confirmation_mode: bool = False
    security_analyzer: Literal["llm", "none"] = "llm"
