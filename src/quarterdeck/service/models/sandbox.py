"""Sandboxes and the specs they are started from (contract sections e and f)."""

from typing import Annotated
from urllib.parse import urlsplit, urlunsplit

from pydantic import BeforeValidator, SecretStr
from pydantic.dataclasses import dataclass

from quarterdeck.service.models.base import Moment, NullIsEmpty, Wire, Word


@dataclass(frozen=True, slots=True)
class ExposedUrl:
    """One address of a sandbox; its query may hold the sandbox's key, so the whole is a secret."""

    name: Word
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
    status: Word
    sandbox_spec_id: Word | None = None
    session_api_key: SecretStr | None = None
    exposed_urls: Annotated[tuple[ExposedUrl, ...], NullIsEmpty] = ()
    created_at: Moment = None
    created_by_user_id: Word | None = None


class SandboxSpec(Wire):
    """A template a sandbox is started from; values of `initial_env` may hold an operator's secrets."""

    id: str
    command: tuple[str, ...] | None = None
    working_dir: str | None = None
    initial_env: Annotated[dict[str, SecretStr], BeforeValidator(lambda value: value or {})] = {}
    created_at: Moment = None
