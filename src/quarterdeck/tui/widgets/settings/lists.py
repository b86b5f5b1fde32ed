"""What stands beside the settings record: custom secrets and LLM profiles as last read, and tries of MCP servers."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from quarterdeck.client.models.mcp import McpServer
from quarterdeck.client.models.settings import CustomSecret, Profile, Profiles
from quarterdeck.settings.fields import Group
from quarterdeck.settings.mcp import Entry
from quarterdeck.tui.cells import Tone

MOST_PROFILES = 10
"""A server refuses more (contract c.2 "LLM profiles")."""


@dataclass(frozen=True)
class Tried:
    """What came of checking an MCP server as it was then, in a word or two."""

    server: McpServer
    brief: str
    tone: Tone


@dataclass(frozen=True)
class Lists:
    """None stands for what is not read yet; `trouble` says of a group why it is not to be had."""

    secrets: tuple[CustomSecret, ...] | None = None
    profiles: Profiles | None = None
    trouble: Mapping[Group, str] = field(default_factory=dict)
    checks: Mapping[int, Tried] = field(default_factory=dict)
    """Row of an MCP server -> its last check in this run."""

    def tried(self, entry: Entry) -> Tried | None:
        """The check of a server, while the server is as it was then."""
        tried = self.checks.get(entry.row) if self.checks else None
        return tried if tried is not None and tried.server == entry.server else None

    def secret(self, name: str) -> CustomSecret | None:
        """The secret of a name."""
        return next((secret for secret in self.secrets or () if secret.name == name), None)

    def profile(self, name: str) -> Profile | None:
        """The profile of a name."""
        items = self.profiles.items if self.profiles is not None else ()
        return next((profile for profile in items if profile.name == name), None)

    @property
    def is_full(self) -> bool:
        """Whether there can be no more profiles."""
        return self.profiles is not None and len(self.profiles.items) >= MOST_PROFILES


NOTHING_READ = Lists()
