"""Leaving on a signal, and in time: the terminal is put back and nothing can hold the program up.

Textual handles no signal that ends a program (reliability.md 1.2, item 15). Each becomes an ordinary exit here; should
that hang, because the terminal is gone or a name look-up sits in a thread, the terminal is restored by hand and the
process ends.
"""

import asyncio
import os
import signal
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread, Timer
from types import FrameType
from typing import Any

ENDING = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
GRACE = 2.0
"""Seconds an ordinary exit may take after a signal."""
_MODES_OFF = "".join(f"\x1b[?{mode}l" for mode in (1000, 1002, 1003, 1006, 1015, 1016, 2004, 2048, 1004, 2026))
_RESTORE = f"\x1b[<u{_MODES_OFF}\x1b[?7h\x1b[?1049l\x1b[?25h\x1b[0m"


class Terminal:
    """The terminal as it was before the deck drew on it."""

    def __init__(self) -> None:
        self._input = sys.__stdin__.fileno() if sys.__stdin__ is not None else 0
        self._output = sys.__stderr__.fileno() if sys.__stderr__ is not None else 2
        self._modes: list[Any] = termios.tcgetattr(self._input)

    def restore(self) -> None:
        """Put it back without Textual; waits at most half a second for a terminal that does not read."""
        writer = Thread(target=self._put_back, daemon=True)
        writer.start()
        writer.join(0.5)

    def _put_back(self) -> None:
        try:
            termios.tcsetattr(self._input, termios.TCSANOW, self._modes)
            os.write(self._output, _RESTORE.encode())
        except (OSError, termios.error):
            return  # the terminal is gone: nothing is left to put back


def end_within(seconds: float, status: int, before: Callable[[], None] = lambda: None) -> Timer:
    """End the process with that status, after `before`, unless it has ended or the timer was cancelled by then."""

    def end() -> None:
        before()
        os._exit(status)

    timer = Timer(seconds, end)
    timer.daemon = True
    timer.start()
    return timer


@contextmanager
def leaving_on_signals(leave: Callable[[int], None], terminal: Terminal) -> Iterator[None]:
    """Call `leave(128 + signal)` on the loop when a signal asks to end; signals ignored from outside stay ignored.

    The handlers are Python's and not the loop's: they also run while something holds the loop up.
    """
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in ENDING}
    timers: list[Timer] = []

    def on_signal(number: int, frame: FrameType | None) -> None:
        status = 128 + number
        timers.append(end_within(GRACE, status, terminal.restore))
        loop.call_soon_threadsafe(leave, status)

    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, on_signal)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for timer in timers:
            timer.cancel()
