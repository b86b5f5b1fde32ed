"""The client of one server: settings, secrets, profiles, conversations, sandboxes, and what the server is."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Self

from pydantic import SecretStr

from quarterdeck.client.conversations import ConversationsResource
from quarterdeck.client.describing import describe, release_of
from quarterdeck.client.endpoint import Endpoint
from quarterdeck.client.exchanges import Exchanges
from quarterdeck.client.limits import Limits
from quarterdeck.client.models.capabilities import Server
from quarterdeck.client.pace import Pace
from quarterdeck.client.request_log import LoggedRequest
from quarterdeck.client.rules import UNASKED
from quarterdeck.client.sandboxes import SandboxesResource
from quarterdeck.client.sender import Sender

if TYPE_CHECKING:
    from quarterdeck.client.http import Transport
    from quarterdeck.client.in_process import App
    from quarterdeck.client.options import OptionsResource
    from quarterdeck.client.profiles import ProfilesResource
    from quarterdeck.client.reach import Reached
    from quarterdeck.client.secrets import SecretsResource
    from quarterdeck.client.settings import SettingsResource


class Client:
    """Speaks to the server at `endpoint`; use it with `async with`, or close it with `aclose`.

    `app` is an ASGI application to speak to in this process; `base_url` goes before the endpoint's own address;
    `transport` takes the place of the network. Raises ServiceError(LOCAL) for an address or key that cannot be used.
    Making one loads the certificates for an https address, some 20 ms, and may be done in a thread. The lists are what
    people look at first: what reads the settings and all that stands beside them is imported when first asked for.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        key: SecretStr | None = None,
        *,
        app: App | None = None,
        base_url: str | None = None,
        transport: Transport | None = None,
        limits: Limits | None = None,
    ) -> None:
        limits = limits or Limits()
        self.endpoint = endpoint
        self.server = UNASKED
        """What `describe()` found out; until then the server is taken for one that wipes what a body leaves out."""
        self._exchanges = Exchanges(endpoint, key, app=app, base_url=base_url, transport=transport, limits=limits)
        self._sender = Sender(self._exchanges, None if app else Pace(limits.per_second))
        self._in_process = app is not None
        self.conversations = ConversationsResource(self._sender)
        self.sandboxes = SandboxesResource(self._sender)

    @cached_property
    def settings(self) -> SettingsResource:
        """The stored settings."""
        from quarterdeck.client.settings import SettingsResource

        return SettingsResource(self._sender, self.endpoint.header, self._described)

    @cached_property
    def secrets(self) -> SecretsResource:
        """Custom secrets and tokens of git providers."""
        from quarterdeck.client.secrets import SecretsResource

        return SecretsResource(self._sender, self._described)

    @cached_property
    def profiles(self) -> ProfilesResource:
        """LLM profiles."""
        from quarterdeck.client.profiles import ProfilesResource

        return ProfilesResource(self._sender, self._described)

    @cached_property
    def options(self) -> OptionsResource:
        """Values the server suggests for some settings."""
        from quarterdeck.client.options import OptionsResource

        return OptionsResource(self._sender, self._described)

    def _described(self) -> Server:
        return self.server

    @property
    def log(self) -> Sequence[LoggedRequest]:
        """The latest requests, newest last."""
        return self._exchanges.log

    async def describe(self) -> Server:
        """Find out what answers and let every call go by it; a refused key is an answer, not an error.

        Whatever was found not to be offered is tried again. An answer unlike the last one says that another server, or
        another release of it, was put behind the address.
        """
        self.server = await describe(self._sender)
        self.conversations.forget()
        self.sandboxes.forget()
        return self.server

    async def release(self) -> str | None:
        """The server's release, None when it cannot be had; reading it may cost half a megabyte."""
        known = self.server.release
        return known if known is not None or self._in_process else await release_of(self._sender)

    async def knock(self, url: SecretStr | str) -> bool:
        """Whether anything answers at `/alive` of an address's origin; the key is not sent along."""
        from quarterdeck.client.reach import knock

        return await knock(self._exchanges, url.get_secret_value() if isinstance(url, SecretStr) else url)

    async def reach(self, url: str, key: SecretStr | None = None) -> Reached:
        """Try the address of a tool server from this machine; `key` is its own and goes to that address alone.

        The key of this client's server is not sent along, and nothing is followed. Never raises a ServiceError.
        """
        from quarterdeck.client.reach import reach

        return await reach(self._exchanges, url, key)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._exchanges.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
