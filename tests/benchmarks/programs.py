"""The programs that are measured, and the server behind them."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.benchmarks.terminal import Terminal

PASS = [sys.executable, "-c", "pass"]
VERSION = [sys.executable, "-m", "quarterdeck", "--version"]
FRAME = b"Conversations"
CONVERSATION = b"Conversation 59"
"""The conversation that was changed last, at the top of the deck's first list."""
NO_CONVERSATION = b"No conversations"
SANDBOX = b"sandbox-000000"
"""The first row of the plain deck."""
FLOOR_ROW = b"row-30"
SANDBOXES, QUIT = "2", "\x11"
"""Keys of the deck: the list of sandboxes, and leaving."""
ENVIRONMENT: Mapping[str, str] = {"LANG": "C.UTF-8", "QUARTERDECK_API_KEY": "key"}


@contextmanager
def server(sandboxes: int, *arguments: str) -> Iterator[str]:
    """The stand-in for a server, with a hundred conversations too; gives its address."""
    command = [sys.executable, "-m", "tests.benchmarks.server", str(sandboxes), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.terminate()


@contextmanager
def deck(address: str | None = None) -> Iterator[Terminal]:
    """A deck with a home of its own on that server, or on the local service."""
    with TemporaryDirectory() as home:
        folders = {f"XDG_{name}_HOME": str(Path(home, name)) for name in ("CONFIG", "DATA", "STATE")}
        command = [sys.executable, "-m", "quarterdeck", *(("--url", address) if address is not None else ())]
        with Terminal(command, {**os.environ, **ENVIRONMENT, "HOME": home, **folders}) as terminal:
            yield terminal


def at_sandboxes(deck: Terminal, seconds: float, after: bytes = CONVERSATION) -> None:
    """Go to the list of sandboxes once that is painted, and give it so long to read everything."""
    deck.until(after)
    deck.type_unread(SANDBOXES)
    time.sleep(seconds)


def plain(address: str) -> Terminal:
    return Terminal([sys.executable, "-m", "tests.benchmarks.plain", address], os.environ)


def floor() -> Terminal:
    return Terminal([sys.executable, "-m", "tests.benchmarks.floor"], os.environ)
