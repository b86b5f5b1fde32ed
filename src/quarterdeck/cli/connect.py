"""Opens a client for an endpoint: the only place where client and embedded service meet.

Client and service are imported in a thread: on the event loop that would hold keys up for a fifth of a second.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from quarterdeck.config import Config
from quarterdeck.local.errors import LocalServiceError
from quarterdeck.service.errors import ErrorKind, Outcome, ServiceError

if TYPE_CHECKING:
    from pydantic import SecretStr

    from quarterdeck.cli.target import Target
    from quarterdeck.local.service import LocalService
    from quarterdeck.service.client import ServiceClient
    from quarterdeck.service.endpoint import Endpoint


@dataclass(frozen=True)
class Connector:
    """Knows where the key of each endpoint is, and reads it only when a client is opened.

    A key is bound to an address: an endpoint anywhere else gets none, whatever its name.
    """

    config: Config
    target: Target
    environ: Mapping[str, str]
    on_open: Callable[[Endpoint], None] = lambda endpoint: None
    """Told, in a thread, of every endpoint that a client was opened for."""

    @asynccontextmanager
    async def __call__(self, endpoint: Endpoint, key: SecretStr | None = None) -> AsyncIterator[ServiceClient]:
        """Open a client and close it again; without `key`, the environment's for that endpoint is used.

        Raises ServiceError (LOCAL) for a key that cannot be sent and for a local service that cannot be opened.
        """
        if endpoint.embedded:
            async with self._embedded(endpoint) as client:
                await asyncio.to_thread(self.on_open, endpoint)
                yield client
            return
        client_class = await asyncio.to_thread(_client_class)
        async with client_class(endpoint, key=key or self.key(endpoint)) as client:
            await asyncio.to_thread(self.on_open, endpoint)
            yield client

    @asynccontextmanager
    async def _embedded(self, endpoint: Endpoint) -> AsyncIterator[ServiceClient]:
        service_class, client_class = await asyncio.to_thread(lambda: (_service_class(), _client_class()))
        try:
            service = await service_class.open(self.config.folders.data)
        except LocalServiceError as error:
            raise ServiceError(ErrorKind.LOCAL, str(error), outcome=Outcome.NOT_SENT) from error
        try:
            async with client_class(endpoint, key=service.key, app=service.app) as client:
                yield client
        finally:
            await service.close()

    def key_variable(self, endpoint: Endpoint) -> str | None:
        """Name of the environment variable that may hold the key of an endpoint."""
        if endpoint.url == self.target.endpoint.url:
            return self.target.key_env
        there = [each for each in self.config.connections.values() if each.endpoint.url == endpoint.url]
        named = [each for each in there if each.endpoint.name == endpoint.name]
        return next((each.key_env for each in (*named, *there)), None)

    def key(self, endpoint: Endpoint) -> SecretStr | None:
        """Read the key of an endpoint from the environment; raises ServiceError (LOCAL) for one that cannot be sent."""
        from pydantic import SecretStr

        variable = self.key_variable(endpoint)
        if variable is None:
            return None
        key = SecretStr(self.environ.get(variable, "").strip())
        if any(not "!" <= letter <= "~" for letter in key.get_secret_value()):
            words = f"The key in {variable} has a blank, a line break or a letter that cannot be sent."
            raise ServiceError(ErrorKind.LOCAL, words, "Set it to the key alone.", outcome=Outcome.NOT_SENT)
        return key if key.get_secret_value() else None


def _client_class() -> type[ServiceClient]:
    from quarterdeck.service.client import ServiceClient

    return ServiceClient


def _service_class() -> type[LocalService]:
    from quarterdeck.local.service import LocalService

    return LocalService
