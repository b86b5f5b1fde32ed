"""The client of one server: settings, secrets, profiles, conversations, sandboxes, and what the server is."""

from datetime import timedelta
from typing import Self

from pydantic import SecretStr

from quarterdeck.client.conversations import ConversationsResource, StartTasksResource
from quarterdeck.client.describe import Probe, describe, probe, release_of
from quarterdeck.client.models.server import Server
from quarterdeck.client.network import origin_of
from quarterdeck.client.options import OptionsResource
from quarterdeck.client.profiles import ProfilesResource
from quarterdeck.client.sandboxes import SandboxesResource
from quarterdeck.client.secrets import SecretsResource
from quarterdeck.client.settings import SettingsResource
from quarterdeck.client.transport import Access, Transport

IN_PROCESS = "http://127.0.0.1"
"""The address of an app in this process."""
DIRECT = Access()


class Client:
    """Speaks to the server at `url`; use it with `async with`, or close it with `aclose`.

    Raises ServiceError(LOCAL) for an address, key, CA file or proxy that cannot be used. Making one loads the
    certificates for an https address, some 20 ms, and may be done in a thread.
    """

    def __init__(self, url: str, key: SecretStr | None = None, access: Access = DIRECT) -> None:
        self.transport = transport = Transport(url, key, access)
        """The way to the server, for what is asked about one conversation alone."""
        self.url = transport.url
        """The server's address, without a trailing slash."""
        self.log = transport.log
        """The latest requests, newest last."""
        self.conversations = ConversationsResource(transport)
        self.start_tasks = StartTasksResource(transport)
        self.sandboxes = SandboxesResource(transport)
        self.settings = SettingsResource(transport)
        self.secrets = SecretsResource(transport)
        self.profiles = ProfilesResource(transport)
        self.options = OptionsResource(transport)

    @property
    def server(self) -> Server:
        """What `describe()` found out."""
        return self.transport.server

    @property
    def clock_offset(self) -> timedelta:
        """What the server's clock is ahead of this machine's; zero below two seconds and where it tells none."""
        return self.transport.clock_offset

    async def describe(self) -> Server:
        """Find out what answers and let every call go by it; a refused key is an answer, not an error.

        Whatever was found not to be offered is tried again. An answer unlike the last one says that another server, or
        another release of it, was put behind the address.
        """
        self.transport.server = await describe(self.transport)
        self.transport.lacks.clear()
        return self.server

    async def release(self) -> str:
        """The server's release, nothing when it cannot be had; reading it may cost half a megabyte."""
        return self.server.release or await release_of(self.transport) or ""

    async def alive(self, url: SecretStr) -> bool:
        """Whether anything answers at `/alive` of the origin of a sandbox's address; no key is sent."""
        try:
            origin = origin_of(url.get_secret_value())
        except ValueError:
            return False
        return await self.transport.alive(origin)

    async def probe(self, url: str, key: SecretStr | None = None) -> Probe:
        """Try the address of a tool server from this machine; `key` is its own and goes to that address alone.

        The key of this client's server is not sent along, and nothing is followed. Never raises a ServiceError.
        """
        return await probe(self.transport, url, key)

    async def aclose(self) -> None:
        """Close all connections."""
        await self.transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()
