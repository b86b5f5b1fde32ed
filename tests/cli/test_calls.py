"""Somebody who looks elsewhere is called by their terminal, unless they asked for quiet."""

import os

from tests.cli.pty_kit import Terminal, quarterdeck
from tests.cli.serving import at_an_address
from tests.conftest import Home
from tests.tui.fake_fleet import FakeFleet


def test_what_a_watched_conversation_comes_to_rings_and_is_noticed_unless_quiet(home: Home) -> None:
    environ = {name: os.environ[name] for name in os.environ if name not in ("TMUX", "LC_TERMINAL", "TERM_PROGRAM")}
    fleet = FakeFleet()
    fleet.talk("c1", fleet.add("box"), "Nightly build", execution_status="running")

    with (
        at_an_address(fleet.answer) as url,
        Terminal(*quarterdeck("--url", url), env=environ) as loud,
        Terminal(*quarterdeck("--quiet", "--url", url), env=environ) as quiet,
    ):
        for terminal in (loud, quiet):
            terminal.shows("Working")
            terminal.press("w", shows="watching: ")
        before = {terminal: len(terminal.output) for terminal in (loud, quiet)}
        fleet.conversations["c1"]["execution_status"] = "finished"
        for terminal in (loud, quiet):
            terminal.shows(": Finished.")
            terminal.press("Q")
            assert terminal.ends() == 0
            written = terminal.output[before[terminal] :]
            assert (b"\x1b]777;notify;Quarterdeck;" in written) is (terminal is loud)
            assert (b"\x07" in written) is (terminal is loud)
