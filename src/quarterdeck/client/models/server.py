"""What a server is and what it does with each settings field: pure data, filled by `describe()`."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple


class Generation(StrEnum):
    """How a server's settings are shaped (SERVERS.md: finding out what answers)."""

    FLAT = "flat"
    NESTED = "nested"
    NONE = "none"


class KeyState(StrEnum):
    """What a protected call said of the key."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    UNPROVEN = "unproven"


class FieldRules(NamedTuple):
    """What this server does with one settings field."""

    present: bool = True
    """This server has the field at all."""
    clear_with: str | None = None
    """What takes a stored value away: null (None), or this text."""
    clearable: bool = True
    """Whether a stored value can be taken away at all."""
    in_effect: bool = True
    """Whether conversations of this release use it."""


class Server(NamedTuple):
    """What answers at a connection."""

    generation: Generation
    key: KeyState
    release: str | None = None
    local: bool = False
    """Whether it is Quarterdeck's own local service, which runs no agent."""
    simulated: bool = False
    """Whether its sandboxes and conversations are pretended, for trying."""
    merges: bool = False
    """Whether a store keeps what its body leaves out."""
    fields: Mapping[str, FieldRules] = MappingProxyType({})

    @property
    def nested(self) -> bool:
        """Whether it is of the nested generation (SERVERS.md: settings, nested).

        That one keeps profiles, describes its settings as forms, changes the value of a custom secret in place, tells
        no key, header and environment of MCP servers, and replaces them all when they are stored.
        """
        return self.generation is Generation.NESTED

    def rules(self, name: str) -> FieldRules:
        """The rules of one field; a field nobody said anything of is an ordinary one."""
        return self.fields.get(name, FieldRules())
