"""The program's own file: what is remembered from one run to the next."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from quarterdeck.config import files
from quarterdeck.config.files import ConfigError


@dataclass(frozen=True)
class Preferences:
    """What a person chose last."""

    last_connection: str | None = None
    theme: str | None = None


def read(path: Path, problems: list[str]) -> Preferences:
    """The preferences; what cannot be used becomes a sentence in `problems`."""
    try:
        table = files.read_toml(path)
    except ConfigError as error:
        problems.append(f"{error}; defaults are used")
        return Preferences()
    return Preferences(_text(table, "last_connection", path, problems), _text(table, "theme", path, problems))


def _text(table: Mapping[str, object], name: str, path: Path, problems: list[str]) -> str | None:
    value = table.get(name)
    if value is None or isinstance(value, str):
        return value
    problems.append(f"{path}: {name} must be text; it is left out")
    return None
