"""The stored record of release 1.11, what a store makes of it, and what a load tells of it.

Of an agent and its conversations it has a part of the leaves that the release has, and describes no others. Only what
is nested is checked when it is stored; a wrong value at the top is stored as it came, and from then on the record
cannot be read.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
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
    TypeAdapter,
    ValidationError,
    model_serializer,
    model_validator,
)

from quarterdeck.client.models.enums import Grouping
from quarterdeck.local.errors import RefusalError
from quarterdeck.local.secrets import providers_set
from quarterdeck.local.store import Store

Record = dict[str, Any]
TOLD: Mapping[str, bool] = {"told": True}
"""The context in which a record is dumped to be told to a client; without it, it is dumped to be stored."""


def is_told(info: SerializationInfo) -> bool:
    return info.context is TOLD


def _blank_is_none(value: object) -> object:
    return None if isinstance(value, str) and not value.strip() else value


Secret = Annotated[SecretStr, PlainSerializer(lambda key, info: None if is_told(info) else key.get_secret_value())]
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

    @model_serializer(mode="wrap")
    def _of_its_kind(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        kind = self.condenser_kind
        return {"enabled": self.enabled, "condenser_kind": kind} if kind == "no_op" else dump(self)


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


BLOCKS = {"openhands": OpenHandsAgent, "acp": AcpAgent, None: ConversationSettings}
"""What a field is stored in, by the kind of agent that it is for."""


class Profiles(BaseModel):
    """Language models by name, and the name of the one that was activated last."""

    profiles: dict[str, Llm] = {}
    active: str | None = None


class NestedRecord(BaseModel):
    """The whole record; members that are not known are dropped."""

    language: str | None = None
    user_version: int | None = None
    remote_runtime_resource_factor: int | None = None
    enable_sound_notifications: bool = False
    enable_proactive_conversation_starters: bool = True
    user_consents_to_analytics: bool | None = None
    sandbox_base_container_image: str | None = None
    sandbox_runtime_container_image: str | None = None
    disabled_skills: list[str] | None = None
    search_api_key: Key = None
    sandbox_api_key: Key = None
    max_budget_per_task: FiniteFloat | None = None
    email: str | None = None
    email_verified: bool | None = None
    git_user_name: str | None = None
    git_user_email: str | None = None
    git_full_clone: bool = False
    v1_enabled: bool = True
    agent_settings: AgentSettings = OpenHandsAgent()
    conversation_settings: ConversationSettings = ConversationSettings()
    sandbox_grouping_strategy: Grouping = "NO_GROUPING"
    default_sandbox_spec_id: str | None = None
    llm_profiles: Profiles = Profiles()
    active_agent_profile_id: str | None = None
    active_agent_profile_revision: int | None = None
    registered_marketplaces: list[dict[str, Any]] = []

    def stored(self) -> Record:
        return self.model_dump(mode="json")


ECHOED = ("agent_settings", "conversation_settings")
"""Members of a load that a store refuses: they are changed by differences."""
ADDRESSES = {"anthropic": "https://api.anthropic.example", "mistral": "https://api.mistral.example/v1"}
"""Providers whose address a store fills in where none is stored, and which a load does not tell."""
_SET_AS_SENT = NestedRecord.model_fields.keys() - {*ECHOED, "llm_profiles"}
_KEPT_BY_NULL = ("user_consents_to_analytics", "disabled_skills")
_AGENT: TypeAdapter[AgentSettings] = TypeAdapter(Annotated[AgentSettings, "AgentSettings"])


def patched(stored: Record | None, sent: Record) -> Record:
    """The record to store after a body. Raises `ValidationError` for what is nested, and for what cannot be read."""
    before = NestedRecord.model_validate(stored or {})
    diff, held = _object(sent, "agent_settings_diff"), before.stored()["agent_settings"]
    goes_on = diff.get("agent_kind", held["agent_kind"]) == held["agent_kind"]  # another kind of agent begins anew
    agent = _AGENT.validate_python(merge(held if goes_on else {}, diff))
    if agent.llm.base_url is None and _object(diff, "llm").get("base_url") != "":
        agent.llm.base_url = address_of(agent.llm)
    talk = merge(before.conversation_settings.model_dump(), _object(sent, "conversation_settings_diff"))
    conversation = ConversationSettings.model_validate(talk)
    after = before.model_copy(update={"agent_settings": agent, "conversation_settings": conversation})
    if agent.llm != before.agent_settings.llm:
        after.llm_profiles = before.llm_profiles.model_copy(update={"active": None})
    kept = {*_KEPT_BY_NULL} & {name for name, value in sent.items() if value is None}
    return after.stored() | {name: value for name, value in sent.items() if name in _SET_AS_SENT - kept}


def merge(stored: Record, diff: Record) -> Record:
    """A difference put into a record: objects member by member, everything else as it was sent."""
    merged = dict(stored)
    for name, value in diff.items():
        before = stored.get(name)
        mergeable = isinstance(before, dict) and isinstance(value, dict) and name != "mcp_config"
        merged[name] = merge(stored[name], value) if mergeable else value
    return merged


def address_of(llm: Llm) -> str | None:
    """The address of a model's provider, where the server knows it."""
    return ADDRESSES.get(llm.model.partition("/")[0])


def load_response(record: NestedRecord, secrets: Record | None) -> Record:
    """The record with its secrets as null or left out, and the load-only members that say which are set.

    The moment in it is another one at every load.
    """
    told = record.model_dump(mode="json", context=TOLD)
    agent = told["agent_settings"]
    agent["agent_context"] = (agent["agent_context"] or {}) | {"current_datetime": datetime.now(UTC).isoformat()}
    if agent["llm"]["base_url"] == address_of(record.agent_settings.llm):
        agent["llm"]["base_url"] = None
    return told | {
        "secrets_store": {"provider_tokens": {}},
        "inherited_marketplaces": [],
        "provider_tokens_set": providers_set(secrets),
        "llm_api_key_set": record.agent_settings.llm.api_key is not None,
        "search_api_key_set": record.search_api_key is not None,
    }


def words_of(error: ValidationError) -> str:
    """What is wrong, on several lines as release 1.11 says it, without the values that were sent."""
    problems = error.errors(include_input=False, include_url=False, include_context=False)
    lines = [f"{'.'.join(map(str, one['loc']))}\n  {one['msg']} [type={one['type']}]" for one in problems]
    return "\n".join([f"{len(problems)} validation error{'s' * (len(problems) > 1)} for {error.title}", *lines])


def _object(sent: Record, member: str) -> Record:
    """A member that is an object; anything else is ignored."""
    value = sent.get(member)
    return value if isinstance(value, dict) else {}


class NestedSettings:
    """The one settings record of a store; `ValidationError` for what is none, or none any more."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def read(self) -> NestedRecord | None:
        stored = await self._store.document("nested_settings")
        return None if stored is None else NestedRecord.model_validate(stored)

    async def load(self) -> Record | None:
        record = await self.read()
        return None if record is None else load_response(record, await self._store.document("secrets"))

    async def patch(self, sent: Record) -> None:
        """Store what a body changes, or nothing where it cannot be stored."""
        async with self._store.changing("nested_settings") as documents:
            documents["nested_settings"] = patched(documents["nested_settings"], sent)

    @asynccontextmanager
    async def changing(self) -> AsyncIterator[NestedRecord]:
        """The record, stored as it is in the end; `RefusalError` when there is none."""
        async with self._store.changing("nested_settings") as documents:
            if documents["nested_settings"] is None:
                raise RefusalError("Settings not found", 404)
            record = NestedRecord.model_validate(documents["nested_settings"])
            yield record
            documents["nested_settings"] = record.stored()
