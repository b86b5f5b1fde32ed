"""Requests and answers with one server: one origin, one key, deadlines, a size limit, failures as ServiceErrors.

httpx is imported only where it has to be: that takes a tenth of the time until the deck stands.
"""

from __future__ import annotations

import asyncio
import ssl
import time
import zlib
from base64 import b64encode
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote

from pydantic import SecretStr

from quarterdeck.client.address import EXAMPLE, checked_address, is_loopback, shown_host
from quarterdeck.client.answers import accepted, received
from quarterdeck.client.bodies import encoded
from quarterdeck.client.calls import Call, Reply
from quarterdeck.client.endpoint import Endpoint, KeyHeader
from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.failures import failure, wire_failure
from quarterdeck.client.fault import WireError
from quarterdeck.client.in_process import AppRoad
from quarterdeck.client.key import Key
from quarterdeck.client.limits import Limits
from quarterdeck.client.paths import query_text
from quarterdeck.client.pool import Pool
from quarterdeck.client.request_log import LoggedRequest
from quarterdeck.client.road import Answer, Question, Road
from quarterdeck.client.secret_text import secrets_in
from quarterdeck.client.trust import Trust
from quarterdeck.client.url import Url, read_url

if TYPE_CHECKING:
    from quarterdeck.client.http import Transport
    from quarterdeck.client.in_process import App

IN_PROCESS = "http://127.0.0.1"
HOPS = 3
CONNECTIONS = 8
HEADERS = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": "quarterdeck"}


class Exchanges:
    """The exchanges with one server, each of a request for an answer; `transport` replaces the network, for tests.

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
        self._origin = url.origin
        self._network = transport
        self._trust = Trust(self.base, endpoint.ca_file, _usual_certificates)
        self._reads, self._writes = (
            # A kept connection may be closed by the server at the moment it is used again: no write is to be doubled.
            AppRoad(url, app) if app is not None else _road(url, self._trust.own, limits, transport, keep=keep)
            for keep in (True, False)
        )

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
        url, key = _url(address), _key(secret, KeyHeader.BEARER)
        headers = HEADERS | {"Host": url.authority, "Accept": accept}
        if key:
            key.sign(headers)
        elif url.user_info:
            headers["Authorization"] = f"Basic {b64encode(unquote(url.user_info).encode()).decode()}"
        with _failures_told(Call("GET", "/", seconds=seconds), url.authority, self.limits):
            async with asyncio.timeout(seconds):
                tls = await (self._trust.of_sandbox if of_sandbox else self._trust.elsewhere)(url.scheme)
                road = _road(url, tls, self.limits, self._network, keep=False)
                try:
                    answer = await road.ask(Question("GET", url.target, headers), seconds)
                    await answer.aclose()
                    return answer.status
                finally:
                    await road.aclose()

    async def _exchange(self, call: Call) -> Reply:
        """Send a call, follow a read within the same origin, and return an answer of status 2xx."""
        road = self._reads if call.method == "GET" else self._writes
        url = _url(self.base + call.path + query_text(call.query))
        body = None if call.body is None else encoded(call.body)
        for hops_left in reversed(range(HOPS + 1)):
            answer = await road.ask(self._question(call, url, body), call.seconds or self.limits.read)
            try:
                target = _next_hop(call, url, answer) if hops_left else None
                if target is None:
                    reply = await received(call, answer, call.largest or self.limits.body)
                    return accepted(call, reply, self._host, self._secrets(call))
                url = target
            finally:
                await answer.aclose()
        raise AssertionError("the last hop is never followed")

    def _question(self, call: Call, url: Url, body: bytes | None) -> Question:
        headers = {"Host": url.authority, **HEADERS}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if call.method != "GET":
            headers["Content-Length"] = str(len(body or b""))
        if self._key and url.origin == self._origin:
            self._key.sign(headers)
        return Question(call.method, url.target, headers, body or b"")

    def _secrets(self, call: Call) -> Iterator[str]:
        if self._key:
            yield self._key.secret.get_secret_value()
        yield from secrets_in(call.body)


def _road(url: Url, tls: ssl.SSLContext | None, limits: Limits, given: Transport | None, *, keep: bool) -> Road:
    """The way to an address: the one given, or the network, which is asked through no proxy for this machine."""
    if given is None and (is_loopback(str(url)) or not _has_proxy(url.scheme)):
        return Pool(url, tls, limits, most=CONNECTIONS, keep=keep)
    from quarterdeck.client import http

    most, kept = CONNECTIONS, CONNECTIONS if keep else 0
    client = http.through_proxies(tls, most=most, kept=kept) if given is None else http.over(given)
    return http.HttpxRoad(url, limits, client)


def _has_proxy(scheme: str) -> bool:
    from urllib.request import getproxies  # which imports all of `email`

    return bool(getproxies().keys() & {scheme, "all"})


def _usual_certificates() -> ssl.SSLContext:
    from quarterdeck.client.http import usual_certificates

    return usual_certificates()


@lru_cache(maxsize=32)
def _url(address: str) -> Url:
    """Take apart an address; the watch asks for the same ones again and again. Raises ValueError."""
    if address.isascii():
        return read_url(address)
    from quarterdeck.client.http import in_ascii

    return read_url(in_ascii(address))


def _readable(address: str) -> Url:
    try:
        return _url(address)
    except ValueError:
        raise ServiceError(ErrorKind.LOCAL, "The address cannot be read.", EXAMPLE, outcome=Outcome.NOT_SENT) from None


def _key(secret: SecretStr | None, header: KeyHeader) -> Key | None:
    return Key(secret, header) if secret and secret.get_secret_value() else None


def _next_hop(call: Call, url: Url, answer: Answer) -> Url | None:
    """Where a read is sent on to within its own origin; None for every other answer."""
    location = answer.headers.get("location")
    if call.method != "GET" or answer.status not in (301, 302, 303, 307, 308) or not location:
        return None
    try:
        target = url.joined(location)
    except ValueError:
        return None
    return target if target.origin == url.origin and not target.user_info else None


@contextmanager
def _failures_told(call: Call, host: str, limits: Limits) -> Iterator[None]:
    """Turn whatever goes wrong on the way to a server and back into a ServiceError."""
    try:
        yield
    except TimeoutError:
        raise failure(ErrorKind.STALLED, call, host, seconds=call.seconds or limits.total) from None
    except WireError as error:
        raise wire_failure(error, call, host, limits) from None
    except (OSError, zlib.error):
        raise failure(ErrorKind.BROKEN, call, host) from None
