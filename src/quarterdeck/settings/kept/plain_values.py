"""Values of fields as JSON data without secrets, for notes and files."""

from typing import Any

from quarterdeck.settings import masks
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.fields import Control, Field, Unreadable, typed
from quarterdeck.settings.mcp_secrets import holds_hidden

_SWITCHES = (Control.SWITCH, Control.THREE_WAY)


def plain(key: str, value: Any) -> Any:
    """A field's value with a mask in place of what may be secret in it; text that means nothing may be one whole."""
    return masks.MASK if isinstance(value, Unreadable) else masks.document(value, key)


def hides(value: Any) -> bool:
    """Whether something was left out of what `plain` made, so that the value cannot be had back from it."""
    return holds_hidden(value)


def holds(draft: Draft, key: str, told: Any) -> bool:
    """Whether the record below a draft holds what `plain` told; servers treat empty text as not set."""
    held = plain(key, draft.was(key))
    return _same(None if held == "" else held, None if told == "" else told)


def fits(entry: Field, value: Any) -> bool:
    """Whether a value is of the kind that a setting takes: some servers store any, and break by it (contract T3)."""
    if value is None:
        return entry.can_unset
    if isinstance(value, bool) or entry.control in _SWITCHES:
        return isinstance(value, bool) and entry.control in _SWITCHES
    read = entry.reads(typed(value))
    return not isinstance(read, Unreadable) and isinstance(read, str) is isinstance(value, str)


def label_of(draft: Draft, key: str) -> str:
    """The label of a setting; of one that this server does not know its key."""
    return draft.field_at(key).label if key in draft.fields.by_key else key


def _same(one: Any, other: Any) -> bool:
    """Equality that knows true from 1."""
    return one == other and isinstance(one, bool) is isinstance(other, bool)
