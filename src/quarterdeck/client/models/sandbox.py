"""Sandboxes and the specs they are started from."""

from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import urlsplit, urlunsplit

from pydantic import AfterValidator, BeforeValidator, SecretStr
from pydantic.dataclasses import dataclass

from quarterdeck.client.models.base import LENIENT, EmptyIsNull, Moment, NullIsEmpty, Wire, json_data


def _parsable(url: SecretStr) -> SecretStr:
    """Raise ValueError for an address that cannot be opened, requested or copied: also for a lone surrogate in it."""
    urlsplit(url.get_secret_value()).geturl().encode()
    return url


@dataclass(frozen=True, slots=True, config=LENIENT)
class ExposedUrl:
    """One address of a sandbox; its query may contain the sandbox's key, so all of it is a secret."""

    name: str
    url: Annotated[SecretStr, AfterValidator(_parsable)]
    port: int | None = None

    @property
    def address(self) -> str:
        """Scheme, host and path, which may be shown."""
        parts = urlsplit(self.url.get_secret_value())
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


@dataclass(frozen=True, slots=True, config=LENIENT)
class Sandbox:
    """A sandbox as its server returned it; `status` is the server's own word, the key is that of its agent server."""

    id: str
    status: str
    sandbox_spec_id: str | None = None
    session_api_key: Annotated[SecretStr | None, EmptyIsNull] = None
    exposed_urls: Annotated[tuple[ExposedUrl, ...], NullIsEmpty] = ()
    created_at: Moment = None
    created_by_user_id: str | None = None


def sandbox_plain(sandbox: Sandbox) -> dict[str, Any]:
    """Return a sandbox as JSON data without its key, and addresses without queries."""
    addresses = [{"name": url.name, "address": url.address, "port": url.port} for url in sandbox.exposed_urls]
    return json_data(sandbox, "session_api_key", "exposed_urls") | {"exposed_urls": addresses}


class SandboxSpec(Wire):
    """A template for sandboxes; values of `initial_env` may be secrets of the operator."""

    id: str
    command: tuple[str, ...] | None = None
    working_dir: str | None = None
    initial_env: Annotated[Mapping[str, SecretStr], BeforeValidator(lambda value: value or {})] = {}
    created_at: Moment = None
