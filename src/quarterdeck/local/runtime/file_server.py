"""Serves the files of the current folder on loopback: ``file_server.py PORT``, run as a script by its path.

Everything but ``/alive`` needs the key in the environment variable SESSION_API_KEY, sent in the header
``X-Session-API-Key`` or once as the query parameter ``session_api_key``; a cookie then carries it, so that the links of
a listing work in a browser. It prints nothing.
"""

import hmac
import os
import sys
from http.cookies import CookieError, SimpleCookie
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from typing import BinaryIO
from urllib.parse import parse_qs, urlsplit

_NAME = "session_api_key"
_KEY = os.environ.get("SESSION_API_KEY", "")


class FileHandler(SimpleHTTPRequestHandler):
    """Serves files and listings to GET and HEAD requests that have the key."""

    def send_head(self) -> BytesIO | BinaryIO | None:
        """Send the head of a response, and return the body for a GET."""
        if urlsplit(self.path).path == "/alive":
            body = b'{"status":"ok"}'
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            return BytesIO(body)
        if any(map(_is_key, (self.headers.get("X-Session-API-Key", ""), self._in_query(), self._in_cookie()))):
            return super().send_head()
        self.send_error(401)
        return None

    def end_headers(self) -> None:
        """Add the cookie if the key was in the query."""
        if _is_key(self._in_query()):
            self.send_header("Set-Cookie", f"{self._cookie_name()}={_KEY}; HttpOnly; SameSite=Strict; Path=/")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the signature that http.server calls
        """Print nothing."""

    def _in_query(self) -> str:
        return parse_qs(urlsplit(self.path).query).get(_NAME, [""])[0]

    def _in_cookie(self) -> str:
        try:
            found = SimpleCookie(self.headers.get("Cookie", "")).get(self._cookie_name())
        except CookieError:
            return ""
        return found.value if found else ""

    def _cookie_name(self) -> str:
        """Return a cookie name with the port in it: browsers share the cookies of one host between its ports."""
        return f"{_NAME}_{self.connection.getsockname()[1]}"


def _is_key(value: str) -> bool:
    return bool(_KEY) and hmac.compare_digest(value.encode(), _KEY.encode())


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), FileHandler).serve_forever()
