"""Opens the deck in a terminal and restores the terminal afterwards, within a time limit.

Textual handles no signals that end a program. Here, each becomes an ordinary exit; if that hangs, because the terminal
is gone or a name lookup is stuck in a thread, the terminal is restored directly and the process ends.
"""

import asyncio
import os
import signal
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib import import_module
from threading import Thread, Timer
from types import FrameType
from typing import Any

from quarterdeck.cli.arguments import CommandLine
from quarterdeck.cli.output import CommandError, heeded, note
from quarterdeck.cli.target import LastConnectionGoneError, choose
from quarterdeck.config.connections import LOCAL, Connection
from quarterdeck.config.load import Config
from quarterdeck.tui.app import Deck

CLEANUP = 1.0
"""Seconds for tasks and threads to end after the terminal is restored."""
STDIN, STDERR = 0, 2
ENDING = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)
BEHIND_FRAME = "quarterdeck.cli.behind_frame"
"""What the deck uses to connect, imported while its frame is shown."""
GRACE = 2.0
"""Seconds for an ordinary exit after a signal."""
_MODES_OFF = "".join(f"\x1b[?{mode}l" for mode in (1000, 1002, 1003, 1006, 1015, 1016, 2004, 2048, 1004, 2026))
_RESTORE = f"\x1b[<u{_MODES_OFF}\x1b[?7h\x1b[?1049l\x1b[?25h\x1b[0m"


def run(arguments: CommandLine, config: Config) -> int:
    """Open the deck and end the process with its exit status; raises CommandError (status 2) for an unfit terminal."""
    refuse_unfit_terminal()
    problems = [*config.problems, *config.folders.unusable, *config.folders.left_behind]
    endpoint, by_choice = _endpoint(arguments, config, problems)
    deck = Deck(
        endpoint,
        lambda deck: import_module(BEHIND_FRAME).connecting(
            deck, config, read_only=arguments.read_only, by_choice=by_choice
        ),
        notices=[f"{problem}." for problem in problems],
        quiet=arguments.quiet,
        theme=config.preferences.theme,
        crash_folder=config.folders.state,
    )
    status = asyncio.run(_open(deck, mouse=arguments.mouse))
    os._exit(status)  # everything is closed; ending the interpreter properly would only delay the shell's prompt


def refuse_unfit_terminal() -> None:
    """Raise CommandError (status 2) if the deck cannot be drawn or receive keys."""
    advice = "Commands such as `quarterdeck sandboxes list` work without a terminal."
    if not all(stream is not None and stream.isatty() for stream in (sys.__stdin__, sys.__stdout__, sys.__stderr__)):
        raise CommandError("The deck needs a terminal for its input, output and errors.", advice, status=2)
    if os.environ.get("TERM", "") in ("", "dumb"):
        raise CommandError("This terminal cannot place text on the screen (TERM is not set or dumb).", advice, status=2)
    if sys.__stderr__ is not None and sys.__stderr__.encoding.replace("-", "").lower() != "utf8":
        raise CommandError("The deck needs a terminal that writes UTF-8.", "Set LANG to one such as C.UTF-8.", status=2)


def _endpoint(arguments: CommandLine, config: Config, problems: list[str]) -> tuple[Connection, bool]:
    """Return the chosen connection, or the local service if the last one is gone; and whether it was chosen.

    A last connection that is no text counts as none, and is left in its file.
    """
    try:
        chosen = arguments.connection or config.preferences.last_connection
        return choose(arguments, config), chosen is not None
    except LastConnectionGoneError as error:
        gone = error.words.partition(": ")[0].rstrip(".")  # the reason is among the problems
        problems.insert(0, f"The local service was opened. {gone}")
        note(f"{problems[0]}.")
        return replace(LOCAL, read_only=arguments.read_only), False


async def _open(deck: Deck, *, mouse: bool) -> int:
    with leaving_on_signals(deck):
        await deck.run_async(mouse=mouse)
    status = deck.return_code or 0
    end_within(CLEANUP, status)  # a name lookup in a thread cannot be cancelled, and Python would wait for it
    with suppress(OSError):  # a closed terminal accepts no more output
        for words in deck.exit_messages:
            note(f"{words}.")
        if deck.last_words:
            print(deck.last_words, file=sys.stderr)
        sys.stdout.flush()
        sys.stderr.flush()
    if closing := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(closing)
    return status


def restore_terminal(modes: list[Any]) -> None:
    """Restore the terminal without Textual; waits at most half a second for one that does not read."""

    def put_back() -> None:
        with suppress(OSError, termios.error):  # the terminal is gone: there is nothing to restore
            termios.tcsetattr(STDIN, termios.TCSANOW, modes)
            os.write(STDERR, _RESTORE.encode())

    writer = Thread(target=put_back, daemon=True)
    writer.start()
    writer.join(0.5)


def end_within(seconds: float, status: int, before: Callable[[], None] = lambda: None) -> Timer:
    """End the process with a status, after `before`, unless the timer is cancelled first."""

    def end() -> None:
        before()
        os._exit(status)

    timer = Timer(seconds, end)
    timer.daemon = True
    timer.start()
    return timer


@contextmanager
def leaving_on_signals(deck: Deck) -> Iterator[None]:
    """Leave the deck with status 128 + signal when a signal asks to end; signals ignored from outside stay ignored.

    The handlers are Python's and not the loop's: they also run while something holds the loop up.
    """
    loop, modes = asyncio.get_running_loop(), termios.tcgetattr(STDIN)
    timers: list[Timer] = []

    def on_signal(number: int, frame: FrameType | None) -> None:
        status = 128 + number
        timers.append(end_within(GRACE, status, lambda: restore_terminal(modes)))
        loop.call_soon_threadsafe(deck.exit, status, status)

    before = {number: signal.signal(number, on_signal) for number in heeded(ENDING)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for timer in timers:
            timer.cancel()
