"""Addresses: whether a browser can open them from here, and whether they hold what is not shown."""

import os
import sys
from collections.abc import Mapping
from urllib.parse import urlsplit


def can_open_browser(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> bool:
    """Whether a window would come up; over SSH or without a display a text browser would take the terminal."""
    if platform in ("darwin", "win32"):
        return "SSH_CONNECTION" not in environ
    return bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))


def may_hold_secret(address: str) -> bool:
    """Whether an address has more than a host and a path: a user, a query, a fragment; or cannot be told apart."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return True
    return bool("@" in parts.netloc or parts.query or parts.fragment)
