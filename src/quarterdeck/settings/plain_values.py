"""Values of fields and MCP servers as JSON data without secrets, for state files and exports."""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import PlainSerializer, PlainValidator

from quarterdeck.client.models.mcp import McpServer, ShttpServer, SseServer, StdioServer
from quarterdeck.settings import masks
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.fields import Control, Field, Unreadable, typed
from quarterdeck.settings.mcp import Servers
from quarterdeck.settings.mcp_server import as_data, from_data, holds_hidden

_SWITCHES = (Control.SWITCH, Control.THREE_WAY)


def _server(value: Any) -> McpServer:
    server = value if isinstance(value, SseServer | ShttpServer | StdioServer) else from_data(value)
    if server is None:
        raise ValueError("this is no MCP server")
    return server


KeptServer = Annotated[McpServer, PlainValidator(_server), PlainSerializer(as_data)]
"""An MCP server in a state file, with the secrets that are in it: whoever keeps one masks them first (`bare`)."""


@dataclass(frozen=True)
class Rows:
    """An MCP list with kept rows on it; of some the secrets are left out, others were changed since on the server."""

    servers: Servers
    left_out: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()


def plain(key: str, value: Any) -> Any:
    """A field's value with a mask in place of what may be secret in it; text that means nothing may be one whole."""
    return masks.MASK if isinstance(value, Unreadable) else masks.document(value, key)


def hides(value: Any) -> bool:
    """Whether something was left out of what `plain` made, so that the value cannot be had back from it."""
    return holds_hidden(value)


def holds(draft: Draft, key: str, told: Any) -> bool:
    """Whether the record below a draft holds what `plain` told; servers treat empty text as not set."""
    held = plain(key, draft.was(key))
    held, told = (None if value == "" else value for value in (held, told))
    return bool(held == told) and isinstance(held, bool) is isinstance(told, bool)


def fits(entry: Field, value: Any) -> bool:
    """Whether a value is of the kind that a setting takes: some servers store any, and break by it."""
    if value is None:
        return entry.can_unset
    if isinstance(value, bool) or entry.control in _SWITCHES:
        return isinstance(value, bool) and entry.control in _SWITCHES
    read = entry.reads(typed(value))
    return not isinstance(read, Unreadable) and isinstance(read, str) is isinstance(value, str)


def label_of(draft: Draft, key: str) -> str:
    """The label of a setting; of one that this server does not know its key."""
    return draft.field_at(key).label if key in draft.fields.by_key else key
