"""What is written to the terminal of a person, at once and without ever waiting for it.

Textual writes in a thread, which comes to run only when the loop lets go of the interpreter: after a key that is as
long again as the picture took to make. And when a terminal takes nothing for a while (a stalled line), that thread's
queue is soon full, and all of the deck stands still with it.
"""

from __future__ import annotations

import asyncio
import os
import select
from typing import TextIO

LAST = 1.0
"""Seconds that a terminal may take nothing while the deck leaves it."""


class Output:
    """Writes to a terminal through a file description of its own, which never blocks.

    Raises `OSError` when this file is no terminal, or one that may not be opened again.
    """

    def __init__(self, file: TextIO, loop: asyncio.AbstractEventLoop) -> None:
        self._encoding, self._errors = file.encoding, file.errors or "replace"
        self._loop = loop
        # `O_NONBLOCK` of the description that the deck was given would also hold for the shell it came from.
        self._fd = os.open(os.ttyname(file.fileno()), os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
        self._waiting = b""

    def write(self, words: str) -> None:
        """Write as much as the terminal takes now; the rest follows as soon as it takes more."""
        on_its_way = bool(self._waiting)
        self._waiting += words.encode(self._encoding, self._errors)
        if not on_its_way:
            self._write()
            if self._waiting:
                self._loop.add_writer(self._fd, self._go_on)

    def close(self) -> None:
        """Write what waits, unless the terminal takes nothing for `LAST` seconds, and let it go."""
        self._loop.remove_writer(self._fd)
        while self._waiting and select.select([], [self._fd], [], LAST)[1]:
            self._write()
        os.close(self._fd)

    def _go_on(self) -> None:
        self._write()
        if not self._waiting:
            self._loop.remove_writer(self._fd)

    def _write(self) -> None:
        try:
            self._waiting = self._waiting[os.write(self._fd, self._waiting) :]
        except BlockingIOError:
            return
        except OSError:  # it is gone; the reading of keys sees that too, and ends the deck
            self._waiting = b""
