"""What kind of server it is and what it does with each settings field: plain data, returned by `describe()`."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from quarterdeck.client.redact import invalid


class Generation(StrEnum):
    """The form of a server's settings (SERVERS.md: finding out what answers)."""

    FLAT = "flat"
    NESTED = "nested"
    NONE = "none"


class KeyState(StrEnum):
    """The result of a protected request with the key."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    UNPROVEN = "unproven"


class FieldRules(NamedTuple):
    """What this server does with one settings field."""

    present: bool = True
    """Whether this server has the field."""
    clear_with: str | None = None
    """What clears a stored value: null (None), or this text."""
    clearable: bool = True
    """Whether a stored value can be cleared."""
    in_effect: bool = True
    """Whether conversations of this release use it."""

    def unset(self, name: str) -> str | None:
        """Return what to send to unset the field of that name; raises ServiceError(INVALID) if that is impossible."""
        if not self.clearable:
            raise invalid((name,), "this server cannot unset it.")
        return self.clear_with


class Server(NamedTuple):
    """The server at a connection."""

    generation: Generation
    key: KeyState
    release: str = ""
    """Its release, empty if it does not tell."""
    local: bool = False
    """Whether it is Quarterdeck's own local service, which runs no agent."""
    simulated: bool = False
    """Whether its sandboxes and conversations are simulated."""
    merges: bool = False
    """Whether a store keeps what its body leaves out."""
    fields: Mapping[str, FieldRules] = MappingProxyType({})

    @property
    def nested(self) -> bool:
        """Whether it is of the nested generation (SERVERS.md: the nested record).

        Such a server has profiles and schemas, and later ones can change the value of a custom secret. It returns no
        key, header or environment of MCP servers, and a store replaces all of them.
        """
        return self.generation is Generation.NESTED

    def rules(self, name: str) -> FieldRules:
        """Return the rules of one field; the default ones if the server has none for it."""
        return self.fields.get(name, FieldRules())
