"""Sandboxes and the specs they are started from (contract sections e and f)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import urlsplit, urlunsplit

from pydantic import SecretStr

from quarterdeck.service.models.members import every, members, moment, optional, secret, several, text, whole, word


@dataclass(frozen=True, slots=True)
class ExposedUrl:
    """One address of a sandbox; its query may hold the sandbox's key, so the whole is a secret."""

    name: str
    url: SecretStr
    port: int | None = None

    @property
    def address(self) -> str:
        """Scheme, host and path: what may be shown."""
        parts = urlsplit(self.url.get_secret_value())
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A sandbox as its server reported it; `status` is the server's own word."""

    id: str
    status: str
    sandbox_spec_id: str | None = None
    session_api_key: SecretStr | None = None
    exposed_urls: tuple[ExposedUrl, ...] = ()
    created_at: datetime | None = None
    created_by_user_id: str | None = None


@dataclass(frozen=True)
class SandboxSpec:
    """A template a sandbox is started from; values of `initial_env` may hold an operator's secrets."""

    id: str
    command: tuple[str, ...] | None = None
    working_dir: str | None = None
    initial_env: Mapping[str, SecretStr] = field(default_factory=dict)
    created_at: datetime | None = None


def read_sandbox(value: object) -> Sandbox:
    """Read a sandbox; raises ValueError."""
    given = members(value).get
    return Sandbox(
        text(given("id")),
        word(given("status")),
        optional(word, given("sandbox_spec_id")),
        optional(secret, given("session_api_key")),
        several(_exposed_url, given("exposed_urls")),
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


def _exposed_url(value: object) -> ExposedUrl:
    given = members(value).get
    return ExposedUrl(word(given("name")), secret(given("url")), optional(whole, given("port")))
