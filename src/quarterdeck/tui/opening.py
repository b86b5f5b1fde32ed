"""Whether an address can be opened in a browser from here."""

import os
import sys
from collections.abc import Mapping


def can_open_browser(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> bool:
    """Whether a window would come up; over SSH or without a display a text browser would take the terminal."""
    if platform in ("darwin", "win32"):
        return "SSH_CONNECTION" not in environ
    return bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))
