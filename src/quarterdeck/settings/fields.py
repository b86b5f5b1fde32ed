"""What a setting is: where it stands, how it is typed and read, and what can be wrong with a value."""

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


@dataclass(frozen=True)
class Problem:
    """One sentence on what is wrong, which never quotes a secret.

    A check knows only the value; whoever asks puts in the place: a field, and in the MCP list the row and its member.
    """

    words: str
    stops: bool = True
    """Whether nothing may be sent while it stands; else the user may overrule it."""
    key: str = ""
    row: int | None = None
    member: str = ""


def error(words: str) -> Problem:
    """A problem that stops a save."""
    return Problem(words)


def warning(words: str) -> Problem:
    """A problem the user should know of and may overrule."""
    return Problem(words, stops=False)


_WHOLE = re.compile(r"[+-]?\d{1,18}")
_NUMBER = re.compile(r"[+-]?(\d{1,15}([.,]\d*)?|[.,]\d+)([eE][+-]?\d{1,2})?")


Check = Callable[[Any], Problem | None]
"""Value (never None) -> what is wrong with it."""


@dataclass(frozen=True)
class Unreadable:
    """What was typed where a number was wanted."""

    text: str


Reader = Callable[[str], Any]
"""Typed text -> value; None when the text is empty, `Unreadable` when it means nothing."""


def as_text(typed: str) -> str | None:
    """Read a line of text without the blanks around it."""
    return typed.strip() or None


def as_whole(typed: str) -> int | Unreadable | None:
    """Read a whole number of at most 18 digits."""
    text = typed.strip().replace("_", "")
    if not text:
        return None
    return int(text) if _WHOLE.fullmatch(text) else Unreadable(typed.strip())


def as_number(typed: str) -> float | Unreadable | None:
    """Read a plain number; a comma counts as the decimal point."""
    text = typed.strip().lstrip("$").strip()
    if not text:
        return None
    if not _NUMBER.fullmatch(text):
        return Unreadable(typed.strip())
    return float(text.replace(",", "."))


def as_json(shape: type[list[Any]] | type[dict[str, Any]]) -> Reader:
    """Make a reader of JSON that has to be a list, or an object; nested too deep for reading it means nothing."""

    def read(typed: str) -> Any:
        if not typed.strip():
            return None
        try:
            value = json.loads(typed)
        except (ValueError, RecursionError):
            return Unreadable(typed.strip())
        return value if isinstance(value, shape) else Unreadable(typed.strip())

    return read


@dataclass(frozen=True)
class Kind:
    """What is typed into a field: the words for it, how it is read, and how it looks."""

    words: str
    read: Reader
    example: str = ""


TEXT = Kind("text", as_text)
WHOLE = Kind("a whole number", as_whole, "3")
NUMBER = Kind("a number", as_number, "0.5")
LIST = Kind("a JSON list", as_json(list), '["a", "b"]')
OBJECT = Kind("a JSON object", as_json(dict), '{"a": 1}')


def typed(value: object) -> str:
    """Write a value as it would be typed; the opposite of the readers."""
    if value is None:
        return ""
    if isinstance(value, Unreadable):
        return value.text
    if isinstance(value, list | tuple | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    if isinstance(value, float):
        return f"{value:.15g}" if math.isfinite(value) else str(value)
    return str(value)


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
    SECRET = "secret"  # noqa: S105 - the name of a control
    SERVERS = "servers"
    READ_ONLY = "read-only"


Choices = Mapping[Any, str]
"""Values of a select, texts or numbers -> words for each, empty for those that explain themselves."""


@dataclass(frozen=True)
class Field:
    """One setting. `checks` judge its value beside what is asked of all values, `choices` are values and the words for
    each, `default` says what a server does when it is not set.

    `key` is the name of a canonical setting, or the dotted place of one that only the server describes.
    """

    key: str
    label: str
    help: str
    control: Control = Control.TEXT
    kind: Kind = TEXT
    group: str = ""
    checks: tuple[Check, ...] = ()
    choices: Choices = field(default_factory=dict)
    only_choices: bool = False
    """Whether a server refuses any other value."""
    default: str = ""
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

    def reads(self, typed: str) -> Any:
        """The value of typed text; nothing typed is what it becomes unset, `Unreadable` what means nothing."""
        value = self.kind.read(typed)
        return self.unset_to if value is None else value
