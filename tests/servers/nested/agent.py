"""The settings of an agent and of its conversations: a part of the leaves that release 1.11 has.

Of the schema that clients make forms of they are told the fields that stand here.
"""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, FiniteFloat

from tests.servers.nested.block import BlankIsNone, Block, GuardedKey
from tests.servers.nested.mcp import McpConfig


class Llm(Block):
    never_null: ClassVar[frozenset[str]] = frozenset({"model"})
    model: str = "gpt-5.5"
    api_key: GuardedKey = None
    auth_type: Literal["api_key", "subscription"] = "api_key"
    subscription_vendor: Literal["openai"] | None = None
    base_url: Annotated[str | None, BlankIsNone] = None
    api_version: str | None = None
    aws_access_key_id: GuardedKey = None
    aws_secret_access_key: GuardedKey = None
    num_retries: Annotated[int, Field(ge=0)] = 5
    retry_multiplier: Annotated[FiniteFloat, Field(ge=0)] = 8.0
    timeout: Annotated[int | None, Field(ge=0)] = 300
    temperature: Annotated[FiniteFloat | None, Field(ge=0)] = None
    max_output_tokens: Annotated[int | None, Field(ge=1)] = None
    extra_headers: dict[str, str] | None = None
    stream: bool = False
    disable_vision: bool | None = None
    reasoning_effort: Literal["low", "medium", "high", "xhigh", "none"] | None = "high"
    usage_id: str = "default"
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
    critic_api_key: GuardedKey = None


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
    """An agent of another maker, spoken to over a protocol."""

    schema_version: int = 4
    agent_kind: Literal["acp"]
    acp_server: Literal["claude-code", "codex", "gemini-cli", "custom"] = "claude-code"
    acp_command: list[str] = []
    acp_args: list[str] = []
    acp_model: str | None = None
    acp_session_mode: str | None = None
    acp_prompt_timeout: FiniteFloat = 1800.0
    mcp_config: McpConfig = {}
    llm: Llm = Llm()
    agent_context: dict[str, Any] | None = None


AgentSettings = Annotated[OpenHandsAgent | AcpAgent, Field(discriminator="agent_kind")]


class ConversationSettings(Block):
    schema_version: int = 1
    max_iterations: Annotated[int, Field(ge=1)] = 500
    confirmation_mode: bool = False
    security_analyzer: Literal["llm", "none"] = "llm"
