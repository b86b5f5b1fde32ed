"""Leaving while the server has not answered what was asked of it, in a terminal, with a server on a port."""

import signal
import threading
import time
from collections.abc import Iterator

import pytest

from tests.cli.serving import at_an_address
from tests.client.fakes import Answer, Asked
from tests.conftest import Home
from tests.tui.fake_fleet import FakeFleet

from .pty_kit import Terminal, quarterdeck

WAITS = "Waiting for the answer to: start of default-spec; ctrl+q again leaves now."


@pytest.fixture
def address() -> Iterator[str]:
    """The address of a server with a fleet that never answers a POST."""
    fleet, over = FakeFleet(), threading.Event()

    def script(asked: Asked) -> Answer | Exception:
        if asked.method == "POST":
            over.wait(30)
        return fleet.answer(asked)

    with at_an_address(script) as url:
        yield url
        over.set()


def starting(terminal: Terminal) -> None:
    terminal.shows("No conversations.")
    terminal.press("2", shows="No sandboxes.")
    terminal.press("n", shows="default-spec  (default)")
    terminal.press("enter", shows="Starting a sandbox from default-spec")


@pytest.mark.parametrize("again", [True, False])
def test_it_leaves_with_one_line_and_status_one(home: Home, address: str, again: bool) -> None:
    with Terminal(*quarterdeck("--url", address), columns=120) as terminal:
        starting(terminal)
        terminal.press("ctrl+q", shows=WAITS)
        began = time.monotonic()
        if again:
            terminal.press("ctrl+q")
        assert terminal.ends() == 1
        assert again or time.monotonic() - began > 2
        said = terminal.output.decode().rpartition("\x1b")[2]
        assert said.count("left without the answer to: start of default-spec; look whether it happened.") == 1


def test_a_signal_waits_for_nothing(home: Home, address: str) -> None:
    with Terminal(*quarterdeck("--url", address), columns=120) as terminal:
        starting(terminal)
        began = time.monotonic()
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.ends() == 128 + signal.SIGTERM
        assert time.monotonic() - began < 2.5
