"""The settings of an agent and of its conversations: a part of the leaves that release 1.11 has.

The schema that clients make forms of is read off these models, so every field of it is checked and stored.
"""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, FiniteFloat

from tests.servers.nested.block import BlankIsNone, Block, GuardedKey, shown
from tests.servers.nested.mcp import McpConfig

_CONDENSER = "condenser.enabled"
_CRITIC = "verification.critic_enabled"
_REFINEMENT = "verification.enable_iterative_refinement"


class Llm(Block):
    """The language model."""

    never_null: ClassVar[frozenset[str]] = frozenset({"model"})

    model: Annotated[str, shown("critical", says="The model that answers.")] = "gpt-5.5"
    api_key: Annotated[GuardedKey, shown("critical", says="The key of the model's provider.")] = None
    auth_type: Annotated[Literal["api_key", "subscription"], shown("critical")] = "api_key"
    subscription_vendor: Annotated[Literal["openai"] | None, shown("critical", "llm.auth_type")] = None
    base_url: Annotated[str | None, BlankIsNone, shown("major", says="Where the model is asked.")] = None
    api_version: Annotated[str | None, shown("minor")] = None
    aws_access_key_id: Annotated[GuardedKey, shown("minor")] = None
    aws_secret_access_key: Annotated[GuardedKey, shown("minor")] = None
    num_retries: Annotated[int, shown("minor", ge=0)] = 5
    retry_multiplier: Annotated[FiniteFloat, shown("minor", ge=0)] = 8.0
    timeout: Annotated[int | None, shown("minor", ge=0, says="Seconds to wait for an answer.")] = 300
    temperature: Annotated[FiniteFloat | None, shown("minor", ge=0)] = None
    max_output_tokens: Annotated[int | None, shown("minor", ge=1)] = None
    extra_headers: Annotated[dict[str, str] | None, shown("minor")] = None
    stream: Annotated[bool, shown("minor")] = False
    disable_vision: Annotated[bool | None, shown("minor")] = None
    reasoning_effort: Annotated[Literal["low", "medium", "high", "xhigh", "none"] | None, shown("minor")] = "high"
    usage_id: Annotated[str, shown("minor")] = "default"
    litellm_extra_body: Annotated[dict[str, Any], shown("minor")] = {}
    is_subscription: bool = False


class Condenser(Block):
    """What shortens a long conversation."""

    enabled: Annotated[bool, shown("critical", says="Sum up the older part of a long conversation.")] = True
    max_size: Annotated[int, shown("minor", _CONDENSER, ge=20)] = 240
    condenser_kind: Annotated[Literal["llm_summarizing", "no_op"], shown("minor")] = "llm_summarizing"
    max_tokens: Annotated[int | None, shown("minor", _CONDENSER)] = None
    keep_first: Annotated[int, shown("minor", _CONDENSER, ge=0)] = 2
    minimum_progress: Annotated[FiniteFloat, shown("minor", _CONDENSER)] = 0.1
    hard_context_reset_max_retries: Annotated[int, shown("minor", _CONDENSER)] = 5
    hard_context_reset_context_scaling: Annotated[FiniteFloat, shown("minor", _CONDENSER)] = 0.8


class Verification(Block):
    """What judges the work of an agent."""

    critic_enabled: Annotated[bool, shown("critical")] = False
    critic_mode: Annotated[Literal["finish_and_message", "all_actions"], shown("minor", _CRITIC)] = "finish_and_message"
    enable_iterative_refinement: Annotated[bool, shown("critical", _CRITIC)] = False
    critic_threshold: Annotated[FiniteFloat, shown("minor", _CRITIC, _REFINEMENT)] = 0.6
    max_refinement_iterations: Annotated[int, shown("minor", _CRITIC, _REFINEMENT, ge=1)] = 3
    critic_server_url: Annotated[str | None, shown("minor", _CRITIC)] = None
    critic_model_name: Annotated[str | None, shown("minor", _CRITIC)] = None
    critic_api_key: Annotated[GuardedKey, shown("critical", _CRITIC)] = None


class OpenHandsAgent(Block):
    """An agent of the service's own kind."""

    schema_version: int = 4
    agent_kind: Literal["openhands"] = "openhands"
    agent: Annotated[str, shown("major")] = "CodeActAgent"
    llm: Llm = Llm()
    tools: Annotated[list[dict[str, Any]] | None, shown("major")] = None
    enable_sub_agents: Annotated[bool, shown("major", says="Let the agent give work to others.")] = False
    enable_switch_llm_tool: Annotated[bool, shown("minor")] = True
    tool_concurrency_limit: Annotated[int, shown("major", ge=1)] = 1
    mcp_config: Annotated[McpConfig, shown("minor")] = {}
    agent_context: dict[str, Any] = {}
    condenser: Condenser = Condenser()
    verification: Verification = Verification()


class AcpAgent(Block):
    """An agent of another maker, spoken to over a protocol."""

    schema_version: int = 4
    agent_kind: Literal["acp"]
    acp_server: Annotated[Literal["claude-code", "codex", "gemini-cli", "custom"], shown("critical")] = "claude-code"
    acp_command: Annotated[list[str], shown("minor")] = []
    acp_args: Annotated[list[str], shown("minor")] = []
    acp_model: Annotated[str | None, shown("critical")] = None
    acp_session_mode: Annotated[str | None, shown("minor")] = None
    acp_prompt_timeout: Annotated[FiniteFloat, shown("minor")] = 1800.0
    mcp_config: McpConfig = {}
    llm: Llm = Llm()
    agent_context: dict[str, Any] | None = None


AgentSettings = Annotated[OpenHandsAgent | AcpAgent, Field(discriminator="agent_kind")]


class ConversationSettings(Block):
    """What holds for each conversation."""

    schema_version: int = 1
    max_iterations: Annotated[int, shown("major", ge=1, says="Steps after which a conversation stops.")] = 500
    confirmation_mode: Annotated[bool, shown("critical", says="Ask before a risky step.")] = False
    security_analyzer: Annotated[Literal["llm", "none"], shown("major", "confirmation_mode")] = "llm"
