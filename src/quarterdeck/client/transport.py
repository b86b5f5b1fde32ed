"""Sends requests to one server: at a decent pace, in time, with its key, and once more where that is safe.

Everything goes through one httpx.AsyncClient, whether the server is on the network, in this process or a stand-in.
"""

import asyncio
import copy
import logging
import time
import zlib
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import httpx
from pydantic import SecretStr

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.flat import UNASKED
from quarterdeck.client.limits import Limits, Pace
from quarterdeck.client.network import (
    LOST,
    NEVER_OPENED,
    NO_ANSWER,
    STRANGER,
    App,
    Network,
    checked_address,
    failure,
    parsed,
    proxy_for,
    same_origin,
    unusable,
)
from quarterdeck.client.redact import secrets_in
from quarterdeck.client.refusals import FAILED, not_offered, offers_nothing, refusal
from quarterdeck.client.request import KeyHeader, LoggedRequest, Request, Response, encoded, http_date, query_text

HOPS = 3
GZIP = zlib.MAX_WBITS | 16
"""The only packing that is asked for, as zlib names it."""
PASSING = frozenset({FAILED, 502, 503, 504})
"""Server errors that are worth asking again."""
LONGEST_WAIT = 30.0
"""Seconds of a server's Retry-After that a read waits out."""
USUAL_WAIT = 1.0
"""Seconds to wait on "too many requests" without a Retry-After."""
MOST_REPEATS = 2
"""Of a read."""
HEADERS = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": "quarterdeck"}
EITHER = "application/json, text/event-stream"
"""What a tool server may answer with, whichever way it speaks."""
CLOCK_GRAIN = timedelta(seconds=2)
"""Below which a server's `Date` header says nothing: it counts whole seconds, and has been on its way."""

# httpx logs whole addresses, and those of tool servers may hold a token.
logging.getLogger("httpx").setLevel(logging.WARNING)


USUAL = Limits()


@dataclass(frozen=True)
class Access:
    """How a server is reached."""

    header: KeyHeader = KeyHeader.SESSION
    """How the key is sent."""
    read_only: bool = False
    ca_file: str | None = None
    """A PEM file with the only certificates trusted at an https address."""
    app: App | None = None
    """An ASGI application that answers in this process."""
    transport: httpx.AsyncBaseTransport | None = None
    """What takes the network's place."""
    limits: Limits = USUAL


class Transport:
    """The way to one server and back.

    Raises ServiceError(LOCAL) for an address, key, CA file or proxy that cannot be used.
    """

    def __init__(self, url: str, key: SecretStr | None, access: Access) -> None:
        self.url = checked_address(url)
        """The server's address, without a trailing slash."""
        self.access = access
        self.limits = limits = access.limits
        self.log: deque[LoggedRequest] = deque(maxlen=limits.log)
        """The latest requests, newest last."""
        self.clock_offset = timedelta()
        """What the server's clock is ahead of this machine's, by its latest answer; zero where it tells none."""
        self.server = UNASKED
        """What `describe()` found out; until then the server is taken for one that wipes what a body leaves out."""
        self.lacks: set[str] = set()
        """Paths of reads that were found not to be offered: they are not asked for again."""
        self._key = _checked_key(key)
        self._pace = None if access.app is not None else Pace(limits.per_second)
        self._network = Network(self.url, access.ca_file, limits, access.app) if access.transport is None else None
        self._http = httpx.AsyncClient(
            transport=access.transport or self._network,
            trust_env=False,
            headers=HEADERS,
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        )

    async def aclose(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    def beside(self, url: str, key: SecretStr | None) -> "Transport":
        """The way to an address that this server vouches for, with that address's own key and never this server's.

        Connections, log, limits and what may be sent are shared; it has no pace of its own. Raises ServiceError(LOCAL)
        for an address or key that cannot be used.
        """
        other = copy.copy(self)
        other.url, other._key, other._pace = checked_address(url), _checked_key(key), None
        other.access = replace(self.access, header=KeyHeader.SESSION)
        return other

    async def socket_options(self) -> dict[str, Any]:
        """How a socket is opened there: as a request would be, with its key, its trust and its proxy.

        Raises ServiceError(NOT_OFFERED) where no network is asked.
        """
        url = parsed(self.url)
        if self._network is None or self._network.in_process(url):
            raise ServiceError(ErrorKind.NOT_OFFERED, "There are no sockets within this process.")
        return {
            "additional_headers": _key_headers(self._key, self.access.header),
            "ssl": await self._network.trusted(url) if url.scheme == "https" else None,
            "proxy": proxy_for(self.url),
        }

    async def send(self, request: Request) -> Response:
        """Send a request and return its answer of status 2xx, repeating it as `_again` allows.

        All tries of a read share one deadline. Raises ServiceError for every other end.
        """
        if self.access.read_only and not request.reads:
            words = "This connection is read-only: nothing was sent."
            raise ServiceError(ErrorKind.READ_ONLY, words, request=str(request), outcome=Outcome.NOT_SENT)
        await self._turn(request)
        since, seconds = _now(), request.seconds or self.limits.total
        deadline, repeats = since + seconds, 0
        while True:
            try:
                return await self._attempt(request, since, deadline)
            except ServiceError as error:
                wait = _again(request, error, repeats)
                wait = None if wait is None else max(wait, self.limits.repeat_after * 2**repeats)
                if wait is None or (request.reads and _now() + wait >= deadline):
                    raise _final(request, error) from None
            await asyncio.sleep(wait)
            await self._turn(request)
            repeats += 1
            if not request.reads:
                deadline = _now() + seconds

    async def send_if_offered(self, request: Request) -> Response | None:
        """Send a request as `send` does; None where the server has no such path."""
        try:
            return await self.send(request)
        except ServiceError as error:
            if not_offered(error):
                return None
            raise

    async def alive(self, base: str) -> bool:
        """Whether anything answers at `/alive` below an address that this server vouches for; no key is sent."""
        try:
            return await self.status_at(f"{base}/alive") < FAILED
        except ServiceError:
            return False

    async def status_at(self, address: str, *, key: SecretStr | None = None, stranger: bool = False) -> int:
        """Read no more than the status at another address, with a key that belongs to that address or none.

        Nothing is followed, and the key of the server is not sent. Of a `stranger` the server knows nothing: other
        addresses it vouches for. Raises ServiceError where nothing answers, and for what cannot be read as an address.
        """
        key, seconds = _checked_key(key), self.limits.quick
        asked = self._built("GET", parsed(address), {"Accept": EITHER, **_key_headers(key, KeyHeader.BEARER)}, seconds)
        asked.extensions[STRANGER] = stranger
        # Without a key, a user name in the address is sent as httpx does by itself.
        auth = None if key is None else httpx.Auth()
        async with self._answer(asked, "GET /", _now(), _now() + seconds, auth=auth) as answer:
            return answer.status_code

    async def _turn(self, request: Request) -> None:
        if self._pace is not None:
            await self._pace.turn(background=request.background)

    async def _attempt(self, request: Request, since: float, deadline: float) -> Response:
        """Send a request once and log it; `since` is when it was sent first, on the loop's clock as the deadline."""
        started = time.perf_counter()
        status: int | None = None
        kind: ErrorKind | None = None
        try:
            response = await self._exchange(request, since, deadline)
            status = response.status
            return response
        except ServiceError as error:
            status, kind = error.status, error.kind
            raise
        finally:
            self.note(request, started, status, kind)

    def note(self, request: Request, started: float, status: int | None, kind: ErrorKind | None) -> None:
        """Put a request into the log that was `started` then, as `time.perf_counter` tells it."""
        ms = (time.perf_counter() - started) * 1000
        when = datetime.now(UTC) - timedelta(milliseconds=ms)
        self.log.append(LoggedRequest(request.method, request.path, status, kind, ms, when))

    async def _exchange(self, request: Request, since: float, deadline: float) -> Response:
        """Send a request, follow a read within the same origin, and return an answer of status 2xx."""
        url = parsed(self.url + request.path + query_text(request.query))
        content = None if request.body is None else encoded(request.body)
        headers = _key_headers(self._key, self.access.header)
        headers |= {} if content is None else {"Content-Type": "application/json"}
        hops = 0
        while True:
            asked = self._built(request.method, url, headers, request.seconds or self.limits.read, content)
            async with self._answer(asked, str(request), since, deadline) as answer:
                self._note_clock(answer.headers.get("Date"))
                target = _next_hop(answer)
                if target is None or hops == HOPS:
                    return self._accepted(await _received(request, answer, request.largest or self.limits.body))
            url, hops = target, hops + 1

    def _built(
        self, method: str, url: httpx.URL, headers: Mapping[str, str], seconds: float, content: bytes | None = None
    ) -> httpx.Request:
        timeout = httpx.Timeout(seconds, connect=self.limits.connect, pool=self.limits.connect)
        return self._http.build_request(method, url, content=content, headers=headers, timeout=timeout)

    @asynccontextmanager
    async def _answer(
        self, asked: httpx.Request, named: str, since: float, deadline: float, *, auth: httpx.Auth | None = None
    ) -> AsyncIterator[httpx.Response]:
        """The head of an answer; what is not read of its body until the deadline is lost, and its connection with it.

        Raises ServiceError, for the request of that name, where no whole answer arrives.
        """
        failed: list[str] = []

        async def note_step(event: str, _: Mapping[str, Any]) -> None:
            step, state = event.rsplit(".", 1)
            if state == "failed":
                failed.append(step)

        asked.extensions["trace"] = note_step
        try:
            async with asyncio.timeout_at(deadline):
                answer = await self._http.send(asked, auth=auth, stream=True)
                try:
                    yield answer
                finally:
                    await answer.aclose()
        except NO_ANSWER as error:
            step = failed[0] if failed else ""
            raise failure(error, named, asked.url, step, seconds=_now() - since) from None

    def _accepted(self, response: Response) -> Response:
        """Pass on an answer of status 2xx that is no web page; raises ServiceError for every other."""
        if not 200 <= response.status < 300:
            key = () if self._key is None else (self._key.get_secret_value(),)
            raise refusal(response, (*key, *secrets_in(response.request.body)))
        if response.is_html:
            raise response.wrong_api(f"{parsed(self.url).netloc.decode()} answered with a web page instead of data.")
        return response

    def _note_clock(self, date: str | None) -> None:
        theirs = http_date(date or "")
        if theirs is None:
            return
        offset = theirs - datetime.now(UTC)
        self.clock_offset = offset if abs(offset) >= CLOCK_GRAIN else timedelta()


def _next_hop(answer: httpx.Response) -> httpx.URL | None:
    """Where a read is sent on to within its own origin; None for every other answer."""
    location = answer.headers["Location"] if answer.has_redirect_location else ""
    if answer.request.method != "GET" or not location:
        return None
    try:
        target = answer.url.join(location)
    except httpx.InvalidURL:
        return None
    return target if same_origin(target, answer.url) and not target.userinfo else None


async def _received(request: Request, answer: httpx.Response, most: int) -> Response:
    """Read a body of up to `most` bytes when unpacked.

    A byte of a packed one may stand for a thousand, so it is unpacked only as far as it may be long. Raises
    ServiceError: TOO_LARGE, BROKEN for a packing nobody asked for.
    """
    response = Response(request, answer.status_code, headers=answer.headers)
    packing = answer.headers.get("Content-Encoding", "").strip().lower()
    if packing not in ("", "identity", "gzip"):
        words, advice = "The answer is packed in a way nobody asked for.", "Check what stands before the server."
        raise response.error(ErrorKind.BROKEN, words, advice)
    unpacking = zlib.decompressobj(GZIP) if packing == "gzip" else None
    body = bytearray()
    async for piece in answer.aiter_raw():
        body += piece if unpacking is None else unpacking.decompress(piece, most - len(body) + 1)
        if len(body) > most:
            words, advice = f"The answer is larger than {most / 2**20:g} MB.", "Check the address."
            raise response.error(ErrorKind.TOO_LARGE, words, advice)
    return response._replace(body=bytes(body))


def _again(request: Request, error: ServiceError, repeats: int) -> float | None:
    """Say in how many seconds at least a request is sent again after so many repeats; None means it is not.

    A write is repeated once, and only where no connection came about. A read is repeated twice, but not one that has
    waited for a connection in vain, for people want to know that at once, nor any that the watch asks, which asks
    again by itself.
    """
    unopened = error.kind in NEVER_OPENED
    if not request.reads:
        return 0.0 if unopened and repeats == 0 else None
    if repeats >= MOST_REPEATS:
        return None
    if unopened:
        return None if request.background or error.kind is ErrorKind.CONNECT_TIMEOUT else 0.0
    wait = error.retry_after or 0.0
    if error.kind is ErrorKind.RATE:
        wait = USUAL_WAIT if error.retry_after is None else error.retry_after
    elif error.kind not in LOST and error.status not in PASSING:
        return None
    return wait if wait <= LONGEST_WAIT else None


def _final(request: Request, error: ServiceError) -> ServiceError:
    """The error that is raised when nothing more is tried: a write whose answer is lost has an unknown outcome."""
    if request.lacking and not_offered(error):
        return offers_nothing(request.lacking, error)
    failed = error.kind is ErrorKind.SERVER and error.outcome is Outcome.UNKNOWN
    lost = failed or error.kind in LOST or error.kind is ErrorKind.TOO_LARGE
    no_http = error.kind is ErrorKind.WRONG_API and error.status is None
    if request.reads or not (lost or no_http):
        return error
    return replace(
        error,
        kind=ErrorKind.UNKNOWN_OUTCOME,
        words=f"Unknown whether it happened. {error.words}",
        advice="Look whether it did before doing it again.",
        outcome=Outcome.UNKNOWN,
    )


def _checked_key(key: SecretStr | None) -> SecretStr | None:
    """A key that a header can hold, None for an empty one; raises ServiceError(LOCAL) for any other."""
    if key is None or not key.get_secret_value():
        return None
    if not all("!" <= letter <= "~" for letter in key.get_secret_value()):
        words = "The key has a blank, a line break or a letter in it that a key cannot have."
        raise unusable(words, "Copy it again, without what is around it.")
    return key


def _key_headers(key: SecretStr | None, header: KeyHeader) -> dict[str, str]:
    if key is None:
        return {}
    prefix = "Bearer " if header is KeyHeader.BEARER else ""
    return {header.value: prefix + key.get_secret_value()}


def _now() -> float:
    return asyncio.get_running_loop().time()
