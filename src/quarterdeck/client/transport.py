"""Sends requests to one server: rate limited, with deadlines, with the server's key, and with safe retries.

Everything goes through one httpx.AsyncClient, whether the server is on the network, in this process or a fake.
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

from quarterdeck.client.errors import NOT_KNOWN, ErrorKind, Outcome, ServiceError
from quarterdeck.client.flat import UNASKED
from quarterdeck.client.limits import Limits, RateLimiter
from quarterdeck.client.network import (
    NEVER_OPENED,
    NO_ANSWER,
    NOT_WHOLE,
    UNTRUSTED,
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
"""The only content encoding that is requested, as the window bits of zlib."""
PASSING = frozenset({FAILED, 502, 503, 504})
"""Server errors after which a retry is worthwhile."""
PERHAPS_DONE = NOT_WHOLE | {ErrorKind.SERVER, ErrorKind.TOO_LARGE}
"""Errors after which a write may have happened."""
LONGEST_WAIT = 30.0
"""Longest Retry-After, in seconds, that a read waits for."""
USUAL_WAIT = 1.0
"""Seconds to wait after "too many requests" without a Retry-After."""
MOST_REPEATS = 2
"""How many times a read is retried."""
HEADERS = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": "quarterdeck"}
EITHER = "application/json, text/event-stream"
"""Both content types in which a tool server may respond."""
CLOCK_GRAIN = timedelta(seconds=2)
"""Smaller offsets of a server's `Date` header are ignored: it has whole seconds and was sent some time ago."""

# httpx logs whole addresses, and those of tool servers may contain a token.
logging.getLogger("httpx").setLevel(logging.WARNING)


USUAL = Limits()


@dataclass(frozen=True)
class Access:
    """How a server is reached."""

    header: KeyHeader = KeyHeader.SESSION
    """The header that carries the key."""
    read_only: bool = False
    ca_file: str | None = None
    """A PEM file with the only certificates to trust at an https address."""
    app: App | None = None
    """An ASGI application that responds in this process."""
    transport: httpx.AsyncBaseTransport | None = None
    """Replaces the network."""
    limits: Limits = USUAL


class Transport:
    """Sends requests to one server and returns the responses.

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
        """How far the server's clock is ahead of this machine's, by its latest response; zero if it sends no date."""
        self.server = UNASKED
        """The result of `describe()`; until then, the server is assumed to reset what a request body leaves out."""
        self.lacks: set[str] = set()
        """Paths of reads that the server does not offer; they are not requested again."""
        self._key = _checked_key(key)
        self._rate_limiter = None if access.app is not None else RateLimiter(limits.per_second)
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

    def for_address(self, url: str, key: SecretStr | None) -> "Transport":
        """Return a transport to an address that this server named, with that address's own key and never this server's.

        Connections, log, limits and read-only mode are shared; it has no rate limit. Raises ServiceError(LOCAL) for an
        address or key that cannot be used.
        """
        other = copy.copy(self)
        other.url, other._key, other._rate_limiter = checked_address(url), _checked_key(key), None
        other.access = replace(self.access, header=KeyHeader.SESSION)
        return other

    async def socket_options(self) -> dict[str, Any]:
        """Return the options to open a socket with the key, certificates and proxy of a request.

        Raises ServiceError(NOT_OFFERED) if the server is in this process or replaced.
        """
        url = parsed(self.url)
        if self._network is None or self.access.app is not None:
            raise ServiceError(ErrorKind.NOT_OFFERED, "There are no sockets within this process.")
        return {
            "additional_headers": _key_headers(self._key, self.access.header),
            "ssl": await self._network.trusted(url) if url.scheme == "https" else None,
            "proxy": proxy_for(self.url),
        }

    async def send(self, request: Request) -> Response:
        """Send a request and return its 2xx response, with retries as `_again` allows.

        All tries of a read share one deadline. Raises ServiceError in every other case.
        """
        if self.access.read_only and not request.reads:
            words = "This connection is read-only: nothing was sent."
            raise ServiceError(ErrorKind.READ_ONLY, words, outcome=Outcome.NOT_SENT)
        await self._wait_for_turn(request)
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
            await self._wait_for_turn(request)
            repeats += 1
            if not request.reads:
                deadline = _now() + seconds

    async def send_if_offered(self, request: Request) -> Response | None:
        """Send a request as `send` does, and return None if the server has no such path."""
        try:
            return await self.send(request)
        except ServiceError as error:
            if not_offered(error):
                return None
            raise

    async def alive(self, base: str) -> bool:
        """Whether an agent server responds at `/alive` below an address that this server named; no key is sent.

        Anything else there, such as another program at the same port of this machine, must not get the sandbox's key.
        """
        try:
            return 200 <= await self.status_at(f"{base}/alive") < 300
        except ServiceError:
            return False

    async def status_at(self, address: str, *, key: SecretStr | None = None, untrusted: bool = False) -> int:
        """Return the status of a GET at another address, with that address's own key or none.

        Redirects are not followed, and the server's key is not sent. `untrusted` means that the server did not name the
        address. Raises ServiceError if nothing responds or the address cannot be parsed.
        """
        url, key, seconds = parsed(address), _checked_key(key), self.limits.quick
        if key is not None:
            url = url.copy_with(userinfo=b"")  # httpx would send a user name in the address instead of the key
        headers = {"Accept": EITHER, **_key_headers(key, KeyHeader.BEARER)}
        http_request = self._built("GET", url, headers, seconds)
        http_request.extensions[UNTRUSTED] = untrusted
        async with self._answer(http_request, _now(), _now() + seconds) as answer:
            return answer.status_code

    async def _wait_for_turn(self, request: Request) -> None:
        if self._rate_limiter is not None:
            await self._rate_limiter.turn(background=request.background)

    async def _attempt(self, request: Request, since: float, deadline: float) -> Response:
        """Send a request once and log it; `since` (the first try) and `deadline` are times of the loop's clock."""
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
        """Log a request; `started` is a value of `time.perf_counter`."""
        ms = (time.perf_counter() - started) * 1000
        when = datetime.now(UTC) - timedelta(milliseconds=ms)
        self.log.append(LoggedRequest(request.method, request.path, status, kind, ms, when))

    async def _exchange(self, request: Request, since: float, deadline: float) -> Response:
        """Send a request, follow a read's redirects within the same origin, and return a 2xx response."""
        url = parsed(self.url + request.path + query_text(request.query))
        content = None if request.body is None else encoded(request.body)
        headers = _key_headers(self._key, self.access.header)
        headers |= {} if content is None else {"Content-Type": "application/json"}
        http_request = self._built(request.method, url, headers, request.seconds or self.limits.read, content)
        hops = 0
        while True:
            async with self._answer(http_request, since, deadline) as answer:
                self._note_clock(answer.headers.get("Date"))
                following = _followed(answer)
                if following is None or hops == HOPS:
                    return self._accepted(await _received(request, answer, request.largest or self.limits.body))
            http_request, hops = following, hops + 1

    def _built(
        self, method: str, url: httpx.URL, headers: Mapping[str, str], seconds: float, content: bytes | None = None
    ) -> httpx.Request:
        if self._http.is_closed:
            raise ServiceError(ErrorKind.LOCAL, "This connection was closed.", outcome=Outcome.NOT_SENT)
        timeout = httpx.Timeout(seconds, connect=self.limits.connect, pool=self.limits.connect)
        return self._http.build_request(method, url, content=content, headers=headers, timeout=timeout)

    @asynccontextmanager
    async def _answer(
        self, http_request: httpx.Request, since: float, deadline: float
    ) -> AsyncIterator[httpx.Response]:
        """Yield the response after its headers arrived; its body must be read inside the block, before the deadline.

        Raises ServiceError if no complete response arrives.
        """
        failed: list[str] = []

        async def note_step(event: str, _: Mapping[str, Any]) -> None:
            step, state = event.rsplit(".", 1)
            if state == "failed":
                failed.append(step)

        http_request.extensions["trace"] = note_step
        try:
            async with asyncio.timeout_at(deadline):
                answer = await self._http.send(http_request, stream=True)
                try:
                    yield answer
                finally:
                    await answer.aclose()
        except NO_ANSWER as error:
            step = failed[0] if failed else ""
            raise failure(error, http_request.url, step, seconds=_now() - since) from None

    def _accepted(self, response: Response) -> Response:
        """Return a 2xx response that is not a web page (SERVERS.md: answers of success); raises ServiceError."""
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


def _followed(answer: httpx.Response) -> httpx.Request | None:
    """Return the request that follows a read's redirect within the same origin; None for any other response."""
    following = answer.next_request
    if following is None or answer.request.method != "GET" or not answer.headers["Location"]:
        return None
    return following if same_origin(following.url, answer.url) and not following.url.userinfo else None


async def _received(request: Request, answer: httpx.Response, most: int) -> Response:
    """Read a body of at most `most` bytes after decompression.

    Compressed data can expand a thousandfold, so decompression stops at the limit. Raises ServiceError: TOO_LARGE, or
    BROKEN for an encoding that was not requested.
    """
    response = Response(request, answer.status_code, headers=answer.headers)
    packing = answer.headers.get("Content-Encoding", "").strip().lower()
    if packing not in ("", "identity", "gzip"):
        words, advice = "The answer is packed in a way nobody asked for.", "Check the proxy in front of the server."
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
    """Return the minimum seconds before a request is sent again after that many retries; None if it is not.

    A write is retried once, and only if no connection was made. A read is retried twice, except in two cases: after a
    connection timeout, which the person should see at once, and in background polling, which repeats by itself.
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
    elif error.kind not in NOT_WHOLE and error.status not in PASSING:
        return None
    return wait if wait <= LONGEST_WAIT else None


def _final(request: Request, error: ServiceError) -> ServiceError:
    """Return the error to raise when no retry is left: a write that failed may have happened anyway."""
    if request.lacking and not_offered(error):
        return offers_nothing(request.lacking, error)
    no_http = error.kind is ErrorKind.WRONG_API and error.status is None
    if request.reads or not (error.kind in PERHAPS_DONE or no_http):
        return error
    return replace(
        error,
        kind=ErrorKind.UNKNOWN_OUTCOME,
        words=f"{NOT_KNOWN}{error.words}",
        advice="Check whether it did before you repeat it.",
        outcome=Outcome.UNKNOWN,
    )


def _checked_key(key: SecretStr | None) -> SecretStr | None:
    """Return a key that fits into a header, None for an empty one; raises ServiceError(LOCAL) for any other."""
    if key is None or not key.get_secret_value():
        return None
    if not all("!" <= letter <= "~" for letter in key.get_secret_value()):
        words = "The key has a blank, a line break or a letter in it that a key cannot have."
        raise unusable(words, "Copy it again, without what is around it.")
    return key


def _key_headers(key: SecretStr | None, header: KeyHeader) -> dict[str, str]:
    return {} if key is None else {header.value: header.holding(key.get_secret_value())}


def _now() -> float:
    return asyncio.get_running_loop().time()
