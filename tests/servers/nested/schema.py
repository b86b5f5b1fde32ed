"""The schema of nested settings, which clients make forms of: what was recorded of the fields that are stored here."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from tests.servers.nested.agent import AcpAgent, ConversationSettings, OpenHandsAgent

RECORDINGS = Path(__file__).parents[2] / "recordings" / "1.11.0"
SCHEMAS = {"agent": "28-settings-agent-schema", "conversation": "29-settings-conversation-schema"}
BLOCKS = {"openhands": OpenHandsAgent, "acp": AcpAgent, None: ConversationSettings}
"""What a field is stored in, by the kind of agent that it is for."""


@cache
def schema(section: str) -> dict[str, Any]:
    """What can be put into the settings of the agent or of conversations."""
    recorded: dict[str, Any] = json.loads((RECORDINGS / f"{SCHEMAS[section]}.json").read_text())["response"]["body"]
    for each in recorded["sections"]:
        each["fields"] = [field for field in each["fields"] if _is_in(BLOCKS[field["variant"]], field["key"])]
    return recorded


def _is_in(block: Any, key: str) -> bool:
    name, _, rest = key.partition(".")
    field = block.model_fields.get(name) if isinstance(block, type) and issubclass(block, BaseModel) else None
    return field is not None and (not rest or _is_in(field.annotation, rest))
