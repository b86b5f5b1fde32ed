"""The only module that speaks HTTP: one origin, one key, deadlines, a size limit, failures as ServiceErrors."""

import asyncio
import ssl
import time
import zlib
from collections import deque
from collections.abc import Awaitable, Callable, Generator
from datetime import UTC, datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path

import httpx
from pydantic import SecretStr

from quarterdeck.service.address import checked_address, is_loopback, origin_of, shown_host
from quarterdeck.service.bodies import Unpacker, encoded, wrong_api
from quarterdeck.service.calls import Call, Reply
from quarterdeck.service.endpoint import Endpoint, KeyHeader
from quarterdeck.service.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.service.failures import connect_kind, failure, root_cause
from quarterdeck.service.limits import Limits
from quarterdeck.service.paths import query_text
from quarterdeck.service.refusals import refusal
from quarterdeck.service.request_log import LoggedRequest
from quarterdeck.service.secret_text import secrets_in

App = Callable[..., Awaitable[None]]
"""An ASGI application."""
Transport = httpx.AsyncBaseTransport

IN_PROCESS = "http://127.0.0.1"
HOPS = 3
EITHER = {"Accept": "application/json, text/event-stream"}
"""What a tool server may answer with, whichever way it speaks."""
CONNECTIONS = 8


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
        self._key = key if key and key.get_secret_value() else None
        self._auth = _KeyAuth(self._key, endpoint.header, httpx.URL(self.base)) if self._key else None
        self._network = transport
        self._elsewhere: dict[str, ssl.SSLContext] = {}
        inner = httpx.ASGITransport(app, raise_app_exceptions=False) if app else transport
        tls = self._tls = _tls(self.base, endpoint.ca_file)
        self._reads = _client(self.base, tls, limits, inner, kept=CONNECTIONS)
        # A kept connection may be closed by the server at the moment it is used again, and a write must not be doubled.
        self._writes = _client(self.base, tls, limits, inner, kept=0)

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
            async with asyncio.timeout_at(deadline):
                reply = await self._exchange(call)
            status = reply.status
        except ServiceError as error:
            status, kind = error.status, error.kind
            raise
        except TimeoutError:
            kind = ErrorKind.STALLED
            raise failure(kind, call, self._host, seconds=self.seconds(call)) from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError, zlib.error) as error:
            kind = _kind(error)
            raise failure(kind, call, self._host, root_cause(error), self._ran_out(error, call)) from None
        else:
            return reply
        finally:
            ms = (time.perf_counter() - started) * 1000
            self.log.append(LoggedRequest(call.method, call.path, status, kind, ms, when))

    async def knock(self, address: str) -> bool:
        """Ask `/alive` at the origin of another address, without any key; whether anything answers there."""
        try:
            async with (
                asyncio.timeout(self.limits.knock),
                _client(address, await self._trust_of_sandboxes(address), self.limits, self._network, kept=0) as client,
                client.stream("GET", f"{origin_of(address)}/alive") as response,
            ):
                return response.status_code < 500
        except (OSError, httpx.HTTPError, httpx.InvalidURL, ValueError):
            return False

    async def reach(self, address: str, key: SecretStr | None) -> int:
        """Read no more than the status at another address, with a key that belongs to that address or none.

        Nothing is followed, and the key of the server is not sent. Raises ServiceError where nothing answers.
        """
        call = Call("GET", "/", seconds=self.limits.reach)
        try:
            host, url = shown_host(address), httpx.URL(address)
            auth = _KeyAuth(key, KeyHeader.BEARER, url) if key and key.get_secret_value() else None
            async with (
                asyncio.timeout(self.limits.reach),
                _client(address, await self._trust(url.scheme), self.limits, self._network, kept=0) as client,
                client.stream("GET", url, headers=EITHER, auth=auth, follow_redirects=False) as response,
            ):
                return response.status_code
        except TimeoutError:
            raise failure(ErrorKind.STALLED, call, host, seconds=self.limits.reach) from None
        except (httpx.HTTPError, OSError) as error:
            raise failure(_kind(error), call, host, root_cause(error), self.limits.reach) from None
        except (httpx.InvalidURL, ValueError):
            raise failure(ErrorKind.LOCAL, call, "") from None

    async def _trust_of_sandboxes(self, address: str) -> ssl.SSLContext:
        """The certificates trusted at the address of a sandbox: those of its server where both have any."""
        schemes = {httpx.URL(address).scheme, httpx.URL(self.base).scheme}
        return self._tls if schemes == {"https"} else await self._trust(httpx.URL(address).scheme)

    async def _trust(self, scheme: str) -> ssl.SSLContext:
        """The certificates trusted at other addresses, loaded once: that takes long."""
        if scheme not in self._elsewhere:
            self._elsewhere[scheme] = await asyncio.to_thread(_tls, f"{scheme}:")
        return self._elsewhere[scheme]

    def _ran_out(self, error: Exception, call: Call) -> float:
        match error:
            case httpx.ConnectTimeout():
                return self.limits.connect
            case httpx.PoolTimeout():
                return self.limits.pool
            case _:
                return call.seconds or self.limits.read

    async def _exchange(self, call: Call) -> Reply:
        """Send a call, follow a read within the same origin, and return an answer of status 2xx."""
        client = self._reads if call.method == "GET" else self._writes
        url = httpx.URL(self.base + call.path + query_text(call.query))
        for hops_left in reversed(range(HOPS + 1)):
            request = client.build_request(
                call.method,
                url,
                content=None if call.body is None else encoded(call.body),
                headers=None if call.body is None else {"Content-Type": "application/json"},
                timeout=_timeout(self.limits, call.seconds),
            )
            response = await client.send(request, auth=self._auth, stream=True, follow_redirects=False)
            try:
                target = _next_hop(call, response) if hops_left else None
                if target is None:
                    return self._accepted(call, await self._received(call, response))
                url = target
            finally:
                await response.aclose()
        raise AssertionError("the last hop is never followed")

    async def _received(self, call: Call, response: httpx.Response) -> Reply:
        status, headers = response.status_code, response.headers
        largest = call.largest or self.limits.body
        try:
            unpacker = Unpacker(headers.get("Content-Encoding", "").strip().lower(), largest)
        except ValueError:
            words = "The server packs its answers in a way nobody asked for."
            raise wrong_api(words, str(call), status) from None
        async for piece in response.aiter_raw():
            if not unpacker.feed(piece):
                words = f"The answer is larger than {largest / 2**20:g} MB."
                advice = "Check the address: the service has no answers of this size."
                raise ServiceError(ErrorKind.TOO_LARGE, words, advice, request=str(call), status=status)
        return Reply(
            status,
            bytes(unpacker.body),
            content_type=headers.get("Content-Type", ""),
            retry_after=headers.get("Retry-After"),
            location=headers.get("Location"),
        )

    def _accepted(self, call: Call, reply: Reply) -> Reply:
        if not 200 <= reply.status < 300:
            own = (self._key.get_secret_value(),) if self._key else ()
            raise refusal(call, reply, (*own, *secrets_in(call.body)))
        if reply.is_html:
            raise wrong_api(f"{self._host} answered with a web page instead of data.", str(call), reply.status)
        return reply


class _KeyAuth(httpx.Auth):
    """Adds the key to requests of its own origin, and to no other; no header of ours ever holds it."""

    def __init__(self, key: SecretStr, header: KeyHeader, base: httpx.URL) -> None:
        if not all("!" <= letter <= "~" for letter in key.get_secret_value()):
            words = "The key has a blank, a line break or a letter in it that a key cannot have."
            raise ServiceError(
                ErrorKind.LOCAL, words, "Copy it again, without what is around it.", outcome=Outcome.NOT_SENT
            )
        self._key = key
        self._header = header
        self._origin = _origin(base)

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        if _origin(request.url) == self._origin:
            prefix = "Bearer " if self._header is KeyHeader.BEARER else ""
            request.headers[self._header.value] = prefix + self._key.get_secret_value()
        yield request


def _client(
    address: str, tls: ssl.SSLContext, limits: Limits, transport: Transport | None, *, kept: int
) -> httpx.AsyncClient:
    """Make a client that keeps no cookies, follows nothing by itself, and for this machine asks no proxy."""
    return httpx.AsyncClient(
        transport=transport,
        verify=tls,
        trust_env=not is_loopback(address),
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        timeout=_timeout(limits, None),
        limits=httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=kept),
        headers={"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": "quarterdeck"},
    )


def _tls(address: str, ca_file: str | None = None) -> ssl.SSLContext:
    """The certificates trusted; a plain address gets a context that trusts none, since loading them takes long.

    A CA file is trusted alone; raises ServiceError(LOCAL) for one that cannot be used.
    """
    if not address.startswith("https:"):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if ca_file is None:
        return httpx.create_ssl_context()
    path = Path(ca_file).expanduser()
    try:
        return ssl.create_default_context(cafile=path)
    except (OSError, ValueError):
        words, advice = f"The CA file {path} holds no certificate that can be read.", "It has to be a PEM file."
        raise ServiceError(ErrorKind.LOCAL, words, advice, outcome=Outcome.NOT_SENT) from None


def _timeout(limits: Limits, seconds: float | None) -> httpx.Timeout:
    return httpx.Timeout(connect=limits.connect, pool=limits.pool, write=limits.write, read=seconds or limits.read)


def _next_hop(call: Call, response: httpx.Response) -> httpx.URL | None:
    """Where a read is sent on to within its own origin; None for every other answer."""
    location = response.headers.get("Location")
    if call.method != "GET" or response.status_code not in (301, 302, 303, 307, 308) or not location:
        return None
    try:
        target = response.url.join(location)
    except httpx.InvalidURL:
        return None
    return target if _origin(target) == _origin(response.url) and not target.userinfo else None


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _kind(error: Exception) -> ErrorKind:
    match error:
        case httpx.ConnectTimeout() | httpx.PoolTimeout():
            return ErrorKind.CONNECT_TIMEOUT
        case httpx.TimeoutException():
            return ErrorKind.STALLED
        case httpx.ConnectError() | httpx.ProxyError():
            return connect_kind(root_cause(error))
        case httpx.LocalProtocolError() | httpx.UnsupportedProtocol() | httpx.InvalidURL():
            return ErrorKind.LOCAL
        case httpx.RemoteProtocolError() if any(word in str(error) for word in ("illegal", "too long")):
            return ErrorKind.WRONG_API
        case _:
            return ErrorKind.BROKEN
