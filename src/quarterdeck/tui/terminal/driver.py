"""The terminal of a person: the event loop reads its input and writes to it.

Textual reads it in a thread that looks ten times a second whether it should end, which costs more than all that a
watching deck does by itself, and tells an escape key only at such a look.
"""

from __future__ import annotations

import asyncio
import os
import signal
from codecs import getincrementaldecoder
from collections.abc import Iterable
from contextlib import suppress

from textual._xterm_parser import XTermParser
from textual.constants import ESCAPE_DELAY
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from quarterdeck.tui.terminal.ink import PLAIN
from quarterdeck.tui.terminal.output import Output

AT_ONCE = 4096
"""Bytes of input taken in before the loop sees to something else."""
ESCAPE = "\x1b"
OVERDUE = 0.005
"""Seconds after which an escape that nothing followed is surely due."""


class LoopDriver(LinuxDriver):
    """Drives a terminal from the event loop."""

    _overdue: asyncio.TimerHandle | None = None
    _output: Output | None = None

    def start_application_mode(self) -> None:
        """Take the terminal, and read from it."""
        if self._output is None and self._file is not None:
            with suppress(OSError):
                self._output = Output(self._file, self._loop)
        super().start_application_mode()  # type: ignore[no-untyped-call]
        if self._output is not None and self._writer_thread is not None:
            self._writer_thread.stop()
        self._parser = XTermParser(self._debug)
        self._decode = getincrementaldecoder("utf-8")("replace").decode
        self._loop.add_reader(self.fileno, self._read)

    def stop_application_mode(self) -> None:
        """Give the terminal back, in its own style: updates leave it in that of what they wrote last."""
        self.write(PLAIN)
        super().stop_application_mode()

    def write(self, data: str) -> None:
        """Write at once; by the thread of Textual where the terminal can't be opened again (after `su`, say)."""
        if self._output is None:
            super().write(data)
        else:
            self._output.write(data)

    def close(self) -> None:
        """Let go of the terminal, with all of it written."""
        super().close()
        if self._output is not None:
            self._output.close()
            self._output = None

    def disable_input(self) -> None:
        """Read no more."""
        self._loop.remove_reader(self.fileno)
        if self._overdue is not None:
            self._overdue.cancel()
        super().disable_input()

    def run_input_thread(self) -> None:
        """Leave all input to the loop; this thread ends at once."""

    def send_message(self, message: Message) -> None:
        """Send a message to the app, in whose loop this is."""
        self._app.post_message(message)

    def _read(self) -> None:
        try:
            data = os.read(self.fileno, AT_ONCE)
        except OSError:
            data = b""
        if not data:
            self._loop.remove_reader(self.fileno)
            end_without_terminal()
        elif words := self._decode(data):
            self._send(self._parser.feed(words))
            if self._overdue is not None:
                self._overdue.cancel()
            if ESCAPE in words:
                self._overdue = self._loop.call_later(ESCAPE_DELAY + OVERDUE, self._give_up_waiting)

    def _give_up_waiting(self) -> None:
        """Take an escape that nothing followed for the key itself."""
        self._send(self._parser.tick())

    def _send(self, messages: Iterable[Message]) -> None:
        for message in messages:
            self.process_message(message)


def end_without_terminal() -> None:
    """End as a closed terminal ends a program, also where that signal did not come or is ignored."""
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    os.kill(os.getpid(), signal.SIGTERM if ignored else signal.SIGHUP)
