"""What a settings field is to the form: where it stands, how it is edited and what it means."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from quarterdeck.settings.fields import checks
from quarterdeck.settings.fields.checks import Check
from quarterdeck.settings.fields.reading import Reader, as_text


class Group(StrEnum):
    """A section of the form, in reading order; the value is its title. Servers may describe more of them."""

    LLM = "LLM"
    PROFILES = "LLM profiles"
    AGENT = "Agent"
    SANDBOX = "Sandbox"
    MCP = "MCP servers"
    GIT = "Git"
    TOKENS = "Git tokens"
    SECRETS = "Secrets"
    INTERFACE = "Interface"
    PRIVACY = "Privacy"
    OTHER = "Other"


class Control(StrEnum):
    """How a field is edited."""

    TEXT = "text"
    SELECT = "select"
    SWITCH = "switch"
    THREE_WAY = "three-way"
    SECRET = "secret"  # noqa: S105 - the name of a control
    SERVERS = "servers"
    READ_ONLY = "read-only"


@dataclass(frozen=True)
class Choice:
    """One value of a select and the words for it."""

    value: str | int
    words: str


@dataclass(frozen=True)
class Field:
    """One setting. `reads` turns typed text into its value, `checks` judge that value (never None), `default` says what
    a server does when it is not set, `effect` who uses it where conversations do not.

    `key` is the name of a canonical setting, or the dotted place of one that only the server describes.
    """

    key: str
    label: str
    group: str
    help: str
    control: Control = Control.TEXT
    reads: Reader = as_text
    checks: tuple[Check, ...] = (checks.plain,)
    choices: tuple[Choice, ...] = ()
    default: str = ""
    effect: str = ""
    nullable: bool = True
    extra: bool = False
    """Outside the documented record: shown only where a server's record has it."""
    minor: bool = False
    """Shown only when it is looked for, edited, or other than the server's default."""
    unset_to: Any = None
    """What it becomes when it is unset: None where that is possible, else the server's default."""
    needs: tuple[str, ...] = ()
    """Keys of the settings that have to be on for it to matter."""
    absent: str = ""
    """Why this server does not have it: a sentence; such a setting is shown, and not edited."""

    @property
    def secret(self) -> bool:
        """Whether the server never tells its value."""
        return self.control is Control.SECRET

    @property
    def described(self) -> bool:
        """Whether only the server's own description of its settings tells of it."""
        return "." in self.key

    @property
    def can_unset(self) -> bool:
        """Whether it can be made not set, or set back to the server's default."""
        return self.nullable or self.unset_to is not None
