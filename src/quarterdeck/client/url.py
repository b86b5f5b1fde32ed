"""An address taken apart, as a request is written."""

import re
from typing import NamedTuple
from urllib.parse import quote, urljoin, urlsplit

PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[\w.~:%-]+", re.ASCII)
_IN_PATH = "/:@!$&'()*+,;=~%"
"""What a path may hold as it is (RFC 3986); "%" as well, for it begins what is quoted already."""
_IN_QUERY = _IN_PATH + "?[]"


class Url(NamedTuple):
    """One address of HTTP; `target` is path and query, quoted."""

    scheme: str
    host: str
    port: int
    target: str
    user_info: str = ""
    """User name and password as they stand in the address, quoted."""

    @property
    def origin(self) -> tuple[str, str, int]:
        """What it shares with all addresses of the same server."""
        return self.scheme, self.host, self.port

    @property
    def authority(self) -> str:
        """Host and port as a Host header names them, without the port that goes without saying."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        """Write it without user name and password."""
        return f"{self.scheme}://{self.authority}{self.target}"

    def joined(self, location: str) -> "Url":
        """Read an address that may be relative to this one; raises ValueError."""
        return read_url(urljoin(str(self), location))


def read_url(address: str) -> Url:
    """Take apart an address whose host is in ASCII; raises ValueError for what is none."""
    parts = urlsplit(address)
    if parts.scheme not in PORTS or not _HOST.fullmatch(parts.hostname or ""):
        raise ValueError("not an address of HTTP")
    target = quote(parts.path, safe=_IN_PATH) or "/"
    if parts.query:
        target += f"?{quote(parts.query, safe=_IN_QUERY)}"
    port = PORTS[parts.scheme] if parts.port is None else parts.port
    return Url(parts.scheme, parts.hostname or "", port, target, parts.netloc.rpartition("@")[0])
