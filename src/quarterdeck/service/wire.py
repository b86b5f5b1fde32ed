"""HTTP/1.1 on one connection: asyncio moves the bytes, h11 knows what they mean."""

import asyncio
import selectors
from collections.abc import AsyncIterator
from enum import Enum, auto
from typing import cast

import h11

LONGEST_HEAD = 100 * 1024
"""Bytes of a head, or of the size of a chunk, that never comes to an end."""


class Fault(Enum):
    """Where an exchange failed."""

    CONNECT = auto()
    CONNECT_TIMEOUT = auto()
    POOL_TIMEOUT = auto()
    WRITE_TIMEOUT = auto()
    READ = auto()
    READ_TIMEOUT = auto()
    BAD_REQUEST = auto()
    """It cannot be written as HTTP, and nothing of it was sent."""
    BAD_ANSWER = auto()
    """It is not HTTP, or stops in the middle; the text says which, in the words of h11."""


class WireError(Exception):
    """An exchange that came to nothing; its cause is what happened below."""

    def __init__(self, fault: Fault, text: str = "") -> None:
        super().__init__(text)
        self.fault = fault


class Connection(asyncio.Protocol):
    """A connection to a server, for one exchange after another: `send`, `head`, `pieces`, `renew`.

    Whoever leaves an exchange before its end has to call `close`. Bytes are not held back: what came is read at once.
    """

    def __init__(self) -> None:
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=LONGEST_HEAD)
        self._event: asyncio.Future[None] | None = None
        self._unused = False
        self._heard = False
        self._full = False
        self._ended = False
        self._broke: Exception | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Take bytes, and hang up on a server that speaks between two exchanges."""
        if self._unused:
            self._ended = True
            self.close()
        else:
            self._heard = True
            self._http.receive_data(data)
            self._wake()

    def eof_received(self) -> None:
        """Note that the server has said all it will."""
        self._ended = True
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        """Note the end."""
        self._ended = True
        self._broke = exc
        self._wake()

    def pause_writing(self) -> None:
        """Note that the server takes no more bytes for the moment."""
        self._full = True

    def resume_writing(self) -> None:
        """Note that it does again."""
        self._full = False
        self._wake()

    async def send(self, request: h11.Request, body: bytes, seconds: float) -> None:
        """Write a request, until all is on its way or the server has begun to answer; `seconds` without any progress.

        A connection that breaks is no error here: a server may refuse a body, say so, and hang up.
        """
        try:
            data = [self._http.send(request), self._http.send(h11.Data(body)) if body else b""]
            data.append(self._http.send(h11.EndOfMessage()))
        except h11.LocalProtocolError:
            raise WireError(Fault.BAD_REQUEST) from None
        self._unused = self._heard = False
        self._transport.write(b"".join(filter(None, data)))
        while self._full and not self._ended and not self._heard:
            await self._something(seconds, Fault.WRITE_TIMEOUT)

    async def head(self, seconds: float) -> h11.Response:
        """Read the head of the answer, after whatever the server says before it; `seconds` without any byte."""
        while not isinstance(event := await self._next(seconds), h11.Response):
            pass
        return event

    async def pieces(self, seconds: float) -> AsyncIterator[bytes]:
        """Read the body of the answer to its end; `seconds` without any byte."""
        while isinstance(event := await self._next(seconds), h11.Data):
            yield bytes(event.data)

    def renew(self) -> bool:
        """Get ready for another exchange; False when this connection is not good for one."""
        done = self._http.our_state is h11.DONE and self._http.their_state is h11.DONE
        if self._ended or not done or self._http.trailing_data[0]:
            return False
        self._http.start_next_cycle()
        self._unused = True
        return True

    def is_quiet(self) -> bool:
        """Whether the server has neither hung up nor spoken since `renew`.

        The event loop knows what it has read so far; the rest is asked of the socket.
        """
        if self._ended or self._transport.is_closing():
            return False
        return not _readable(self._transport.get_extra_info("socket"))

    def close(self) -> None:
        """Hang up at once, whatever is under way."""
        self._transport.abort()

    async def _next(self, seconds: float) -> h11.Event:
        try:
            while not isinstance(event := self._http.next_event(), h11.Event):
                if not self._ended:
                    await self._something(seconds, Fault.READ_TIMEOUT)
                elif self._broke is not None:
                    raise WireError(Fault.READ) from self._broke
                else:
                    self._http.receive_data(b"")
        except h11.RemoteProtocolError as error:
            raise WireError(Fault.BAD_ANSWER, str(error)) from None
        return event

    async def _something(self, seconds: float, fault: Fault) -> None:
        """Wait until the server says or takes something, or hangs up."""
        self._event = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(seconds):
                await self._event
        except TimeoutError:
            raise WireError(fault) from None
        finally:
            self._event = None

    def _wake(self) -> None:
        if self._event is not None and not self._event.done():
            self._event.set_result(None)


def _readable(socket: int) -> bool:
    with selectors.DefaultSelector() as selector:
        selector.register(socket, selectors.EVENT_READ)
        return bool(selector.select(0))
