"""The file of connections, written by hand or from the deck: it says where a key is, never what it is.

[connections.work]
url = "https://agents.example.org"
header = "session"         # or "bearer"
key_env = "WORK_KEY"       # name of the environment variable that holds the key
read_only = false
ca_file = "~/team-ca.pem"  # certificates to trust at this address, and no others
colour = "red"             # red, orange, green, teal, blue, violet or grey
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from quarterdeck.config import files
from quarterdeck.config.files import ConfigError

Header = Literal["session", "bearer"]
"""How a key is sent: as X-Session-API-Key, or as Authorization: Bearer."""
Colour = Literal["red", "orange", "green", "teal", "blue", "violet", "grey"]
"""A colour that distinguishes a connection at a glance; it is always shown with the name."""
COLOURS: tuple[Colour, ...] = get_args(Colour)


@dataclass(frozen=True)
class Connection:
    """A server with a name, without its key; `url` is None for the embedded local service."""

    name: str
    url: str | None = None
    header: Header = "session"
    read_only: bool = False
    ca_file: str | None = None
    """A PEM file with the only certificates to trust at an https:// address; None means the system's."""
    colour: Colour | None = None
    key_env: str | None = None
    """The name of the environment variable that holds the key."""
    kept: bool = False
    """Whether it is in the file, so that a key may be stored for it."""
    remarks: tuple[str, ...] = field(default=(), compare=False)
    """A sentence about each member of its table that could not be used."""

    @property
    def embedded(self) -> bool:
        """Whether this is the embedded local service."""
        return self.url is None

    @property
    def place(self) -> tuple[str, str | None]:
        """Name and address, which identify it whatever its other options are."""
        return self.name, self.url

    @property
    def about(self) -> str:
        """The name under which state is kept between runs: the address, whatever the connection is called."""
        return self.url or self.name


LOCAL = Connection("local service")
"""The embedded local service."""

LOCAL_NAME = "local"
"""The name of the local service on the command line and in the preferences; no connection may use it."""

TABLE = "connections"
_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
_VARIABLE = r"[A-Za-z_][A-Za-z0-9_]*"
_MEMBERS = ("url", "header", "key_env", "read_only", "ca_file", "colour")


def read(path: Path, problems: list[str], remarks: list[str]) -> tuple[Mapping[str, Connection], Mapping[str, str]]:
    """Return the connections in the file, and by name why others cannot be used (by "" if that is about all).

    For whatever is wrong, a sentence is added to `problems`, or to `remarks` if a connection is used without it.
    """
    try:
        text = files.read(path) or ""
        entries, others = _entries(path, text)
    except ConfigError as error:
        problems.append(f"{error}; defaults are used")
        return {}, {"": str(error)}
    known = f"known are tables like [{TABLE}.work]"
    problems += [f"{path}: {name!r} is not known; {known}; the rest is used" for name in others]
    found: dict[str, Connection] = {}
    left_out: dict[str, str] = {}
    for name, entry in entries.items():
        where = f"{path}{_place(text, name)}, connection {name!r}"
        try:
            found[name] = _connection(name, entry)
            remarks += (f"{where}: {words}" for words in found[name].remarks)
        except ConfigError as error:
            left_out[name] = str(error)
            problems.append(f"{where}: {error}; it is left out")
    return found, left_out


def _entries(path: Path, text: str) -> tuple[Mapping[str, Any], Iterable[str]]:
    """Return the tables of the connections by name, and what else the file names; raises ConfigError."""
    content = files.parsed_toml(path, text)
    entries = content.pop(TABLE, {})
    if not isinstance(entries, dict):
        raise ConfigError(f"{path}: connections are written as tables, like [{TABLE}.work]")
    return entries, content


def check(connection: Connection) -> None:
    """Raise ConfigError if a connection cannot be written, with the reason."""
    if remarks := _connection(connection.name, members(connection)).remarks:
        raise ConfigError(remarks[0])


def members(connection: Connection) -> dict[str, str | bool]:
    """Return the members of a connection's table, without those that have their default value."""
    usual = Connection(connection.name)
    return {name: value for name in _MEMBERS if (value := getattr(connection, name)) != getattr(usual, name)}


def changes(old: Connection | None, new: Connection) -> dict[str, str | bool | None]:
    """Return the members of a table that differ from those of an old connection, None for those to be removed."""
    before, after = {} if old is None else members(old), members(new)
    return {member: after.get(member) for member in _MEMBERS if after.get(member) != before.get(member)}


def check_url(text: str) -> str:
    """Return a server's address without a trailing slash; raises ConfigError if it is invalid, with the reason."""
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
        raise ConfigError("the address holds a user name or password: leave it out, the key is kept elsewhere")
    if parts.query or parts.fragment:
        raise ConfigError("the address ends in a query or fragment: leave out everything from ? or # on")
    return address.rstrip("/")


def check_name(name: str) -> None:
    """Raise ConfigError if a connection cannot have this name."""
    if name == LOCAL_NAME or not re.fullmatch(_NAME, name):
        raise ConfigError(f"a name is 1 to 64 of A-Z, a-z, 0-9, . _ - (these three not first), not {LOCAL_NAME!r}")


def check_member(member: str, value: object) -> None:
    """Raise ConfigError if a member of a connection's table is wrong, with the reason."""
    words = value if isinstance(value, str) else ""
    match member:
        case "url" if not isinstance(value, str):
            raise ConfigError("url is missing or not text")
        case "url":
            check_url(words)
        case "header" if words not in ("session", "bearer"):
            raise ConfigError('header is "session" or "bearer"')
        case "key_env" if not re.fullmatch(_VARIABLE, words):
            raise ConfigError("key_env is the name of an environment variable, not the key")
        case "read_only" if not isinstance(value, bool):
            raise ConfigError("read_only is true or false")
        case "ca_file" if not words.isprintable() or words[:1] not in ("/", "~"):
            raise ConfigError("ca_file is the whole path of a file, like /etc/ssl/team.pem or ~/team.pem")
        case "colour" if words not in COLOURS:
            raise ConfigError(f"colour is one of {', '.join(COLOURS)}")
        case _ if member not in _MEMBERS:
            raise ConfigError(f"{member!r} is not known; known are {', '.join(_MEMBERS)}")


def _connection(name: str, entry: object) -> Connection:
    """Return a connection from its table without its wrong members, and remarks about each of those.

    What protects is never dropped, even if misspelt: a wrong read_only means true, and without its address or the
    certificates that were meant a connection cannot be used (ConfigError).
    """
    check_name(name)
    if not isinstance(entry, dict):
        raise ConfigError("it must be a table with a url")
    good: dict[str, Any] = {}
    wrong: list[str] = []
    for member, value in {"url": None, **entry}.items():
        try:
            check_member(member, value)
        except ConfigError as error:
            meant = re.sub("[^a-z]", "", member.casefold())
            if meant in ("url", "cafile"):
                raise
            if meant == "readonly":
                good["read_only"] = True
            wrong.append(f"{error}; {'it is opened read-only' if meant == 'readonly' else 'the rest is used'}")
        else:
            good.setdefault(member, value)
    good["url"] = check_url(good["url"])
    return Connection(name, **good, kept=True, remarks=tuple(wrong))


def _place(text: str, name: str) -> str:
    """Return the line number of the header of a connection's table, as words; empty if it has no header."""
    for number, line in enumerate(text.splitlines(), 1):
        try:
            if line.lstrip().startswith("[") and tomllib.loads(line) == {TABLE: {name: {}}}:
                return f", line {number}"
        except tomllib.TOMLDecodeError:
            continue
    return ""
