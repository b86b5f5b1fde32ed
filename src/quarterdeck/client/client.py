"""The client of one server: settings, secrets, profiles, conversations, sandboxes, and what kind of server it is."""

from datetime import timedelta
from typing import Self

from pydantic import SecretStr

from quarterdeck.client.conversations import ConversationsResource, StartTasksResource
from quarterdeck.client.describe import Probe, describe, probe, release_of
from quarterdeck.client.models.server import Server
from quarterdeck.client.network import origin_of
from quarterdeck.client.options import suggestions
from quarterdeck.client.profiles import ProfilesResource
from quarterdeck.client.sandboxes import SandboxesResource
from quarterdeck.client.secrets import SecretsResource
from quarterdeck.client.settings import SettingsResource
from quarterdeck.client.transport import Access, Transport

IN_PROCESS = "http://127.0.0.1"
"""The address of an app in this process."""
DIRECT = Access()


class Client:
    """Talks to the server at `url`; use it with `async with`, or close it with `aclose`.

    Raises ServiceError(LOCAL) for an address, key, CA file or proxy that cannot be used. Creating one for an https
    address loads certificates, which takes 20 ms and may be done in a thread.
    """

    def __init__(self, url: str, key: SecretStr | None = None, access: Access = DIRECT) -> None:
        self.transport = transport = Transport(url, key, access)
        """The transport to the server, for requests about a single conversation."""
        self.url = transport.url
        """The server's address, without a trailing slash."""
        self.has_key = bool(key)
        """Whether requests carry a key."""
        self.log = transport.log
        """The latest requests, newest last."""
        self.conversations = ConversationsResource(transport)
        self.start_tasks = StartTasksResource(transport)
        self.sandboxes = SandboxesResource(transport)
        self.settings = SettingsResource(transport)
        self.secrets = SecretsResource(transport)
        self.profiles = ProfilesResource(transport)

    @property
    def server(self) -> Server:
        """The result of `describe()`."""
        return self.transport.server

    @property
    def clock_offset(self) -> timedelta:
        """How far the server's clock is ahead of this machine's; zero below two seconds or if it sends no date."""
        return self.transport.clock_offset

    async def describe(self) -> Server:
        """Find out what kind of server responds, and use that in later calls; a refused key is a result, not an error.

        Paths that were not offered are tried again. A result that differs from the last one means that another server,
        or another release, now responds at this address.
        """
        self.transport.server = await describe(self.transport)
        self.transport.lacks.clear()
        return self.server

    async def release(self) -> str:
        """Return the server's release, empty if it cannot be found; this may read half a megabyte."""
        return self.server.release or await release_of(self.transport)

    async def suggestions(self, key: str) -> tuple[str, ...]:
        """Return values that the server suggests for a setting."""
        return await suggestions(self.transport, key)

    async def alive(self, url: SecretStr) -> bool:
        """Whether an agent server responds at `/alive` of the origin of a sandbox's address; no key is sent."""
        try:
            origin = origin_of(url.get_secret_value())
        except ValueError:
            return False
        return await self.transport.alive(origin)

    async def probe(self, url: str, key: SecretStr | None = None) -> Probe:
        """Try the address of a tool server from this machine; `key` is its own and is sent to that address alone.

        The key of this client's server is not sent, and redirects are not followed. Never raises ServiceError.
        """
        return await probe(self.transport, url, key)

    async def aclose(self) -> None:
        """Close all connections."""
        await self.transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()
