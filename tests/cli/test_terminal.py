import os
import signal
import stat
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.tui.crash_report import REPORTS_KEPT, describe, farewell, write_report
from quarterdeck.tui.driver import Pastes
from tests.cli.pty_kit import Terminal, quarterdeck
from tests.cli.serving import at_an_address
from tests.client.fakes import Answer, Asked
from tests.conftest import Home
from tests.tui.fake_fleet import FakeFleet

SENTINEL = "sentinel-91c"
REFRESHING = """
import os, sys, time
from quarterdeck.cli.main import main
from quarterdeck.tui.app import Deck
def refresh(self):
    {}
Deck.action_refresh = refresh
sys.exit(main())
"""
"""A deck that does something else when ctrl+r is pressed."""
STUCK = REFRESHING.format("os.write(2, b'STUCK'); time.sleep(60)")
CRASHES = {
    "handler": f"key = '{SENTINEL}'; raise ValueError(key)",
    "markup": f"from textual.widgets import Static; self.screen.mount(Static('[/{SENTINEL}]'))",
    "worker": f"async def fail(k): raise RuntimeError(k) from ValueError(k)\n    self.run_worker(fail('{SENTINEL}'))",
}


def assert_as_it_was(terminal: Terminal) -> None:
    assert b"\x1b[?1049h" in terminal.output, "it never drew anything"
    assert (terminal.modes_left, terminal.screen.cursor.attrs) == ({}, terminal.screen.default_char)
    assert termios.tcgetattr(terminal.master) == terminal.line_settings, "echo, line editing and the rest"


@pytest.fixture
def deck(home: Home) -> Iterator[Terminal]:
    editor = {"PATH": f"{home.root}:/bin", "VISUAL": "own-ed -i s/$/it/"}
    with Terminal(*quarterdeck(), env={**os.environ, **editor}) as terminal:
        terminal.shows("local service", "No conversations.")
        yield terminal


def test_the_deck_opens_answers_keys_and_leaves_the_terminal_as_it_was(home: Home) -> None:
    preferences = home.write("preferences.toml", 'last_connection = ["x"]\n')
    with Terminal(*quarterdeck()) as terminal:
        terminal.press("/", "x", "enter", "2", shows=("[2 Sandboxes]", "No sandboxes", "local service"))  # typed ahead
        terminal.press("3", shows="[3 Settings")
        terminal.quit()
        assert_as_it_was(terminal)
        assert b"\x1b[?1000h" in terminal.output, "it does not ask for the mouse"
    assert preferences.read_text() == 'last_connection = ["x"]\n'


def test_the_deck_goes_by_its_options_and_preferences(home: Home) -> None:
    preferences = home.write("preferences.toml", 'last_connection = "gone"\n')
    with Terminal(*quarterdeck("--read-only", "--no-mouse")) as terminal:
        terminal.shows("1 Conversations", "local service", "READ-ONLY")
        terminal.press("T", "Q")
        assert terminal.ends() == 0
        assert_as_it_was(terminal)
        assert b"The local service was opened. The last connection, 'gone', is not in" in terminal.output
        assert b"\x1b[?1000h" not in terminal.output, "it asks for the mouse"
    assert preferences.read_text() == 'last_connection = "gone"\ntheme = "quarterdeck-light"\n'


def test_keys_an_escape_and_a_paste_in_one_chunk_go_where_they_were_meant(deck: Terminal) -> None:
    deck.press("/xyz\x1b2", shows=("[2 Sandboxes]", "No sandboxes"))
    deck.press("?\x1b\x1b3/xyz\x1b1/it", shows=("[1 Conversations]", "/ it"))
    deck.press("erations\x1bb(\x1b[D\x1bOC)", shows="/ ()iterations")
    deck.press("\x1b3/iterations\rg\r77\rj/\x1b[200~git user name\x1b[201~\rg\rdDp\r")
    deck.shows("[3 Settings", "2 edited", "dDp")
    deck.press("/\x15\x1b[200~iterations\x1b[201~\r", shows="77")
    deck.press("\x11d")
    assert deck.ends() == 0


COLOURED_LOG = b"\x1b]0;make\x07\x1b[31mD p\x1b[K y\x1b[0m\x1b[1;32m:q\x1b[0m\x1b\x1b[201\x1b[20"
"""A log with a title and colours, as it is copied; what a deck took for keys of it would delete, pause and copy."""
ANSWERS = b"\x1b[12;40R\x1b[?2026;0$y\x1b]11;rgb:10/15/1c\x07\x1b]10;?\x1b\\\x1bP>|tmux\x1b\\\x1b[?62c\x1b[97;1:3u"
"""What a terminal says of its cursor, modes, colours, name and attributes, and of a key that was let go."""


def test_what_comes_in_pieces_is_put_together_and_what_is_no_letter_or_an_answer_is_no_key(deck: Terminal) -> None:
    deck.press(ANSWERS.decode() + "/", shows="/ words, tokens")
    deck.send(b"\xff")
    deck.shows("\N{REPLACEMENT CHARACTER}")
    deck.send(b"\x7f" + "ü".encode()[:1])
    deck.shows("/ words, tokens")
    deck.send("ü".encode()[1:] + b"ber" + ANSWERS)
    deck.press(*"hush", shows="/ überhush")
    deck.send(b"\x15\x1b[200~" + "ö".encode() * 3_000 + b"the end\x1b[201~")  # longer than one reading
    deck.press("!", shows=("öö", "the end!"))
    deck.press("escape", shows="? Help")
    for key, shown in (("/", "/ words, tokens"), ("!", "/ D p y:q[201[20!")):
        deck.send(b"\x1b[200~")
        for byte in COLOURED_LOG + b"\x1b[201~":
            deck.send(bytes([byte]))
        deck.press(key, shows=shown)
    deck.quit()


@given(st.lists(st.tuples(st.booleans(), st.text("\x1b[201~a", max_size=12)), max_size=6), st.integers(1, 5))
def test_pastes_are_cut_out_wherever_the_stream_is_split(pieces: list[tuple[bool, str]], size: int) -> None:
    told = [(pasted, text) for pasted, text in pieces if "\x1b[200~" not in text and "\x1b[201~" not in f"{text}\x1b["]
    stream = "".join(f"\x1b[200~{text}\x1b[201~" if pasted else f"<{text}>" for pasted, text in told)
    pastes = Pastes()
    cut = [part for at in range(0, len(stream), size) for part in pastes.cut(stream[at : at + size])]
    assert [text for pasted, text in cut if pasted] == [text for pasted, text in told if pasted]
    typed = "".join(text for pasted, text in cut if not pasted) + pastes.give_up()
    assert typed == "".join(f"<{text}>" for pasted, text in told if not pasted)


def test_the_rest_of_a_paste_that_comes_after_its_escape_was_taken_for_a_key_is_a_paste() -> None:
    pastes = Pastes()
    assert (list(pastes.cut("\x1b")), pastes.give_up()) == ([], "\x1b")
    assert [part for text in ("[2", "00~D", "py\x1b[201~") for part in pastes.cut(text) if part[1]] == [(True, "Dpy")]
    assert (list(pastes.cut("\x1b")), pastes.give_up()) == ([], "\x1b")
    assert list(pastes.cut("[A")) == [(False, "[A")]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT])
def test_a_signal_ends_it_and_the_terminal_is_as_it_was(deck: Terminal, number: signal.Signals) -> None:
    deck.process.send_signal(number)
    assert deck.ends() == 128 + number
    assert_as_it_was(deck)


def test_a_signal_ends_a_deck_that_is_stuck() -> None:
    with Terminal(sys.executable, "-c", STUCK) as terminal:
        terminal.shows("local service")
        terminal.press("ctrl+r", shows="STUCK")
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.ends() == 128 + signal.SIGTERM
        assert_as_it_was(terminal)


def test_a_closed_terminal_ends_it_and_is_no_crash(deck: Terminal, home: Home) -> None:
    deck.hang_up()
    assert deck.process.wait(10) == 128 + signal.SIGHUP
    assert not (home.state / "crashes").exists()


def test_a_signal_that_is_ignored_outside_stays_ignored_and_a_closed_terminal_ends_it_all_the_same() -> None:
    deaf = "import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    with Terminal(sys.executable, "-c", deaf, *quarterdeck()) as terminal:
        terminal.shows("local service")
        terminal.process.send_signal(signal.SIGHUP)
        terminal.press("2", shows="[2 Sandboxes]")
        terminal.hang_up()
        assert terminal.process.wait(20) == 128 + signal.SIGTERM


def test_put_to_sleep_it_gives_the_terminal_back_and_draws_again_when_woken(deck: Terminal, home: Home) -> None:
    deck.press("/", "\x1bOS", shows="ed cannot be run")
    editor = home.root / "own-ed"
    editor.write_text("#!/bin/sh\necho editing\nexec sleep 60\n")
    editor.chmod(0o700)
    deck.press("\x1bOS", shows="editing")
    deck.press("\x03", shows="ed ended with -2")  # a key of the editor alone
    editor.write_text('#!/bin/sh\nexec sed "$@"\n')
    deck.press("q", "u", "\x1bOS", shows="/ quit")
    deck.press("s", shows="/ quits")
    deck.press("escape", "2")
    for put_to_sleep in (partial(deck.press, "ctrl+z"), partial(deck.process.send_signal, signal.SIGTSTP)):
        deck.shows("[2 Sandboxes]", "No sandboxes", "? Help")
        put_to_sleep()
        assert os.WIFSTOPPED(os.waitpid(deck.process.pid, os.WUNTRACED)[1])
        deck.at_rest()  # what was written before is not taken for drawn again
        assert deck.modes_left == {}
        deck.screen.reset()
        deck.process.send_signal(signal.SIGCONT)
    deck.shows("[2 Sandboxes]", "No sandboxes", "? Help")
    deck.quit()
    assert_as_it_was(deck)


def test_what_the_terminal_lost_is_drawn_again_by_a_key_and_by_a_size_that_is_the_same_again(deck: Terminal) -> None:
    deck.press("3", shows=("[3 Settings", "Model  The model"))
    before = deck.at_rest()
    for draw_again in (partial(deck.press, "ctrl+l"), partial(deck.process.send_signal, signal.SIGWINCH)):
        deck.screen.reset()
        draw_again()
        deck.shows("[3 Settings", "Model  The model")
        assert deck.at_rest() == before


@pytest.mark.parametrize("way", CRASHES)
def test_a_crash_is_one_line_without_secrets_and_the_terminal_is_as_it_was(home: Home, way: str) -> None:
    with Terminal(sys.executable, "-c", REFRESHING.format(CRASHES[way])) as terminal:
        terminal.shows("local service")
        terminal.press("ctrl+r")
        assert terminal.ends() == 1
        assert_as_it_was(terminal)
        assert SENTINEL.encode() not in terminal.output
        assert b"an error of its own" in terminal.output
    [report] = (home.state / "crashes").iterdir()
    assert str(report).encode() in terminal.output, "whole: the terminal breaks the line, and copies it as one"
    assert stat.S_IMODE(report.stat().st_mode) == 0o600
    assert SENTINEL not in report.read_text()


def caught(value: str) -> ValueError:
    with pytest.raises(ValueError, match=value) as raised:
        raise ValueError(value)
    return raised.value


def test_a_report_names_the_place_but_not_the_value() -> None:
    errors = [caught(SENTINEL), TypeError(SENTINEL), FileNotFoundError(2, "ignored", SENTINEL)]
    group = ExceptionGroup(SENTINEL, [*errors, AttributeError("object has no attribute 'no_such_thing'")])
    group.__cause__ = group.exceptions[0]
    text = describe(group)
    assert text.count("builtins.ValueError") == 1
    for words in ("in caught", "builtins.TypeError", "No such file", "no_such_thing"):
        assert words in text
    assert SENTINEL not in text


def test_old_reports_go_and_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    paths = [write_report(caught("x"), tmp_path) for _ in range(REPORTS_KEPT + 3)]
    assert sorted((tmp_path / "crashes").iterdir()) == paths[3:]
    assert "No report could be written" in farewell(caught("x"), paths[-1])


def test_an_unforeseen_error_of_a_command_is_one_line(tmp_path: Path) -> None:
    program = f"""
import sys
from pathlib import Path
from quarterdeck.cli.run import report_crashes_to
report_crashes_to(Path({str(tmp_path)!r}))
key = "{SENTINEL}"
raise ValueError(key)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ended.returncode, len(ended.stderr.splitlines())) == (1, 1)
    assert SENTINEL not in ended.stderr
    assert str(tmp_path) in ended.stderr


@pytest.mark.parametrize(("changed", "words"), [({"TERM": "dumb"}, "TERM"), ({"PYTHONIOENCODING": "latin-1"}, "UTF-8")])
def test_a_terminal_that_cannot_show_it_gets_words(changed: dict[str, str], words: str) -> None:
    with Terminal(*quarterdeck(), env={**os.environ, **changed}) as terminal:
        assert terminal.ends() == 2
        assert words in terminal.text
        assert b"\x1b" not in terminal.output


def test_a_terminal_that_takes_nothing_any_more_does_not_keep_a_signal_from_ending_the_deck(deck: Terminal) -> None:
    deck.type_unread("3" + "21" * 60)
    deck.process.send_signal(signal.SIGTERM)
    assert deck.process.wait(20) == 128 + signal.SIGTERM


def test_a_config_folder_that_cannot_be_written_is_told_at_the_start(home: Home) -> None:
    home.config.parent.write_text("a file where a folder should be")
    with Terminal(*quarterdeck(), env={**os.environ, "HOME": "/"}, columns=200) as terminal:
        terminal.shows("No conversations.", f"{home.config} cannot be written")
        terminal.quit()


@pytest.fixture
def starting() -> Iterator[Terminal]:
    """A deck that waits for the answer to a start, which its server never gives."""
    fleet, over = FakeFleet(), threading.Event()

    def script(asked: Asked) -> Answer | Exception:
        if asked.method == "POST":
            over.wait(30)
        return fleet.answer(asked)

    with at_an_address(script) as url, Terminal(*quarterdeck("--url", url), columns=120) as terminal:
        terminal.shows("No conversations.")
        terminal.press("2", shows="No sandboxes.")
        terminal.press("n", shows="default-spec  (default)")
        terminal.press("enter", shows="Starting a sandbox from default-spec")
        yield terminal
        over.set()


def test_it_leaves_with_one_line_and_status_one(starting: Terminal) -> None:
    starting.press("ctrl+q", shows="Waiting for the answer to: start of default-spec; ctrl+q again leaves now.")
    starting.press("ctrl+q")
    assert starting.ends() == 1
    said = starting.output.decode().rpartition("\x1b")[2]
    assert said.count("left without the answer to: start of default-spec; look whether it happened.") == 1


def test_a_signal_waits_for_nothing(starting: Terminal) -> None:
    began = time.monotonic()
    starting.process.send_signal(signal.SIGTERM)
    assert starting.ends() == 128 + signal.SIGTERM
    assert time.monotonic() - began < 2.5


def test_what_a_browser_writes_and_how_long_it_runs_is_nothing_to_the_deck(tmp_path: Path) -> None:
    browser, opened = tmp_path / "browser", tmp_path / "opened"
    browser.write_text(f"#!/bin/sh\necho CHATTER; echo CHATTER >&2; echo $$ $1 > {opened}\nexec sleep 60")
    browser.chmod(0o700)
    with (
        at_an_address(FakeFleet.of(1).answer) as url,
        Terminal(*quarterdeck("--url", url), env={**os.environ, "DISPLAY": ":9", "BROWSER": str(browser)}) as terminal,
    ):
        terminal.press("2", shows="Running")
        terminal.press("O", shows="Asked the browser to open http")
        end = time.monotonic() + 20
        while not opened.exists() and time.monotonic() < end:
            terminal.at_rest()
        number, address = opened.read_text().split()
        assert address.startswith("http")
        terminal.press("?", shows="Keys: sandboxes")
        terminal.quit()
        os.kill(int(number), signal.SIGTERM)
    assert b"CHATTER" not in terminal.output


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
            terminal.press("ctrl+r", shows=": Finished.")
            terminal.press("Q")
            assert terminal.ends() == 0
            written = terminal.output[before[terminal] :]
            assert (b"\x1b]777;notify;Quarterdeck;" in written) is (terminal is loud)
            assert (b"\x07" in written) is (terminal is loud)
