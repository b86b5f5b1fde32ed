"""Sandboxes and the specs they are started from (contract sections e and f)."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit

from pydantic import SecretStr

from quarterdeck.client.models.members import every, members, moment, optional, secret, several, text, whole, word
from quarterdeck.client.models.packed import packed, unpacked


class ExposedUrl(NamedTuple):
    """One address of a sandbox; its query may hold the sandbox's key, so the whole is a secret."""

    name: str
    url: SecretStr
    port: int | None = None

    @property
    def address(self) -> str:
        """Scheme, host and path: what may be shown."""
        parts = urlsplit(self.url.get_secret_value())
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


class Access:
    """The key of a sandbox and its addresses, packed into one text: there are ten thousands, and few are looked at.

    It shows as little of itself as a `SecretStr` does. Each look unpacks it anew.
    """

    __slots__ = ("_packed",)

    def __init__(self, key: str | None = None, urls: Iterable[tuple[str, str, int | None]] = ()) -> None:
        self._packed = packed(key, *urls)

    @property
    def key(self) -> SecretStr | None:
        """What its agent server asks for."""
        key, *_ = unpacked(self._packed)
        return None if key is None else SecretStr(key)

    @property
    def urls(self) -> tuple[ExposedUrl, ...]:
        """Where it is reached."""
        _, *urls = unpacked(self._packed)
        return tuple([ExposedUrl(name, SecretStr(url), port) for name, url, port in urls])

    def __eq__(self, other: object) -> bool:
        return self._packed == other._packed if isinstance(other, Access) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._packed)

    def __repr__(self) -> str:
        return f"Access({self.key!r}, {self.urls!r})"


NO_ACCESS = Access()
"""Neither a key nor addresses; one object, for most sandboxes that are not up are told of without."""


class Sandbox(NamedTuple):
    """A sandbox as its server reported it; `status` is the server's own word."""

    id: str
    status: str
    sandbox_spec_id: str | None = None
    access: Access = NO_ACCESS
    created_at: datetime | None = None
    created_by_user_id: str | None = None

    @property
    def session_api_key(self) -> SecretStr | None:
        """The key of its agent server."""
        return self.access.key

    @property
    def exposed_urls(self) -> tuple[ExposedUrl, ...]:
        """Its addresses, in the server's order."""
        return self.access.urls


class SandboxSpec(NamedTuple):
    """A template a sandbox is started from; values of `initial_env` may hold an operator's secrets."""

    id: str
    command: tuple[str, ...] | None = None
    working_dir: str | None = None
    initial_env: Mapping[str, SecretStr] = MappingProxyType({})
    created_at: datetime | None = None


def read_sandbox(value: object) -> Sandbox:
    """Read a sandbox; raises ValueError."""
    given = members(value).get
    return Sandbox(
        text(given("id")),
        word(given("status")),
        optional(word, given("sandbox_spec_id")),
        _access(optional(text, given("session_api_key")), several(_parts_of_address, given("exposed_urls"))),
        moment(given("created_at")),
        optional(word, given("created_by_user_id")),
    )


def read_spec(value: object) -> SandboxSpec:
    """Read a spec; raises ValueError."""
    given = members(value).get
    return SandboxSpec(
        text(given("id")),
        optional(_texts, given("command")),
        optional(text, given("working_dir")),
        {name: secret(told) for name, told in members(given("initial_env") or {}).items()},
        moment(given("created_at")),
    )


def _texts(value: object) -> tuple[str, ...]:
    return every(text, value)


def _access(key: str | None, urls: tuple[tuple[str, str, int | None], ...]) -> Access:
    return Access(key or None, urls) if key or urls else NO_ACCESS


def _parts_of_address(value: object) -> tuple[str, str, int | None]:
    given = members(value).get
    url = text(given("url"))
    if not url.isascii():
        url.encode()  # half a character cannot be opened, asked or copied; the error is a ValueError
    return text(given("name")), url, optional(whole, given("port"))
