"""Opens a client for a connection: the only place that uses both the client and the embedded service."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from functools import partial
from importlib import import_module
from pathlib import Path

from pydantic import SecretStr

from quarterdeck.client.client import IN_PROCESS, Client
from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.request import KeyHeader
from quarterdeck.client.transport import Access
from quarterdeck.config.connections import Connection
from quarterdeck.config.files import ConfigError
from quarterdeck.config.keys import Keys
from quarterdeck.local.errors import LocalServiceError


@asynccontextmanager
async def connect(
    data: Path, keys: Keys, connection: Connection, key: SecretStr | None = None
) -> AsyncIterator[Client]:
    """Open a client and close it afterwards; without `key`, the key found for the connection is used.

    Raises ServiceError (LOCAL) for a key that cannot be sent and a local service that cannot be opened.
    """
    if connection.url is None:
        async with _embedded(data, read_only=connection.read_only) as client:
            yield client
        return
    try:
        known = key or (await keys.find(connection)).key
    except ConfigError as error:
        raise ServiceError(ErrorKind.LOCAL, error.sentence, outcome=Outcome.NOT_SENT) from error
    header = KeyHeader.BEARER if connection.header == "bearer" else KeyHeader.SESSION
    make = partial(Client, access=Access(header=header, read_only=connection.read_only, ca_file=connection.ca_file))
    # Creating a client loads certificates, so it is done in a thread.
    async with await asyncio.to_thread(make, connection.url, known) as client:
        yield client


@asynccontextmanager
async def _embedded(data: Path, *, read_only: bool) -> AsyncIterator[Client]:
    # On the event loop, this import would delay keys by 0.2 s; other connections do not need it.
    local = await asyncio.to_thread(import_module, "quarterdeck.local.service")
    try:
        service = await local.LocalService.open(data)
    except LocalServiceError as error:
        raise ServiceError(ErrorKind.LOCAL, str(error), outcome=Outcome.NOT_SENT) from error
    access = Access(read_only=read_only, app=service.app)
    async with aclosing(service), Client(IN_PROCESS, service.key, access) as client:
        yield client
