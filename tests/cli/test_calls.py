"""Somebody who looks elsewhere is called by their terminal, unless they asked for quiet."""

import os

import pytest

from tests.cli.pty_kit import Terminal, quarterdeck
from tests.cli.serving import KEY, serving
from tests.conftest import Home


@pytest.mark.parametrize("quiet", [False, True])
def test_what_a_watched_conversation_comes_to_rings_and_is_noticed_unless_quiet(home: Home, quiet: bool) -> None:
    environ = {**os.environ, "QUARTERDECK_API_KEY": KEY, "TERM": "xterm-256color"}
    environ = {name: value for name, value in environ.items() if name not in ("TMUX", "LC_TERMINAL", "TERM_PROGRAM")}
    with serving("--simulate", "12", "--churn", "100", QUARTERDECK_API_KEY=KEY) as (url, _):
        arguments = ("--quiet", "--url", url) if quiet else ("--url", url)
        with Terminal(*quarterdeck(*arguments), env=environ) as terminal:
            terminal.shows("Working")
            terminal.press("*", "w")
            terminal.shows("watching: ")
            before = len(terminal.output)
            terminal.shows(": Finished.", seconds=40)
            terminal.press("Q")
            assert terminal.ends() == 0
            written = terminal.output[before:]
        assert (b"\x1b]777;notify;Quarterdeck;" in written) is not quiet
        assert (b"\x07" in written) is not quiet
