"""What a setting is: its group, how it is typed and parsed, and what can be wrong with a value."""

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pydantic import SecretStr, TypeAdapter


@dataclass(frozen=True)
class Problem:
    """One sentence about what is wrong, which never contains a secret.

    A check knows only the value; the caller adds the place: a field, and in the MCP list the row and its member.
    """

    words: str
    stops: bool = True
    """Whether it prevents a save; otherwise the user may ignore it."""
    key: str = ""
    row: int | None = None
    member: str = ""


def error(words: str) -> Problem:
    """Return a problem that prevents a save."""
    return Problem(words)


def warning(words: str) -> Problem:
    """Return a problem that the user should know of and may ignore."""
    return Problem(words, stops=False)


_WHOLE = re.compile(r"[+-]?\d{1,18}")
_NUMBER = re.compile(r"[+-]?(\d{1,15}([.,]\d*)?|[.,]\d+)([eE][+-]?\d{1,2})?")


Check = Callable[[Any], Problem | None]
"""Returns what is wrong with a value, which is never None."""


@dataclass(frozen=True)
class Unreadable:
    """Text that was typed where a number, list or object is needed."""

    text: str


def as_whole(text: str) -> int:
    """Parse an integer of at most 18 digits; raises ValueError."""
    digits = text.replace("_", "")
    if not _WHOLE.fullmatch(digits):
        raise ValueError("not a whole number")
    return int(digits)


def as_number(text: str) -> float:
    """Parse a plain number; a comma counts as the decimal point; raises ValueError."""
    digits = text.lstrip("$").lstrip()
    if not _NUMBER.fullmatch(digits):
        raise ValueError("not a number")
    return float(digits.replace(",", "."))


class Control(StrEnum):
    """How a field is edited."""

    TEXT = "text"
    SELECT = "select"
    SWITCH = "switch"
    SECRET = "secret"  # noqa: S105 - the name of a control
    SERVERS = "servers"
    READ_ONLY = "read-only"


@dataclass(frozen=True)
class Kind:
    """What is typed into a field: its name in words, its reader, an example, and how it is edited."""

    words: str
    read: Callable[[str], Any] = str
    """Parses text that is not empty; raises ValueError for an invalid one."""
    example: str = ""
    """Empty if the words say enough."""
    control: Control = Control.TEXT

    def value(self, typed: str) -> Any:
        """Return the value of typed text: None for an empty one, `Unreadable` for an invalid one."""
        text = typed.strip()
        try:
            return self.read(text) if text else None
        except ValueError:
            return Unreadable(text)


TEXT = Kind("text")
WHOLE = Kind("a whole number", as_whole, "3")
NUMBER = Kind("a number", as_number, "0.5")
ON_OFF = Kind("on or off", TypeAdapter(bool).validate_python, control=Control.SWITCH)
LIST = Kind("a JSON list", TypeAdapter(list[Any]).validate_json, '["a", "b"]')
OBJECT = Kind("a JSON object", TypeAdapter(dict[str, Any]).validate_json, '{"a": 1}')
SECRET = Kind("a secret", SecretStr, control=Control.SECRET)
SERVERS = Kind("three lists of servers, as JSON", control=Control.SERVERS)
READ_ONLY = Kind("read-only", control=Control.READ_ONLY)


def typed(value: object) -> str:
    """Return a value as it would be typed; the inverse of the readers."""
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
    """A section of the form, in reading order; the value is its title. Servers may describe more sections."""

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


Choices = Mapping[Any, str]
"""The words for each value of a select, empty for values that explain themselves."""


@dataclass(frozen=True)
class Field:
    """One setting.

    `checks` are its own checks in addition to those of all values, `choices` are values with their words, and `default`
    says what a server does if it is not set. `key` is the name of a canonical setting, or the dotted place of one that
    only the server describes.
    """

    key: str
    label: str
    help: str
    kind: Kind = TEXT
    group: str = ""
    checks: tuple[Check, ...] = ()
    choices: Choices = field(default_factory=dict)
    only_choices: bool = False
    """Whether a server refuses any other value."""
    default: str = ""
    nullable: bool = True
    extra: bool = False
    """Not in the documented record: shown only if a server's record has it."""
    minor: bool = False
    """Shown only if it is searched for, edited, or different from the server's default."""
    unset_to: Any = None
    """Its value after unsetting: None if that is possible, else the server's default."""
    needs: tuple[str, ...] = ()
    """Keys of settings that must be on for it to have an effect."""
    absent: str = ""
    """A sentence that says why this server lacks it; such a setting is shown, but cannot be edited."""

    @property
    def control(self) -> Control:
        """How it is edited: as its kind is, but with choices one is chosen; a list may have several of them."""
        chosen = self.choices and self.kind.control is Control.TEXT and self.kind is not LIST
        return Control.SELECT if chosen else self.kind.control

    @property
    def secret(self) -> bool:
        """Whether the server never returns its value."""
        return self.control is Control.SECRET

    @property
    def described(self) -> bool:
        """Whether it exists only in the server's own description."""
        return "." in self.key

    @property
    def can_unset(self) -> bool:
        """Whether it can be unset, or reset to the server's default."""
        return self.nullable or self.unset_to is not None

    def parse(self, typed: str) -> Any:
        """Return the value of typed text; an empty text means the unset value, an invalid one `Unreadable`."""
        value = self.kind.value(typed)
        return self.unset_to if value is None else value
