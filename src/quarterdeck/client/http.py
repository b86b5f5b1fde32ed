"""The only module that names httpx: the road through a proxy, or over a test's transport.

A server that is reached straight over the network is spoken to by `pool.py`, one in this process by `in_process.py`.
"""

import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import httpx

from quarterdeck.client.fault import Fault, WireError
from quarterdeck.client.limits import Limits
from quarterdeck.client.road import Answer, Question, readable
from quarterdeck.client.url import Url

Transport = httpx.AsyncBaseTransport


class HttpxRoad:
    """The road of a client of httpx."""

    def __init__(self, url: Url, limits: Limits, client: httpx.AsyncClient) -> None:
        self._origin = f"{url.scheme}://{url.authority}"
        self._limits = limits
        self._client = client

    async def ask(self, question: Question, seconds: float) -> Answer:
        """Send a request and read the head of its answer, as `Road` says."""
        limits = self._limits
        timeout = {"connect": limits.connect, "pool": limits.pool, "write": limits.write, "read": seconds}
        with _faults_told():
            request = httpx.Request(
                question.method,
                self._origin + question.target,
                headers=question.headers,
                content=question.body,
                extensions={"timeout": timeout},
            )
            return _HttpxAnswer(await self._client.send(request, auth=httpx.Auth(), stream=True))

    async def aclose(self) -> None:
        """Close its connections."""
        await self._client.aclose()


class _HttpxAnswer:
    def __init__(self, response: httpx.Response) -> None:
        self.status = response.status_code
        self.headers = readable(response.headers.raw)
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _faults_told():
            async for piece in self._response.aiter_raw():
                yield piece

    async def aclose(self) -> None:
        await self._response.aclose()


def over(transport: Transport) -> httpx.AsyncClient:
    """Make a client for one transport."""
    return httpx.AsyncClient(transport=transport, trust_env=False)


def through_proxies(tls: ssl.SSLContext | None, *, most: int, kept: int) -> httpx.AsyncClient:
    """Make a client that knows the proxies of the environment and what is not asked through them."""
    limits = httpx.Limits(max_connections=most, max_keepalive_connections=kept)
    return httpx.AsyncClient(verify=tls or True, limits=limits)


def usual_certificates() -> ssl.SSLContext:
    """Load the certificates that are trusted everywhere."""
    return httpx.create_ssl_context()


def in_ascii(address: str) -> str:
    """Write an address in ASCII, its host too (RFC 5891); raises ValueError for what is none."""
    try:
        return str(httpx.URL(address))
    except httpx.InvalidURL:
        raise ValueError("not an address") from None


@contextmanager
def _faults_told() -> Iterator[None]:
    """Tell what httpx raises as the faults of the wire."""
    try:
        yield
    except httpx.ConnectTimeout as error:
        raise WireError(Fault.CONNECT_TIMEOUT) from error
    except httpx.PoolTimeout as error:
        raise WireError(Fault.POOL_TIMEOUT) from error
    except httpx.TimeoutException as error:
        raise WireError(Fault.READ_TIMEOUT) from error
    except (httpx.ConnectError, httpx.ProxyError) as error:
        raise WireError(Fault.CONNECT) from error
    except (httpx.LocalProtocolError, httpx.UnsupportedProtocol, httpx.InvalidURL):
        raise WireError(Fault.BAD_REQUEST) from None  # the text of the cause may hold the key
    except httpx.RemoteProtocolError as error:
        no_http = any(word in str(error) for word in ("illegal", "too long"))
        raise WireError(Fault.NO_HTTP if no_http else Fault.BAD_ANSWER, str(error)) from error
    except httpx.HTTPError as error:
        raise WireError(Fault.READ) from error
