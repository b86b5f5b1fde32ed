"""The connections to one server: how many there may be, which of them are kept, and for how long."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress

from quarterdeck.client.address import is_ip
from quarterdeck.client.fault import Fault, WireError
from quarterdeck.client.limits import Limits
from quarterdeck.client.road import Question, readable
from quarterdeck.client.url import Url
from quarterdeck.client.wire import Connection, written

NEXT_ADDRESS = 0.25
"""Seconds until the next address of a host is tried beside the last (RFC 8305)."""
LOCALHOST = ("::1", "127.0.0.1")
"""What `localhost` stands for (RFC 6761 section 6.3); a resolver would be asked in a thread."""


class Pool:
    """Up to `most` connections to the origin of an address, each kept for further requests if `keep`.

    One that was not used for a while is closed when the next request comes: a timer would wake a program that is at
    rest. `tls` is None for a plain connection.
    """

    def __init__(self, url: Url, tls: ssl.SSLContext | None, limits: Limits, *, most: int, keep: bool) -> None:
        if tls is not None:
            tls.set_alpn_protocols(["http/1.1"])
        self._hosts = LOCALHOST if url.host == "localhost" and tls is None else (url.host,)
        self._port, self._tls = url.port, tls
        self._next_address = None if is_ip(self._hosts[0]) else NEXT_ADDRESS  # an IP address stands for itself alone
        self._limits = limits
        self._keep = keep
        self._places = asyncio.Semaphore(most)
        self._open: set[Connection] = set()
        self._idle: dict[Connection, float] = {}
        """Those that wait for the next request, and until when they are good for it, on the loop's clock."""

    async def ask(self, question: Question, seconds: float) -> "PooledAnswer":
        """Send a request and read the head of its answer, as `Road` says."""
        await self._take_place()
        try:
            request = written(question)
            connection = self._unused() or await self._connected()
            try:
                await connection.send(request, self._limits.write)
                status, headers = await connection.head(seconds)
            except BaseException:
                self._drop(connection)
                raise
        except BaseException:
            self._places.release()
            raise
        return PooledAnswer(self, connection, status, readable(headers), seconds)

    def take_back(self, connection: Connection) -> None:
        """Keep a connection whose exchange is over, or close it when it is not."""
        if self._keep and connection.renew():
            self._idle[connection] = asyncio.get_running_loop().time() + self._limits.kept
        else:
            self._drop(connection)
        self._places.release()

    async def aclose(self) -> None:
        """Close all connections; what is under way on them fails."""
        self._keep = False
        for connection in tuple(self._open):
            self._drop(connection)
        await asyncio.sleep(0)  # sockets are closed in the loop's next round

    async def _take_place(self) -> None:
        if not self._places.locked():
            await self._places.acquire()  # at once
            return
        try:
            async with asyncio.timeout(self._limits.pool):
                await self._places.acquire()
        except TimeoutError:
            raise WireError(Fault.POOL_TIMEOUT) from None

    def _unused(self) -> Connection | None:
        now = asyncio.get_running_loop().time()
        for connection in [connection for connection, until in self._idle.items() if until <= now]:
            self._drop(connection)
        while self._idle:
            connection, _ = self._idle.popitem()
            if connection.is_quiet():
                return connection
            self._drop(connection)
        return None

    async def _connected(self) -> Connection:
        try:
            async with asyncio.timeout(self._limits.connect):
                connection = await self._connect()
        except TimeoutError as error:
            raise WireError(Fault.CONNECT_TIMEOUT) from error
        except ConnectionResetError as error:
            # Without a cause of its own it is asyncio's word for a server that hangs up in the middle of a handshake.
            raise WireError(Fault.CONNECT) from (error if self._tls is None else ssl.SSLEOFError())
        except (OSError, UnicodeError) as error:
            raise WireError(Fault.CONNECT) from error
        self._open.add(connection)
        return connection

    async def _connect(self) -> Connection:
        """Connect to the first host where somebody answers."""
        *others, last = self._hosts
        for host in others:
            with suppress(OSError):
                return await self._connect_to(host)
        return await self._connect_to(last)

    async def _connect_to(self, host: str) -> Connection:
        _, connection = await asyncio.get_running_loop().create_connection(
            Connection, host, self._port, ssl=self._tls, happy_eyeballs_delay=self._next_address
        )
        return connection

    def _drop(self, connection: Connection) -> None:
        self._idle.pop(connection, None)
        self._open.discard(connection)
        connection.close()


class PooledAnswer:
    """An answer that holds its connection until it is closed."""

    def __init__(
        self, pool: Pool, connection: Connection, status: int, headers: Mapping[str, str], seconds: float
    ) -> None:
        self.status = status
        self.headers = headers
        self._pool = pool
        self._connection: Connection | None = connection
        self._seconds = seconds

    def __aiter__(self) -> AsyncIterator[bytes]:
        """Read the body; raises WireError."""
        assert self._connection is not None, "a closed answer is not read"
        return self._connection.pieces(self._seconds)

    async def aclose(self) -> None:
        """Give the connection back; what was not read of the body is lost, and the connection with it."""
        if self._connection is not None:
            self._pool.take_back(self._connection)
            self._connection = None
