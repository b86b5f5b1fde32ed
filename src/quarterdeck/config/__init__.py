"""Connections and preferences: two small files, read without trusting them and written whole or not at all.

`connections.toml` belongs to the person who writes it and says where a key is, never what it is:

    [connections.work]
    url = "https://agents.example.org"
    header = "session"         # or "bearer"
    key_env = "WORK_KEY"       # name of the environment variable that holds the key
    read_only = false

`preferences.toml` is the program's own (last connection, theme). A file that cannot be read is named, defaults take its
place, and it is never overwritten. Nothing here needs more than the standard library.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from quarterdeck import files
from quarterdeck.service.endpoint import Endpoint, KeyHeader

LOCAL = Endpoint("local service")
"""The embedded local service."""

LOCAL_NAME = "local"
"""What the local service is called where a connection is named; no connection may take it."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADERS = {"session": KeyHeader.SESSION, "bearer": KeyHeader.BEARER}
_MEMBERS = ("url", "header", "key_env", "read_only")
_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)


class ConfigError(Exception):
    """Something in the configuration is wrong; the text says what and where, and holds no secret."""


@dataclass(frozen=True)
class Folders:
    """Where things are kept (XDG base directories)."""

    config: Path
    data: Path
    state: Path

    @property
    def connections(self) -> Path:
        """The file of connections."""
        return self.config / "connections.toml"

    @property
    def preferences(self) -> Path:
        """The file of preferences."""
        return self.config / "preferences.toml"


@dataclass(frozen=True)
class Connection:
    """A server with a name; `key_env` names the environment variable that holds its key."""

    endpoint: Endpoint
    key_env: str | None = None


@dataclass(frozen=True)
class Preferences:
    """What is remembered from one time to the next."""

    last_connection: str | None = None
    theme: str | None = None


@dataclass(frozen=True)
class Config:
    """Everything read before the first frame; `problems` are sentences about what could not be used."""

    folders: Folders
    connections: Mapping[str, Connection] = field(default_factory=dict)
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
    connections = _connections(_table(places.connections, problems), places.connections, problems)
    remembered = _table(places.preferences, problems)
    preferences = Preferences(
        _text(remembered, "last_connection", places.preferences, problems),
        _text(remembered, "theme", places.preferences, problems),
    )
    return Config(places, connections, preferences, tuple(problems))


def check_url(text: str) -> str:
    """Return a server's address without a trailing slash; raises ConfigError that says what is wrong with it."""
    address = text.strip()
    if not address.isprintable() or " " in address or "\\" in address:
        raise ConfigError("the address has a blank or an invisible character in it")
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ConfigError("the address is not a URL: write it like http://127.0.0.1:3000") from None
    if parts.scheme not in ("http", "https") or not host:
        raise ConfigError("the address needs http:// or https:// and a host, like http://127.0.0.1:3000")
    if "@" in parts.netloc:
        raise ConfigError("the address holds a user name or password: leave it out, a key comes from the environment")
    if parts.query or parts.fragment:
        raise ConfigError("the address ends in a query or fragment: leave out everything from ? or # on")
    return address.rstrip("/")


def remember(path: Path, *, last_connection: str | None = None, theme: str | None = None) -> None:
    """Change what is given in the preferences file and leave the rest of it as it is.

    Raises ConfigError when the file cannot be read as TOML (it is left alone) or cannot be written.
    """
    try:
        old = files.read(path) or ""
    except files.UnusableFileError as error:
        raise ConfigError(f"{error}; nothing was written") from error
    changes = {"last_connection": last_connection, "theme": theme}
    new = _with_lines(old, {name: value for name, value in changes.items() if value is not None})
    if new is None:
        raise ConfigError(f"{path} is not laid out in a way this program can change; nothing was written")
    if new == old:
        return
    try:
        files.write(path, new)
    except OSError as error:
        raise ConfigError(f"{path} could not be written: {error.strerror}") from error


def _table(path: Path, problems: list[str]) -> Mapping[str, object]:
    try:
        text = files.read(path)
    except files.UnusableFileError as error:
        problems.append(f"{error}; defaults are used")
        return {}
    if not text:
        return {}
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        problems.append(f"{path} is not TOML: {error}; defaults are used")
    except (ValueError, RecursionError):
        problems.append(f"{path} is not TOML a person would write; defaults are used")
    return {}


def _connections(table: Mapping[str, object], path: Path, problems: list[str]) -> Mapping[str, Connection]:
    entries = table.get("connections", {})
    if not isinstance(entries, dict):
        problems.append(f"{path}: connections are written as tables, like [connections.work]")
        return {}
    found: dict[str, Connection] = {}
    for name, entry in entries.items():
        try:
            found[name] = _connection(name, entry)
        except ConfigError as error:
            problems.append(f"{path}, connection {name!a}: {error}; it is left out")
    return found


def _connection(name: str, entry: object) -> Connection:
    """One connection from its table; raises ConfigError."""
    if not _NAME.fullmatch(name) or name == LOCAL_NAME:
        raise ConfigError(f"a name has letters, digits, dots and dashes, and is not {LOCAL_NAME!r}")
    if not isinstance(entry, dict):
        raise ConfigError("it must be a table with a url")
    for member in entry:
        if member not in _MEMBERS:
            raise ConfigError(f"{member!a} is not known; known are {', '.join(_MEMBERS)}")
    url, header, key_env = entry.get("url"), entry.get("header", "session"), entry.get("key_env")
    read_only = entry.get("read_only", False)
    if not isinstance(url, str):
        raise ConfigError("url is missing or not text")
    if not isinstance(header, str) or header not in _HEADERS:
        raise ConfigError('header is "session" or "bearer"')
    if key_env is not None and not (isinstance(key_env, str) and _VARIABLE.fullmatch(key_env)):
        raise ConfigError("key_env is the name of an environment variable, not the key")
    if not isinstance(read_only, bool):
        raise ConfigError("read_only is true or false")
    return Connection(Endpoint(name, check_url(url), _HEADERS[header], read_only), key_env)


def _text(table: Mapping[str, object], name: str, path: Path, problems: list[str]) -> str | None:
    value = table.get(name)
    if value is None or isinstance(value, str):
        return value
    problems.append(f"{path}: {name} must be text; it is left out")
    return None


def _with_lines(text: str, values: Mapping[str, str]) -> str | None:
    """TOML text with top-level names set and every other line as it was; None when it could not be done for certain."""
    import tomllib

    try:
        wanted = {**tomllib.loads(text), **values}
        for name, value in values.items():
            text = _with_line(text, name, value)
        return text if tomllib.loads(text) == wanted else None
    except (ValueError, RecursionError):
        return None


def _with_line(text: str, name: str, value: str) -> str:
    """The text with the line of one name before the first table replaced, or added on top."""
    import json

    first_table = _TABLE.search(text)
    end = first_table.start() if first_table else len(text)
    line = f"{name} = {json.dumps(value)}"
    head, count = re.subn(rf"(?m)^[ \t]*{name}[ \t]*=.*$", lambda _: line, text[:end], count=1)
    return (head if count else f"{line}\n{head}") + text[end:]
