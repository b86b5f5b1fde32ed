"""What is read before the first frame: folders, connections and preferences.

A file that cannot be read is reported and replaced by defaults, and never overwritten.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from quarterdeck.config import connections, files
from quarterdeck.config.connections import Connection
from quarterdeck.config.files import ConfigError


@dataclass(frozen=True)
class Folders:
    """The folders for files (XDG base directories)."""

    config: Path
    data: Path
    state: Path

    @property
    def connections(self) -> Path:
        """The file of connections."""
        return self.config / "connections.toml"

    @property
    def keys(self) -> Path:
        """The file of keys, used without a system keyring."""
        return self.config / "keys.toml"

    @property
    def preferences(self) -> Path:
        """The file of preferences."""
        return self.config / "preferences.toml"

    @property
    def kept(self) -> Path:
        """The folder of the state files."""
        return self.state / "state"

    @property
    def unusable(self) -> list[str]:
        """A sentence about each folder that cannot be written or created; the local service says so of its own."""
        return [f"{path} cannot be written" for path in (self.config, self.state) if not _writable(path)]

    @property
    def left_behind(self) -> list[str]:
        """A sentence about each folder with state files of an older format, and each damaged state file."""
        folders = (self.state / "notebook", self.kept / "watched", self.kept / "message-drafts")
        left = "it is not read, and left as it is"
        old = (folder for folder in folders if _below(folder, "*.json"))
        return [
            *(f"{folder}: what an earlier Quarterdeck kept between runs; {left}" for folder in old),
            *(f"{file}: a damaged state file; {left}" for file in _below(self.kept, "*.damaged")),
        ]


def _writable(path: Path) -> bool:
    """Whether a folder can be written, or created if it does not exist."""
    there = next(each for each in (path, *path.parents) if os.access(each, os.F_OK))
    return there.is_dir() and os.access(there, os.R_OK | os.W_OK | os.X_OK)


def _below(folder: Path, pattern: str) -> list[Path]:
    """Return the files below a folder; none where it may not be looked into, which `rglob` would raise."""
    return list(folder.rglob(pattern)) if os.access(folder, os.R_OK | os.X_OK) else []


@dataclass(frozen=True)
class Preferences:
    """The last choices of a person."""

    last_connection: str | None = None
    theme: str | None = None


def read_preferences(path: Path, problems: list[str]) -> Preferences:
    """Return the preferences; for each that cannot be used, a sentence is added to `problems`."""
    try:
        table = files.read_toml(path)
    except ConfigError as error:
        problems.append(f"{error}; defaults are used")
        return Preferences()
    known = {name: table[name] for name in ("last_connection", "theme") if name in table}
    texts = {name: value for name, value in known.items() if isinstance(value, str)}
    problems += [f"{path}: {name} must be text; it is left out" for name in known if name not in texts]
    return Preferences(**texts)


@dataclass(frozen=True)
class Config:
    """Everything read before the first frame; `problems` are sentences about what could not be used."""

    folders: Folders
    connections: Mapping[str, Connection]
    left_out: Mapping[str, str]
    """Why connections of the file cannot be used, by name; by "" if that is about all of them."""
    preferences: Preferences
    problems: tuple[str, ...]


def find_folders(environ: Mapping[str, str]) -> Folders:
    """Return the folders; a variable that is unset, empty or relative means its default, as XDG specifies."""

    def under(variable: str, default: str) -> Path:
        chosen = Path(environ.get(variable, ""))
        base = chosen if chosen.is_absolute() else Path(environ.get("HOME") or Path.home()) / default
        return base / "quarterdeck"

    return Folders(
        config=under("XDG_CONFIG_HOME", ".config"),
        data=under("XDG_DATA_HOME", ".local/share"),
        state=under("XDG_STATE_HOME", ".local/state"),
    )


def load(environ: Mapping[str, str]) -> Config:
    """Read both files; never raises: for what cannot be used, a sentence is added to `problems`."""
    folders = find_folders(environ)
    problems: list[str] = []
    known, left_out = connections.read(folders.connections, problems, problems)
    return Config(folders, known, left_out, read_preferences(folders.preferences, problems), tuple(problems))
