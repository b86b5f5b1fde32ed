"""HTTP/1.1 on one connection: requests are written, and answers read as they come."""

import asyncio
import re
import select
from collections.abc import AsyncIterator
from typing import cast

from quarterdeck.client.coming_answer import ComingAnswer
from quarterdeck.client.fault import Fault, WireError
from quarterdeck.client.road import Question

_FIRST_LINE = r"[A-Z]+ [!-~]+ HTTP/1\.1"
_HEADER = r"[!-9;-~]+: ([!-~]([\t -~]*[!-~])?)?"


def written(question: Question) -> bytes:
    """Write a request as bytes; raises WireError(BAD_REQUEST) where HTTP has no way to (RFC 9112 sections 3 and 5)."""
    first = f"{question.method} {question.target} HTTP/1.1"
    headers = [f"{name}: {value}" for name, value in question.headers.items()]
    if not re.fullmatch(_FIRST_LINE, first) or not all(re.fullmatch(_HEADER, header) for header in headers):
        raise WireError(Fault.BAD_REQUEST)
    return "\r\n".join((first, *headers, "\r\n")).encode() + question.body


class Connection(asyncio.Protocol):
    """A connection to a server, for one exchange after another: `send`, `head`, `pieces`, `renew`.

    Whoever leaves an exchange before its end has to call `close`. Bytes are not held back: what came is read at once.
    """

    def __init__(self) -> None:
        self._answer = ComingAnswer()
        self._event: asyncio.Future[None] | None = None
        self._unused = False
        self._read = False
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
            self._answer.feed(data)
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

    async def send(self, request: bytes, seconds: float) -> None:
        """Send a request, until all is on its way or the server has begun to answer; `seconds` without any progress.

        A connection that breaks is no error here: a server may refuse a body, say so, and hang up.
        """
        self._answer.begin()
        self._unused = self._read = self._heard = False
        self._transport.write(request)
        while self._full and not self._ended and not self._heard:
            await self._something(seconds, Fault.WRITE_TIMEOUT)

    async def head(self, seconds: float) -> tuple[int, list[tuple[bytes, bytes]]]:
        """Read status and headers of the answer, whatever the server says before it; `seconds` without any byte."""
        while self._answer.status is None:
            await self._more(seconds)
        return self._answer.status, self._answer.headers

    async def pieces(self, seconds: float) -> AsyncIterator[bytes]:
        """Read the body of the answer to its end; `seconds` without any byte."""
        while True:
            while pieces := self._answer.take_body():
                for piece in pieces:
                    yield piece
            if self._answer.complete:
                self._read = True
                return
            await self._more(seconds)

    def renew(self) -> bool:
        """Get ready for another exchange; False when this connection is not good for one, or not all of it was read."""
        self._unused = self._read and self._answer.leaves_connection and not self._ended
        return self._unused

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

    async def _more(self, seconds: float) -> None:
        """Wait until more of the answer is there, or it is over; raises WireError for one that came to nothing."""
        if self._answer.fault is not None:
            raise self._answer.fault
        if not self._ended:
            await self._something(seconds, Fault.READ_TIMEOUT)
        elif self._broke is not None:
            raise WireError(Fault.READ) from self._broke
        else:
            self._answer.end()

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
    poll = select.poll()
    poll.register(socket, select.POLLIN)
    return bool(poll.poll(0))
