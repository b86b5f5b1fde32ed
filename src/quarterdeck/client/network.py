"""The network: addresses, connections, trusted certificates, proxies, and the errors that can occur."""

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
    """Parse an address; raises ServiceError(LOCAL) if it cannot be requested."""
    try:
        url, parts = httpx.URL(address), urlsplit(address)
        parts.port  # noqa: B018 - reading the port validates it
    except (httpx.InvalidURL, ValueError):
        raise unusable("The address cannot be read.") from None
    if url.scheme not in ("http", "https") or not parts.hostname:
        raise unusable("The address needs http:// or https:// and a host.")
    return url


def checked_address(text: str) -> str:
    """Return a server's base address without a trailing slash.

    Raises ServiceError(LOCAL) if scheme or host is missing, or if it contains a user name, a query, a fragment or a
    space: such a part would end up in logs and proxies.
    """
    address = text.strip()
    parsed(address)
    parts = urlsplit(address)
    if " " in address or "@" in parts.netloc or parts.query or parts.fragment:
        words = "The address must not contain spaces, a user name, a password, '?' or '#'."
        raise unusable(words, "Leave that part out; the key is given separately.")
    return f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/")


def same_origin(one: httpx.URL, other: httpx.URL) -> bool:
    """Whether two addresses have the same scheme, host and port."""
    return (one.scheme, one.host, one.port) == (other.scheme, other.host, other.port)


def shown_host(address: str) -> str:
    """Return host and port of an address for messages."""
    return urlsplit(address).netloc.rpartition("@")[2]


def origin_of(address: str) -> str:
    """Return scheme, host and port of any address, without user name, path and query."""
    return f"{urlsplit(address).scheme}://{shown_host(address)}"


def is_loopback(address: str) -> bool:
    """Whether an address is on this machine; such requests never use a proxy."""
    host = (urlsplit(address).hostname or "").rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback or ip_address(host).is_unspecified
    except ValueError:
        return False


def sends_in_clear(address: str) -> bool:
    """Whether requests to an address are unencrypted on the network: plain http to another machine."""
    return urlsplit(address).scheme == "http" and not is_loopback(address)


def unusable(words: str, advice: str = EXAMPLE) -> ServiceError:
    """Return the error for an address, key, CA file or proxy that cannot be used."""
    return ServiceError(ErrorKind.LOCAL, words, advice, outcome=Outcome.NOT_SENT)


App = Callable[..., Awaitable[None]]
"""An ASGI application (ASGI 3.0)."""
CONNECTIONS = 8
UNTRUSTED = "quarterdeck_untrusted"
"""Request extension for an address that the server did not name: the server's own CA file is not used there."""
_READ_AGAIN = "Read again, or check that the server is up."
_NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For plain http."""
_WHICH_SCHEME = "Check the port and whether it is http:// or https://."


class Network(httpx.AsyncBaseTransport):
    """Reads share kept connections; each write, and each request to another origin, has a connection of its own.

    A server may close a kept connection at the moment it is reused, so that a write might be sent twice. `app` responds
    in this process instead of the server; other origins are still on the network. Raises ServiceError(LOCAL) for a CA
    file or a proxy that cannot be used.
    """

    def __init__(self, url: str, ca_file: str | None, limits: Limits, app: App | None = None) -> None:
        self._url = parsed(url)
        self._kept = limits.kept
        self._certificates = certificates(url, ca_file)
        inside = app and httpx.ASGITransport(app, raise_app_exceptions=False)
        self._reads = inside or self._pool(url, self._certificates, kept=CONNECTIONS)
        self._writes = inside or self._pool(url, self._certificates, kept=0)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request over the right kind of connection."""
        if same_origin(request.url, self._url):
            pool = self._reads if request.method == "GET" else self._writes
        else:
            untrusted = bool(request.extensions.get(UNTRUSTED))
            pool = self._pool(str(request.url), await self.trusted(request.url, untrusted=untrusted), kept=0)
        return await pool.handle_async_request(request)

    async def aclose(self) -> None:
        """Close all connections; those to other origins close with their response."""
        await self._reads.aclose()
        await self._writes.aclose()

    async def trusted(self, url: httpx.URL, *, untrusted: bool = False) -> ssl.SSLContext:
        """Return the certificates to trust at an address; at addresses that the server named, those of the server."""
        if url.scheme != "https":
            return _NO_CERTIFICATES
        if self._url.scheme == "https" and not untrusted:
            return self._certificates
        return await asyncio.to_thread(_usual_certificates)

    def _pool(self, url: str, certificates: ssl.SSLContext, *, kept: int) -> httpx.AsyncHTTPTransport:
        limits = httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=kept, keepalive_expiry=self._kept)
        proxy = proxy_for(url)
        try:
            urlsplit(proxy or "").port  # noqa: B018 - reading the port validates it
            return httpx.AsyncHTTPTransport(verify=certificates, proxy=proxy, limits=limits, trust_env=False)
        except (ImportError, ValueError, httpx.InvalidURL):
            words = "The proxy that the environment names cannot be used."
            advice = "It has to be one of http:// or https://; check HTTP_PROXY, HTTPS_PROXY and ALL_PROXY."
            raise unusable(words, advice) from None


def certificates(url: str, ca_file: str | None) -> ssl.SSLContext:
    """Return the certificates to trust at the server's address: those of a CA file, otherwise the usual ones."""
    if not url.startswith("https:"):
        return _NO_CERTIFICATES
    if ca_file is None:
        return _usual_certificates()
    try:
        path = Path(ca_file).expanduser()
        if not path.is_file():  # reading a named pipe would wait for ever
            raise unusable(f"There is no CA file {ca_file}.", "Give the whole path of a PEM file.")
        return ssl.create_default_context(cafile=path)
    except (ssl.SSLError, ValueError):
        words = f"The CA file {ca_file} holds no certificate that can be read."
        raise unusable(words, "It has to be a PEM file.") from None
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "nobody here has that home folder"
        raise unusable(f"The CA file {ca_file} cannot be read: {reason}.", "Check its path.") from None


@cache
def _usual_certificates() -> ssl.SSLContext:
    """Return the usual certificates; loading them takes 20 ms."""
    return httpx.create_ssl_context()


def proxy_for(url: str) -> str | None:
    """Return the environment's proxy for an address; None for this machine and for hosts in NO_PROXY."""
    proxies = getproxies()
    proxy = proxies.get(url.partition(":")[0]) or proxies.get("all")
    if not proxy or is_loopback(url) or proxy_bypass(shown_host(url)):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


NEVER_OPENED = frozenset({ErrorKind.DNS, ErrorKind.UNREACHABLE, ErrorKind.CONNECT_TIMEOUT})
"""No connection was made, so no server has received the request."""
NOT_WHOLE = frozenset({ErrorKind.STALLED, ErrorKind.BROKEN})
"""The response did not arrive completely."""
NO_ANSWER = (httpx.HTTPError, httpx.InvalidURL, TimeoutError, UnicodeError, ssl.SSLError, zlib.error)
"""Exceptions that mean that no complete response arrived: UnicodeError is an invalid host name, SSLError an alert
or a broken record after the handshake, for example where the client has to have a certificate."""


def failure(error: Exception, url: httpx.URL, step: str, *, seconds: float) -> ServiceError:
    """Return the error for a request without a complete response after `seconds`; `error` is one of `NO_ANSWER`.

    `step` is the first step that failed, as named by httpx's `trace` extension, for example "connection.start_tls". The
    text of the exception is never used: it may contain the key or the address.
    """
    time = f"{round(seconds, 1 if seconds < 10 else None):g} s"
    proxy = proxy_for(str(url)) if step.endswith("connect_tcp") else None
    host = f"the proxy {shown_host(proxy)}" if proxy is not None else url.netloc.decode()
    kind, words, advice = _explained(error, host, step, time, secure=url.scheme == "https")
    nothing_sent = kind in NEVER_OPENED or kind in (ErrorKind.TLS, ErrorKind.LOCAL)
    outcome = Outcome.NOT_SENT if nothing_sent else Outcome.NOT_APPLIED
    return ServiceError(kind, words, advice, outcome=outcome)


def _explained(error: Exception, host: str, step: str, time: str, *, secure: bool) -> tuple[ErrorKind, str, str]:
    """Return kind, words and advice."""
    match error:
        case httpx.ConnectTimeout() | TimeoutError() if step.endswith("start_tls"):
            words = f"{host} took the connection but did not answer the TLS hello within {time}."
            return ErrorKind.CONNECT_TIMEOUT, words, _WHICH_SCHEME
        case httpx.PoolTimeout():
            words = f"No connection to {host} came free within {time}."
            return ErrorKind.CONNECT_TIMEOUT, words, "Other requests are still waiting for responses; try again."
        case httpx.TimeoutException() | TimeoutError():
            if isinstance(error, httpx.ConnectTimeout) or step.endswith("connect_tcp"):
                return ErrorKind.CONNECT_TIMEOUT, f"{host} did not take a connection within {time}.", _READ_AGAIN
            return ErrorKind.STALLED, f"{host} sent no complete response within {time}.", _READ_AGAIN
        case httpx.ProxyError():
            words = f"The proxy that the environment names does not let a connection to {host} through."
            return ErrorKind.UNREACHABLE, words, "Check HTTPS_PROXY; NO_PROXY names the hosts that need none."
        case httpx.ConnectError() | UnicodeError():
            return _not_connected(_root_cause(error), host, step)
        case httpx.LocalProtocolError() | httpx.UnsupportedProtocol() | httpx.InvalidURL():
            words = "This request cannot be written as HTTP."
            return ErrorKind.LOCAL, words, "Check the address of this connection."
        case httpx.RemoteProtocolError() if step.endswith("response_headers") and "disconnected" not in str(error):
            return ErrorKind.WRONG_API, f"{host} does not answer in HTTP.", _WHICH_SCHEME
        case _ if step.endswith("response_headers") and not secure:
            words = f"{host} closed the connection without an answer."
            return ErrorKind.BROKEN, words, "Try again; if it fails again, the port may speak https."
        case _:
            words = f"The connection to {host} broke."
            return ErrorKind.BROKEN, words, "Try again; if it fails again, check the port."


_UNKNOWN_ISSUER = (18, 19, 20, 21)
"""What OpenSSL calls a certificate that signed itself, or whose issuer is not among those that are trusted."""


def _not_connected(cause: BaseException, host: str, step: str) -> tuple[ErrorKind, str, str]:
    """Distinguish an unknown host name and a failed TLS handshake from an unreachable server.

    An invalid host name, for example one with a part longer than 63 letters, fails before any request.
    """
    if isinstance(cause, socket.gaierror | UnicodeError):
        words, advice = f"No machine is known by the name of {host}.", "Check the address and this machine's network."
        return ErrorKind.DNS, words, advice
    if isinstance(cause, ssl.SSLCertVerificationError):
        words = f"The certificate of {host} is not trusted: {cause.verify_message.rstrip('.')}."
        if cause.verify_code in _UNKNOWN_ISSUER:
            return ErrorKind.TLS, words, "Check the address, or put the issuer's PEM into the connection's CA file."
        return ErrorKind.TLS, words, "Check the address, or have the certificate put right."
    if isinstance(cause, ssl.SSLError) or step.endswith("start_tls"):
        words = f"No secure connection to {host}: it may not speak TLS at this port."
        return ErrorKind.TLS, words, _WHICH_SCHEME
    words, advice = f"Cannot connect to {host}.", "Check that it runs and that the address is right."
    return ErrorKind.UNREACHABLE, words, advice


def _root_cause(error: BaseException) -> BaseException:
    """Return the innermost cause of an exception."""
    cause = error.__cause__ or error.__context__
    return error if cause is None else _root_cause(cause)
