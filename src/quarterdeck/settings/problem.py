"""What is wrong with a value, said in one sentence at its field."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """Whether a problem stops a save."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True)
class Finding:
    """One sentence about one value; it never quotes a secret."""

    words: str
    severity: Severity = Severity.ERROR


@dataclass(frozen=True)
class Problem:
    """A finding at its place: a field of the settings, and in the MCP list the row and its member."""

    key: str
    words: str
    severity: Severity = Severity.ERROR
    row: int | None = None
    member: str = ""

    @property
    def stops(self) -> bool:
        """Whether nothing may be sent while it stands."""
        return self.severity is Severity.ERROR


def error(words: str) -> Finding:
    """A finding that stops a save."""
    return Finding(words)


def warning(words: str) -> Finding:
    """A finding the user should know of and may overrule."""
    return Finding(words, Severity.WARNING)
