"""The schema of nested settings, which clients make forms of, read off the models that check what comes back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from tests.servers.nested.agent import AcpAgent, Condenser, ConversationSettings, Llm, OpenHandsAgent, Verification

Record = dict[str, Any]


@dataclass(frozen=True)
class _Section:
    """Fields that are told together: those of a block that are to be shown, under the place of the block."""

    key: str
    label: str
    block: type[BaseModel]
    place: str = ""
    variant: str | None = None
    """The kind of agent its fields are for."""


_AGENT = (
    _Section("general", "General", OpenHandsAgent, variant="openhands"),
    _Section("llm", "LLM", Llm, "llm.", "openhands"),
    _Section("condenser", "Condenser", Condenser, "condenser.", "openhands"),
    _Section("verification", "Verification", Verification, "verification.", "openhands"),
    _Section("acp", "Other agents", AcpAgent, variant="acp"),
    _Section("llm", "LLM that is counted", Llm, "llm.", "acp"),
)
_CONVERSATION = (_Section("general", "General", ConversationSettings),)


def agent_schema() -> Record:
    """What can be put into `agent_settings`."""
    return {"model_name": "AgentSettings", "sections": [_told(section) for section in _AGENT]}


def conversation_schema() -> Record:
    """What can be put into `conversation_settings`."""
    return {"model_name": "ConversationSettings", "sections": [_told(section) for section in _CONVERSATION]}


def _told(section: _Section) -> Record:
    properties = section.block.model_json_schema()["properties"]
    fields = [_field(section, name, about) for name, about in properties.items() if "prominence" in about]
    return {"key": section.key, "label": section.label, "fields": fields, "variant": section.variant}


def _field(section: _Section, name: str, about: Record) -> Record:
    kind = _kind(about)
    return {
        "key": section.place + name,
        "label": name.replace("_", " ").capitalize(),
        "description": about.get("description"),
        "section": section.key,
        "section_label": section.label,
        "value_type": kind["type"],
        "default": about.get("default"),
        "prominence": about["prominence"],
        "depends_on": about["depends_on"],
        "secret": kind.get("writeOnly", False),
        "choices": [{"value": word, "label": word} for word in _words(kind)],
        "variant": section.variant,
    }


def _kind(about: Mapping[str, Any]) -> Mapping[str, Any]:
    """The JSON schema of a field's value when it is not null."""
    kinds = about.get("anyOf", [about])
    return next(kind for kind in kinds if kind["type"] != "null")


def _words(kind: Mapping[str, Any]) -> list[str]:
    return [kind["const"]] if "const" in kind else list(kind.get("enum", []))
