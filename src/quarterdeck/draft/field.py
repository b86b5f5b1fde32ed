"""What a settings field is to the form: where it stands, how it is edited and what it means."""

from dataclasses import dataclass
from enum import StrEnum

from quarterdeck.draft import checks
from quarterdeck.draft.checks import Check
from quarterdeck.draft.reading import Reader, as_text


class Group(StrEnum):
    """A section of the form, in reading order; the value is its title."""

    LLM = "LLM"
    AGENT = "Agent"
    SANDBOX = "Sandbox"
    MCP = "MCP servers"
    GIT = "Git"
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
    a server does when it is not set, `effect` who uses it where conversations do not."""

    key: str
    label: str
    group: Group
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

    @property
    def secret(self) -> bool:
        """Whether the server never tells its value."""
        return self.control is Control.SECRET
