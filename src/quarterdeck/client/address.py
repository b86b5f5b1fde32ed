"""Addresses of servers: what is accepted as one, and what of it may be shown."""

from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError

EXAMPLE = "Write it like http://127.0.0.1:3000 or https://host.example/prefix."


def checked_address(text: str) -> str:
    """Return a server's base address without a trailing slash.

    Raises ServiceError(LOCAL) for one without scheme or host, with a user name, key or query in it, or with characters
    that no address has: such a part would travel to logs and proxies.
    """
    address = text.strip()
    if any(letter <= " " or letter == "\x7f" for letter in address):
        raise _refused("The address has a blank or a control character in it.")
    try:
        parts = urlsplit(address)
        parts.port  # noqa: B018 - reading it is what checks it
    except ValueError:
        raise _refused("The address cannot be read.") from None
    if parts.scheme not in ("http", "https"):
        raise _refused("The address must begin with http:// or https://.")
    if not parts.hostname:
        raise _refused("The address names no host.")
    if "@" in parts.netloc:
        raise _refused("The address holds a user name or password.", "Leave it out and give the key by itself.")
    if parts.query or parts.fragment:
        raise _refused("The address must end before '?' and '#'.", "Leave that part out and give the key by itself.")
    return f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/")


def shown_host(address: str) -> str:
    """Host and port of an address, as a message names them."""
    return urlsplit(address).netloc.rpartition("@")[2]


def origin_of(address: str) -> str:
    """Scheme, host and port of any address, without user name, path and query."""
    parts: SplitResult = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def is_loopback(address: str) -> bool:
    """Whether an address is on this machine: such requests never go through a proxy."""
    host = urlsplit(address).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    return is_ip(host) and ip_address(host).is_loopback


def sends_in_clear(address: str) -> bool:
    """Whether what is sent there, the key included, can be read on the way: plain http to another machine."""
    return urlsplit(address).scheme == "http" and not is_loopback(address)


def is_ip(host: str) -> bool:
    """Whether a host is given by its IP address."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _refused(words: str, advice: str = EXAMPLE) -> ServiceError:
    return ServiceError(ErrorKind.LOCAL, words, advice, outcome=Outcome.NOT_SENT)
