"""What is read before the first frame: where things are kept, the connections, and a few preferences.

`connections.toml` belongs to the person who writes it (`connections.py` says how). `preferences.toml` is the program's
own (last connection, theme). A file that cannot be read is named, defaults take its place, and it is never
overwritten. Nothing here needs more than the standard library.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from quarterdeck.config import connections, toml_file
from quarterdeck.config.connections import Connection
from quarterdeck.config.toml_file import ConfigError

NO_CONNECTIONS: Mapping[str, Connection] = {}


class Folders(NamedTuple):
    """Where things are kept (XDG base directories)."""

    config: Path
    data: Path
    state: Path

    @property
    def connections(self) -> Path:
        """The file of connections."""
        return self.config / "connections.toml"

    @property
    def keys(self) -> Path:
        """The file of keys, for who has no system keyring."""
        return self.config / "keys.toml"

    @property
    def preferences(self) -> Path:
        """The file of preferences."""
        return self.config / "preferences.toml"

    @property
    def notebook(self) -> Path:
        """The folder of what is noted down from one run to the next."""
        return self.state / "notebook"


class Preferences(NamedTuple):
    """What is remembered from one time to the next."""

    last_connection: str | None = None
    theme: str | None = None


class Config(NamedTuple):
    """Everything read before the first frame; `problems` are sentences about what could not be used."""

    folders: Folders
    connections: Mapping[str, Connection] = NO_CONNECTIONS
    preferences: Preferences = Preferences()
    problems: tuple[str, ...] = ()


def folders(environ: Mapping[str, str]) -> Folders:
    """Find the folders; a variable that is unset, empty or relative means its default, as the XDG rules say."""

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
    """Read both files; never raises: what cannot be used becomes a sentence in `problems`."""
    places = folders(environ)
    problems: list[str] = []
    known = load_connections(places, problems)
    remembered = _table(places.preferences, problems)
    preferences = Preferences(
        _text(remembered, "last_connection", places.preferences, problems),
        _text(remembered, "theme", places.preferences, problems),
    )
    return Config(places, known, preferences, tuple(problems))


def load_connections(places: Folders, problems: list[str]) -> Mapping[str, Connection]:
    """Read the connections; what cannot be used becomes a sentence in `problems`."""
    return connections.read(places.connections, _table(places.connections, problems), problems)


def remember(path: Path, *, last_connection: str | None = None, theme: str | None = None) -> None:
    """Change what is given in the preferences file and leave the rest of it as it is.

    Raises ConfigError when the file cannot be read as TOML (it is left alone) or cannot be written.
    """
    from quarterdeck.config.toml_lines import with_members

    values = {"last_connection": last_connection, "theme": theme}
    given = {name: value for name, value in values.items() if value is not None}

    def edit(says: dict[str, Any], text: str) -> str:
        says |= given
        return with_members(text, (), given)

    toml_file.change(path, edit)


def _table(path: Path, problems: list[str]) -> Mapping[str, object]:
    try:
        return toml_file.read(path)
    except ConfigError as error:
        problems.append(f"{error}; defaults are used")
        return {}


def _text(table: Mapping[str, object], name: str, path: Path, problems: list[str]) -> str | None:
    value = table.get(name)
    if value is None or isinstance(value, str):
        return value
    problems.append(f"{path}: {name} must be text; it is left out")
    return None
