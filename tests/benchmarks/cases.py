"""The programs that are measured: the floor, and the deck before a stand-in for a server."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.benchmarks.terminal import Terminal

FLOOR = [sys.executable, "-m", "tests.benchmarks.floor", "--rows", "50"]
PASS = [sys.executable, "-c", "pass"]
VERSION = [sys.executable, "-m", "quarterdeck", "--version"]
FIRST_FRAME = b"Conversations"
FIRST_ROW = b"Conversation 59"
"""It was changed last, so that it stands at the top."""
A_SIMULATED_ROW = b"Needs you"
"""There are always some whose agent waits."""
NO_ROW = b"No conversations"
FLOOR_ROW = b"row-30"
SANDBOXES = "2"
"""The key of the list of sandboxes."""
ENVIRONMENT: Mapping[str, str] = {"LANG": "C.UTF-8", "QUARTERDECK_API_KEY": "key"}


@contextmanager
def server(sandboxes: int, *, churn: float = 0.0, tick: float = 0.5, batches: bool = True) -> Iterator[str]:
    """A running stand-in; gives its address."""
    changes = ["--churn", str(churn), "--tick", str(tick)]
    command = [sys.executable, "-m", "tests.benchmarks.server", str(sandboxes), *changes]
    with _serving(command + ["--no-batches"] * (not batches)) as said:
        yield f"http://127.0.0.1:{said}"


@contextmanager
def simulation(sandboxes: int, *, churn: float) -> Iterator[str]:
    """The service that pretends so many sandboxes, and some more conversations; gives its address.

    `churn` is the percentage of them that change in a second.
    """
    command = [sys.executable, "-m", "quarterdeck", "serve", "--simulate", str(sandboxes), "--churn", str(churn)]
    with _serving([*command, "--port", "0"]) as said:
        yield said.removeprefix("serving ")


@contextmanager
def _serving(command: list[str]) -> Iterator[str]:
    """A server that runs until the block ends; gives the first line that it prints."""
    environment = {**os.environ, **ENVIRONMENT}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


@contextmanager
def deck(address: str | None = None) -> Iterator[Terminal]:
    """A deck of its own on that server, or on the local service."""
    with TemporaryDirectory() as home:
        environment = {**ENVIRONMENT, "HOME": home}
        environment |= {f"XDG_{name}_HOME": str(Path(home, name)) for name in ("CONFIG", "DATA", "STATE")}
        command = [sys.executable, "-m", "quarterdeck", *(("--url", address) if address is not None else ())]
        with Terminal(command, environment=environment) as terminal:
            yield terminal


@contextmanager
def floor() -> Iterator[Terminal]:
    """The floor."""
    with Terminal(FLOOR) as terminal:
        yield terminal
