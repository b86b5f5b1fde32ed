"""The stored record of release 1.11, what a store makes of it, and what a load tells of it.

Only what is nested is checked when it is stored; a wrong value at the top is stored as it came, and from then on the
record cannot be read.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BaseModel, FiniteFloat, TypeAdapter, ValidationError

from quarterdeck.local.bodies import Grouping
from quarterdeck.local.errors import RefusalError
from quarterdeck.local.secrets import providers_set
from quarterdeck.local.store import Store
from tests.servers.nested.agent import TOLD, AgentSettings, ConversationSettings, Key, Llm, OpenHandsAgent

Record = dict[str, Any]


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
    diff = _object(sent, "agent_settings_diff")
    held = before.stored()["agent_settings"]
    goes_on = diff.get("agent_kind", held["agent_kind"]) == held["agent_kind"]  # another kind of agent begins anew
    agent = _AGENT.validate_python(merge(held if goes_on else {}, diff))
    if agent.llm.base_url is None and _object(diff, "llm").get("base_url") != "":
        agent.llm.base_url = address_of(agent.llm)
    conversation = ConversationSettings.model_validate(
        merge(before.conversation_settings.model_dump(), _object(sent, "conversation_settings_diff"))
    )
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
