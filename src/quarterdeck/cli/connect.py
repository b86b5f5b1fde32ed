"""Opens a client for an endpoint: the only place where client and embedded service meet.

Client and service are imported in a thread: on the event loop that would hold keys up for a fifth of a second.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from quarterdeck.cli.known import KnownConnections
from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.request import KeyHeader
from quarterdeck.config.load import Config
from quarterdeck.local.errors import LocalServiceError

if TYPE_CHECKING:
    from pydantic import SecretStr

    from quarterdeck.cli.target import Target
    from quarterdeck.client.client import Client
    from quarterdeck.config.connections import Connection
    from quarterdeck.local.service import LocalService


class Connector:
    """Opens clients; the key of an endpoint is looked for only then."""

    def __init__(
        self, config: Config, target: Target, environ: Mapping[str, str], known: KnownConnections | None = None
    ) -> None:
        self.known = known or KnownConnections(config, target, environ)
        self._data = config.folders.data

    @asynccontextmanager
    async def __call__(self, endpoint: Connection, key: SecretStr | None = None) -> AsyncIterator[Client]:
        """Open a client and close it again; without `key`, the one that is known for that endpoint is used.

        Raises ServiceError (LOCAL) for a key that cannot be sent and for a local service that cannot be opened.
        """
        if endpoint.embedded:
            async with self._embedded(endpoint) as client:
                yield client
            return
        client_class = await asyncio.to_thread(_client_class)
        known = key or (await self.known.find_key(endpoint)).key
        header = KeyHeader.BEARER if endpoint.header == "bearer" else KeyHeader.SESSION
        make = partial(client_class, header=header, read_only=endpoint.read_only, ca_file=endpoint.ca_file)
        # Making one loads certificates, so that goes into a thread too.
        async with await asyncio.to_thread(make, endpoint.url or "", known) as client:
            yield client

    @asynccontextmanager
    async def _embedded(self, endpoint: Connection) -> AsyncIterator[Client]:
        service_class, client_class = await asyncio.to_thread(lambda: (_service_class(), _client_class()))
        try:
            service = await service_class.open(self._data)
        except LocalServiceError as error:
            raise ServiceError(ErrorKind.LOCAL, str(error), outcome=Outcome.NOT_SENT) from error
        try:
            async with client_class(
                "http://127.0.0.1", service.key, read_only=endpoint.read_only, app=service.app
            ) as client:
                yield client
        finally:
            await service.close()


def _client_class() -> type[Client]:
    from quarterdeck.client.client import Client

    return Client


def _service_class() -> type[LocalService]:
    from quarterdeck.local.service import LocalService

    return LocalService
