"""The only module that names httpx: one origin, one key, deadlines, a size limit, failures as ServiceErrors."""

import asyncio
import ssl
import time
import zlib
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from urllib.request import getproxies

import httpx

from quarterdeck.service.address import EXAMPLE, checked_address, is_loopback, shown_host
from quarterdeck.service.answers import accepted, received
from quarterdeck.service.bodies import encoded
from quarterdeck.service.calls import Call, Reply
from quarterdeck.service.endpoint import Endpoint, KeyHeader
from quarterdeck.service.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.service.failures import connect_kind, failure, root_cause
from quarterdeck.service.key import Key
from quarterdeck.service.limits import Limits
from quarterdeck.service.models.secret_str import SecretStr
from quarterdeck.service.paths import Query, query_text
from quarterdeck.service.pool import Answer, Origin, Pool, Question
from quarterdeck.service.request_log import LoggedRequest
from quarterdeck.service.secret_text import secrets_in
from quarterdeck.service.trust import Trust
from quarterdeck.service.wire import Fault, WireError

App = Callable[..., Awaitable[None]]
"""An ASGI application."""
Transport = httpx.AsyncBaseTransport

IN_PROCESS = "http://127.0.0.1"
HOPS = 3
CONNECTIONS = 8
HEADERS = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": "quarterdeck"}


class Http:
    """Exchanges one request for one answer with one server; `transport` replaces the network, for tests.

    Raises ServiceError(LOCAL) for an address or a key that cannot be used.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        key: SecretStr | None = None,
        *,
        app: App | None = None,
        base_url: str | None = None,
        transport: Transport | None = None,
        limits: Limits,
    ) -> None:
        self.limits = limits
        self.log: deque[LoggedRequest] = deque(maxlen=limits.log)
        self.base = checked_address(base_url or endpoint.url or (IN_PROCESS if app else ""))
        self._read_only = endpoint.read_only
        self._host = shown_host(self.base)
        self._key = _key(key, endpoint.header)
        url = _readable(self.base)
        self._origin = _origin(url)
        self._network = transport
        inner = httpx.ASGITransport(app, raise_app_exceptions=False) if app else transport
        self._trust = Trust(self.base, endpoint.ca_file, httpx.create_ssl_context)
        self._reads = _road(url, self._trust.own, limits, inner, keep=True)
        # A kept connection may be closed by the server at the moment it is used again, and a write must not be doubled.
        self._writes = _road(url, self._trust.own, limits, inner, keep=False)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._reads.aclose()
        await self._writes.aclose()

    def seconds(self, call: Call) -> float:
        """Time a call may take from the first byte to the last."""
        return call.seconds or self.limits.total

    async def attempt(self, call: Call, deadline: float) -> Reply:
        """Send a call once, with `deadline` on the loop's clock, log it, and return an answer of status 2xx.

        Raises ServiceError for everything else, and before the network for a write on a read-only connection.
        """
        if self._read_only and call.method != "GET":
            words, advice = "This connection is read-only.", "Open it without --read-only to change anything."
            raise ServiceError(ErrorKind.READ_ONLY, words, advice, request=str(call), outcome=Outcome.NOT_SENT)
        started, when = time.perf_counter(), datetime.now(UTC)
        status: int | None = None
        kind: ErrorKind | None = None
        try:
            with _failures_told(call, self._host, self.limits):
                async with asyncio.timeout_at(deadline):
                    reply = await self._exchange(call)
        except ServiceError as error:
            status, kind = error.status, error.kind
            raise
        else:
            status = reply.status
            return reply
        finally:
            ms = (time.perf_counter() - started) * 1000
            self.log.append(LoggedRequest(call.method, call.path, status, kind, ms, when))

    async def status_at(
        self,
        address: str,
        seconds: float,
        *,
        accept: str = HEADERS["Accept"],
        secret: SecretStr | None = None,
        of_sandbox: bool = False,
    ) -> int:
        """Read no more than the status at another address, with a key that belongs to that address or none.

        Nothing is followed, and the key of the server is not sent. `of_sandbox`: the server vouches for the address.
        Raises ServiceError where nothing answers, and ValueError for what cannot be read as an address.
        """
        call, host = Call("GET", "/", seconds=seconds), shown_host(address)
        with _failures_told(call, host, self.limits):
            url = httpx.URL(address)
            request = self._request(call, url, {"Accept": accept})
            if key := _key(secret, KeyHeader.BEARER):
                key.sign(request.headers)
            elif url.userinfo:
                request = next(httpx.BasicAuth(url.username, url.password).auth_flow(request))
            async with asyncio.timeout(seconds):
                tls = await (self._trust.of_sandbox if of_sandbox else self._trust.elsewhere)(url.scheme)
                async with _road(url, tls, self.limits, self._network, keep=False) as road:
                    response = await road.handle_async_request(request)
                    await response.aclose()
                    return response.status_code

    async def _exchange(self, call: Call) -> Reply:
        """Send a call, follow a read within the same origin, and return an answer of status 2xx."""
        road = self._reads if call.method == "GET" else self._writes
        url = _url(self.base, call.path, call.query)
        body = None if call.body is None else encoded(call.body)
        for hops_left in reversed(range(HOPS + 1)):
            request = self._request(call, url, {}, body)
            if self._key and _origin(url) == self._origin:
                self._key.sign(request.headers)
            response = await road.handle_async_request(request)
            try:
                target = _next_hop(request, response) if hops_left else None
                if target is None:
                    status, headers, pieces = response.status_code, response.headers, response.aiter_raw()
                    reply = await received(call, status, headers, pieces, call.largest or self.limits.body)
                    return accepted(call, reply, self._host, self._secrets(call))
                url = target
            finally:
                await response.aclose()
        raise AssertionError("the last hop is never followed")

    def _request(self, call: Call, url: httpx.URL, headers: dict[str, str], body: bytes | None = None) -> httpx.Request:
        limits, read = self.limits, call.seconds or self.limits.read
        timeout = {"connect": limits.connect, "pool": limits.pool, "write": limits.write, "read": read}
        headers = HEADERS | headers if body is None else HEADERS | headers | {"Content-Type": "application/json"}
        return httpx.Request(call.method, url, headers=headers, content=body, extensions={"timeout": timeout})

    def _secrets(self, call: Call) -> Iterator[str]:
        if self._key:
            yield self._key.secret.get_secret_value()
        yield from secrets_in(call.body)


class _Wire(httpx.AsyncBaseTransport):
    """The straight road to one origin; what goes wrong there is a WireError."""

    def __init__(self, url: httpx.URL, tls: ssl.SSLContext | None, limits: Limits, *, keep: bool) -> None:
        secure = url.scheme == "https"
        if not (secure or url.scheme == "http") or not url.host or secure is (tls is None):
            raise httpx.UnsupportedProtocol("")
        origin = Origin(url.raw_host.decode(), url.port or (443 if secure else 80), tls)
        self._pool = Pool(origin, limits, most=CONNECTIONS, keep=keep)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        body = await request.aread()
        question = Question(request.method.encode(), request.url.raw_path, request.headers.raw, body)
        answer = await self._pool.ask(question, request.extensions["timeout"]["read"])
        return httpx.Response(answer.status, headers=answer.headers, stream=_Body(answer))

    async def aclose(self) -> None:
        await self._pool.aclose()


class _Body(httpx.AsyncByteStream):
    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._answer:
            yield piece

    async def aclose(self) -> None:
        self._answer.close()


class _Proxied(httpx.AsyncBaseTransport):
    """The road of httpx, which knows the proxies of the environment and what is not asked through them."""

    def __init__(self, tls: ssl.SSLContext | None, *, keep: bool) -> None:
        kept = CONNECTIONS if keep else 0
        limits = httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=kept)
        self._client = httpx.AsyncClient(verify=tls or True, limits=limits)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return await self._client.send(request, auth=httpx.Auth(), stream=True, follow_redirects=False)

    async def aclose(self) -> None:
        await self._client.aclose()


def _road(
    url: httpx.URL, tls: ssl.SSLContext | None, limits: Limits, given: Transport | None, *, keep: bool
) -> Transport:
    """The way to an address: the one given, or the network, which is asked through no proxy for this machine."""
    if given is not None:
        return given
    if not is_loopback(str(url)) and getproxies().keys() & {url.scheme, "all"}:
        return _Proxied(tls, keep=keep)
    return _Wire(url, tls, limits, keep=keep)


def _readable(address: str) -> httpx.URL:
    try:
        return httpx.URL(address)
    except httpx.InvalidURL:
        raise ServiceError(ErrorKind.LOCAL, "The address cannot be read.", EXAMPLE, outcome=Outcome.NOT_SENT) from None


def _key(secret: SecretStr | None, header: KeyHeader) -> Key | None:
    return Key(secret, header) if secret and secret.get_secret_value() else None


@lru_cache(maxsize=32)
def _url(base: str, path: str, query: Query) -> httpx.URL:
    """The address of a call; the watch asks for the same ones again and again."""
    return httpx.URL(base + path + query_text(query))


def _next_hop(request: httpx.Request, response: httpx.Response) -> httpx.URL | None:
    """Where a read is sent on to within its own origin; None for every other answer."""
    location = response.headers.get("Location")
    if request.method != "GET" or response.status_code not in (301, 302, 303, 307, 308) or not location:
        return None
    try:
        target = request.url.join(location)
    except httpx.InvalidURL:
        return None
    return target if _origin(target) == _origin(request.url) and not target.userinfo else None


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


@contextmanager
def _failures_told(call: Call, host: str, limits: Limits) -> Iterator[None]:
    """Turn whatever goes wrong on the way to a server and back into a ServiceError."""
    try:
        yield
    except TimeoutError:
        raise failure(ErrorKind.STALLED, call, host, seconds=call.seconds or limits.total) from None
    except (WireError, httpx.HTTPError, httpx.InvalidURL, OSError, zlib.error) as error:
        kind, seconds = _kind_and_seconds(error, call, limits)
        raise failure(kind, call, host, root_cause(error), seconds) from None


def _kind_and_seconds(error: Exception, call: Call, limits: Limits) -> tuple[ErrorKind, float]:
    """What an error means, and the time that ran out where one did."""
    read = call.seconds or limits.read
    match error:
        case httpx.ConnectTimeout() | WireError(fault=Fault.CONNECT_TIMEOUT):
            return ErrorKind.CONNECT_TIMEOUT, limits.connect
        case httpx.PoolTimeout() | WireError(fault=Fault.POOL_TIMEOUT):
            return ErrorKind.CONNECT_TIMEOUT, limits.pool
        case httpx.TimeoutException() | WireError(fault=Fault.READ_TIMEOUT | Fault.WRITE_TIMEOUT):
            return ErrorKind.STALLED, read
        case httpx.ConnectError() | httpx.ProxyError() | WireError(fault=Fault.CONNECT):
            return connect_kind(root_cause(error)), read
        case httpx.LocalProtocolError() | httpx.UnsupportedProtocol() | httpx.InvalidURL():
            return ErrorKind.LOCAL, read
        case WireError(fault=Fault.BAD_REQUEST):
            return ErrorKind.LOCAL, read
        case httpx.RemoteProtocolError() | WireError(fault=Fault.BAD_ANSWER) if _is_no_http(error):
            return ErrorKind.WRONG_API, read
        case _:
            return ErrorKind.BROKEN, read


def _is_no_http(error: Exception) -> bool:
    return any(word in str(error) for word in ("illegal", "too long"))
