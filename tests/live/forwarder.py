"""One address on loopback behind which servers can be exchanged."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

CHUNK = 64 * 1024


class Forwarder:
    """Passes bytes on to whichever server is plugged in."""

    def __init__(self) -> None:
        self.url = ""
        self._to: tuple[str, int] | None = None
        self._open: set[asyncio.StreamWriter] = set()

    async def unplug(self) -> None:
        """Drop all connections, and those to come."""
        self._to = None
        for writer in list(self._open):
            writer.transport.abort()

    def plug(self, url: str) -> None:
        """Pass what comes from now on to the server at this address."""
        parts = urlsplit(url)
        self._to = (parts.hostname or "", parts.port or 80)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass one connection on until either side ends it."""
        if self._to is None:
            writer.transport.abort()
            return
        there_reader, there = await asyncio.open_connection(*self._to)
        both = {writer, there}
        self._open |= both
        await asyncio.gather(_pass(reader, there), _pass(there_reader, writer))
        self._open -= both


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while chunk := await reader.read(CHUNK):
            writer.write(chunk)
            await writer.drain()
    writer.close()


@asynccontextmanager
async def forwarder() -> AsyncIterator[Forwarder]:
    """Open one on a free port, and close it with all its connections."""
    opened = Forwarder()
    server = await asyncio.start_server(opened.serve, "127.0.0.1", 0)
    opened.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield opened
    finally:
        server.close()
        await opened.unplug()
        await server.wait_closed()
