"""The programs that are measured: the floor, and the deck before a stand-in for a server."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.benchmarks.terminal import Terminal

FLOOR = [sys.executable, "-m", "tests.benchmarks.programs", "floor", "--rows", "50"]
PASS = [sys.executable, "-c", "pass"]
VERSION = [sys.executable, "-m", "quarterdeck", "--version"]
FIRST_FRAME = b"Conversations"
FIRST_ROW = b"Conversation 59"
"""It was changed last, so that it stands at the top."""
NO_ROW = b"No conversations"
FLOOR_ROW = b"row-30"
SANDBOXES = "2"
"""The key of the list of sandboxes."""


@contextmanager
def server(sandboxes: int, *, churn: float = 0.0, tick: float = 0.5, batches: bool = True) -> Iterator[str]:
    """A running stand-in; gives its address."""
    changes = ["--churn", str(churn), "--tick", str(tick)]
    command = [sys.executable, "-m", "tests.benchmarks.server", str(sandboxes), *changes]
    with subprocess.Popen(command + ["--no-batches"] * (not batches), stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.terminate()


@contextmanager
def deck(address: str | None = None) -> Iterator[Terminal]:
    """A deck of its own on that server, or on the local service."""
    with TemporaryDirectory() as home:
        environment = {"HOME": home, "LANG": "C.UTF-8", "QUARTERDECK_API_KEY": "key"}
        environment |= {f"XDG_{name}_HOME": str(Path(home, name)) for name in ("CONFIG", "DATA", "STATE")}
        command = [sys.executable, "-m", "quarterdeck", *(("--url", address) if address is not None else ())]
        with Terminal(command, environment=environment) as terminal:
            yield terminal


@contextmanager
def floor() -> Iterator[Terminal]:
    """The floor."""
    with Terminal(FLOOR) as terminal:
        yield terminal
