"""The network: which addresses are asked, connections kept, certificates trusted, and what can fail there."""

import asyncio
import socket
import ssl
import zlib
from collections.abc import Awaitable, Callable
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.limits import Limits

EXAMPLE = "Write it like http://127.0.0.1:3000 or https://host.example/prefix."


def parsed(address: str) -> httpx.URL:
    """Take an address apart; raises ServiceError(LOCAL) for one that cannot be asked."""
    try:
        url, parts = httpx.URL(address), urlsplit(address)
        parts.port  # noqa: B018 - reading it is what checks it
    except (httpx.InvalidURL, ValueError):
        raise unusable("The address cannot be read.") from None
    if url.scheme not in ("http", "https") or not parts.hostname:
        raise unusable("The address needs http:// or https:// and a host.")
    return url


def checked_address(text: str) -> str:
    """Return a server's base address without a trailing slash.

    Raises ServiceError(LOCAL) for one without scheme or host, with a user name, key or query in it, or with a blank:
    such a part would travel to logs and proxies.
    """
    address = text.strip()
    parsed(address)
    parts = urlsplit(address)
    if " " in address or "@" in parts.netloc or parts.query or parts.fragment:
        words = "The address must hold no blank, user name or password, and end before '?' and '#'."
        raise unusable(words, "Leave that part out and give the key by itself.")
    return f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/")


def same_origin(one: httpx.URL, other: httpx.URL) -> bool:
    """Whether two addresses have scheme, host and port in common."""
    return (one.scheme, one.host, one.port) == (other.scheme, other.host, other.port)


def shown_host(address: str) -> str:
    """Host and port of an address, as a message names them."""
    return urlsplit(address).netloc.rpartition("@")[2]


def origin_of(address: str) -> str:
    """Scheme, host and port of any address, without user name, path and query."""
    return f"{urlsplit(address).scheme}://{shown_host(address)}"


def is_loopback(address: str) -> bool:
    """Whether an address is on this machine: such requests never go through a proxy."""
    host = urlsplit(address).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def sends_in_clear(address: str) -> bool:
    """Whether what is sent there, the key included, can be read on the way: plain http to another machine."""
    return urlsplit(address).scheme == "http" and not is_loopback(address)


def unusable(words: str, advice: str = EXAMPLE) -> ServiceError:
    """Make the error for an address, key, CA file or proxy that cannot be used."""
    return ServiceError(ErrorKind.LOCAL, words, advice, outcome=Outcome.NOT_SENT)


App = Callable[..., Awaitable[None]]
"""An ASGI application (ASGI 3.0)."""
CONNECTIONS = 8
STRANGER = "quarterdeck_stranger"
"""Extension of a request to an address that the server does not vouch for: a CA file of its own says nothing there."""
_READ_AGAIN = "Read again, or check that the server is up."
_WHICH_SCHEME = "Check the port and whether it is http:// or https://."


class Network(httpx.AsyncBaseTransport):
    """Reads share kept connections, every other request has one of its own; so has a request to another origin.

    A kept connection may be closed by the server at the moment it is used again: a write might be sent twice.
    `app` answers in the server's place, in this process; other origins are on the network all the same.
    Raises ServiceError(LOCAL) for a CA file or a proxy that cannot be used.
    """

    def __init__(self, url: str, ca_file: str | None, limits: Limits, app: App | None = None) -> None:
        self._url = parsed(url)
        self._app = app
        self._kept = limits.kept
        self._certificates = _certificates(url, ca_file)
        inside = app and httpx.ASGITransport(app, raise_app_exceptions=False)
        self._reads = inside or self._pool(url, self._certificates, kept=CONNECTIONS)
        self._writes = inside or self._pool(url, self._certificates, kept=0)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request over the connections that are meant for it."""
        if same_origin(request.url, self._url):
            pool = self._reads if request.method == "GET" else self._writes
        else:
            stranger = bool(request.extensions.get(STRANGER))
            pool = self._pool(str(request.url), await self.trusted(request.url, stranger=stranger), kept=0)
        return await pool.handle_async_request(request)

    async def aclose(self) -> None:
        """Close all connections; those to other origins close with their answer."""
        await self._reads.aclose()
        await self._writes.aclose()

    def in_process(self, url: httpx.URL) -> bool:
        """Whether what answers at an address is the app in this process."""
        return self._app is not None and same_origin(url, self._url)

    async def trusted(self, url: httpx.URL, *, stranger: bool = False) -> ssl.SSLContext:
        """The certificates that are trusted at an address: those of the server also where it vouches for it."""
        if url.scheme != "https":
            return _no_certificates()
        if self._url.scheme == "https" and not stranger:
            return self._certificates
        return await asyncio.to_thread(_usual_certificates)

    def _pool(self, url: str, certificates: ssl.SSLContext, *, kept: int) -> httpx.AsyncHTTPTransport:
        limits = httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=kept, keepalive_expiry=self._kept)
        try:
            return httpx.AsyncHTTPTransport(verify=certificates, proxy=proxy_for(url), limits=limits, trust_env=False)
        except (ImportError, ValueError, httpx.InvalidURL):
            words = "The proxy that the environment names cannot be used."
            advice = "It has to be one of http:// or https://; check HTTP_PROXY, HTTPS_PROXY and ALL_PROXY."
            raise unusable(words, advice) from None


def _certificates(url: str, ca_file: str | None) -> ssl.SSLContext:
    """What is trusted at the server's address: a CA file alone, else what is trusted everywhere."""
    if not url.startswith("https:"):
        return _no_certificates()
    if ca_file is None:
        return _usual_certificates()
    path = Path(ca_file).expanduser()
    try:
        return ssl.create_default_context(cafile=path)
    except (OSError, ValueError):
        words = f"The CA file {path} holds no certificate that can be read."
        raise unusable(words, "It has to be a PEM file.") from None


@cache
def _usual_certificates() -> ssl.SSLContext:
    """What is trusted everywhere; it takes 20 ms to load."""
    return httpx.create_ssl_context()


@cache
def _no_certificates() -> ssl.SSLContext:
    """For plain addresses."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def proxy_for(url: str) -> str | None:
    """The proxy of the environment for an address; none for this machine and for what NO_PROXY names."""
    proxies = getproxies()
    proxy = proxies.get(url.partition(":")[0]) or proxies.get("all")
    if not proxy or is_loopback(url) or proxy_bypass(shown_host(url)):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


NEVER_OPENED = frozenset({ErrorKind.DNS, ErrorKind.UNREACHABLE, ErrorKind.CONNECT_TIMEOUT})
"""No connection came about, so no server has seen the request."""
LOST = frozenset({ErrorKind.STALLED, ErrorKind.BROKEN})
"""The answer did not arrive whole."""
NO_ANSWER = (httpx.HTTPError, httpx.InvalidURL, TimeoutError, UnicodeError, zlib.error)
"""What it looks like when no whole answer arrives; UnicodeError is a host name that cannot be one."""


def failure(error: Exception, request: str, url: httpx.URL, step: str, *, seconds: float) -> ServiceError:
    """Make the error for a request that got no whole answer within `seconds`, for any of `NO_ANSWER`.

    `step` is the first one that failed, as httpx tells its `trace` extension: "connection.start_tls" for instance.
    The text of the cause is never used: it may repeat the key or the address.
    """
    time = f"{round(seconds, 1 if seconds < 10 else None):g} s"
    kind, words, advice = _explained(error, url.netloc.decode(), step, time, secure=url.scheme == "https")
    nothing_sent = kind in NEVER_OPENED or kind in (ErrorKind.TLS, ErrorKind.LOCAL)
    outcome = Outcome.NOT_SENT if nothing_sent else Outcome.NOT_APPLIED
    return ServiceError(kind, words, advice, request=request, outcome=outcome)


def _explained(error: Exception, host: str, step: str, time: str, *, secure: bool) -> tuple[ErrorKind, str, str]:
    """Kind, words and advice."""
    match error:
        case httpx.ConnectTimeout() | TimeoutError() if step.endswith("start_tls"):
            words = f"{host} took the connection but did not answer the TLS hello within {time}."
            return ErrorKind.CONNECT_TIMEOUT, words, _WHICH_SCHEME
        case httpx.PoolTimeout():
            words = f"No connection to {host} came free within {time}."
            return ErrorKind.CONNECT_TIMEOUT, words, "Other requests are waiting for their answers; read again."
        case httpx.TimeoutException() | TimeoutError():
            if isinstance(error, httpx.ConnectTimeout) or step.endswith("connect_tcp"):
                return ErrorKind.CONNECT_TIMEOUT, f"{host} did not take a connection within {time}.", _READ_AGAIN
            return ErrorKind.STALLED, f"{host} gave no complete answer within {time}.", _READ_AGAIN
        case httpx.ConnectError() | httpx.ProxyError() | UnicodeError():
            return _not_connected(_root_cause(error), host, step)
        case httpx.LocalProtocolError() | httpx.UnsupportedProtocol() | httpx.InvalidURL():
            words = "This request cannot be written as HTTP."
            return ErrorKind.LOCAL, words, "Check the address of this connection."
        case httpx.RemoteProtocolError() if step.endswith("response_headers") and "disconnected" not in str(error):
            return ErrorKind.WRONG_API, f"{host} does not answer in HTTP.", _WHICH_SCHEME
        case _ if step.endswith("response_headers") and not secure:
            words = f"{host} closed the connection without an answer."
            return ErrorKind.BROKEN, words, "Read again; if it stays so, the port may speak https."
        case _:
            words = f"The connection to {host} broke in the middle."
            return ErrorKind.BROKEN, words, "Read again; check the port if it stays so."


def _not_connected(cause: BaseException, host: str, step: str) -> tuple[ErrorKind, str, str]:
    """Tell a name that is not known and a broken TLS handshake from a server that cannot be reached.

    A name that cannot be one, with a part of more than 63 letters for instance, fails before anybody is asked.
    """
    if isinstance(cause, socket.gaierror | UnicodeError):
        words, advice = f"No machine is known by the name of {host}.", "Check the address, or the network here."
        return ErrorKind.DNS, words, advice
    if isinstance(cause, ssl.SSLCertVerificationError):
        words = f"The certificate of {host} is not trusted: {cause.verify_message.rstrip('.')}."
        return ErrorKind.TLS, words, "Check the address, or have the certificate put right."
    if isinstance(cause, ssl.SSLError) or step.endswith("start_tls"):
        words = f"No secure connection to {host}: it may not speak TLS at this port."
        return ErrorKind.TLS, words, _WHICH_SCHEME
    words, advice = f"Cannot connect to {host}.", "Check that the server runs and that the address is right."
    return ErrorKind.UNREACHABLE, words, advice


def _root_cause(error: BaseException) -> BaseException:
    """What an exception goes back to, through however many layers."""
    cause = error.__cause__ or error.__context__
    return error if cause is None else _root_cause(cause)
