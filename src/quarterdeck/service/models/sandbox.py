"""Sandboxes and the specs they are started from (contract sections e and f)."""

import marshal
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit

from quarterdeck.service.models.members import every, members, moment, optional, secret, several, text, whole, word
from quarterdeck.service.models.secret_str import SecretStr

_FORM = 2
"""The form of `marshal` in which equal values are equal bytes; later ones tell shared strings from others."""
_NONE = marshal.dumps((), _FORM)


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


class Addresses(Collection[ExposedUrl]):
    """Addresses packed into one text, a third of the room: there are ten thousands, and few are ever looked at.

    They show as little of themselves as a `SecretStr` does.
    """

    __slots__ = ("_packed",)

    def __init__(self, parts: Iterable[tuple[str, str, int | None]]) -> None:
        self._packed = marshal.dumps(tuple(parts), _FORM)

    def __len__(self) -> int:
        return len(self._parts())

    def __bool__(self) -> bool:
        return self._packed != _NONE

    def __iter__(self) -> Iterator[ExposedUrl]:
        return iter([ExposedUrl(name, SecretStr(url), port) for name, url, port in self._parts()])

    def __contains__(self, exposed: object) -> bool:
        return exposed in tuple(self)

    def __eq__(self, other: object) -> bool:
        return self._packed == other._packed if isinstance(other, Addresses) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._packed)

    def __repr__(self) -> str:
        return f"Addresses({list(self)})"

    def _parts(self) -> tuple[tuple[str, str, int | None], ...]:
        parts: tuple[tuple[str, str, int | None], ...] = marshal.loads(self._packed)  # noqa: S302 - packed here
        return parts


class Sandbox(NamedTuple):
    """A sandbox as its server reported it; `status` is the server's own word."""

    id: str
    status: str
    sandbox_spec_id: str | None = None
    session_api_key: SecretStr | None = None
    exposed_urls: Collection[ExposedUrl] = ()
    created_at: datetime | None = None
    created_by_user_id: str | None = None


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
        optional(secret, given("session_api_key")),
        _addresses(given("exposed_urls")),
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


def _addresses(value: object) -> Collection[ExposedUrl]:
    parts = several(_parts_of_address, value)
    return Addresses(parts) if parts else ()


def _parts_of_address(value: object) -> tuple[str, str, int | None]:
    given = members(value).get
    url = text(given("url"))
    if not url.isascii():
        url.encode()  # half a character cannot be opened, asked or copied; the error is a ValueError
    return text(given("name")), url, optional(whole, given("port"))
