"""A program in a terminal of its own: press keys, read the screen, and see what is left of it afterwards."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from typing import Any, Self

import pyte
from pyte.screens import Char

KEYS = {f"ctrl+{letter}": bytes([ord(letter) & 31]) for letter in "lqrsz"} | {"enter": b"\r", "escape": b"\x1b"}
_MODE = re.compile(rb"\x1b\[\?([\d;]+)([hl])")
_NORMAL = {7: True, 25: True}  # modes that a terminal starts with; all others are off


class Terminal:
    """Runs a program as the leader of a session whose terminal we hold; leaving the block kills what still runs."""

    def __init__(self, *program: str, env: Mapping[str, str] | None = None, columns: int = 80, rows: int = 24) -> None:
        self.screen, self.output = pyte.Screen(columns, rows), bytearray()
        self.stream = pyte.ByteStream(self.screen)
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.line_settings: Sequence[Any] = termios.tcgetattr(self.master)
        self.process = subprocess.Popen(
            program,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=dict(os.environ if env is None else env),
            start_new_session=True,
            preexec_fn=_take_terminal,
        )
        os.close(slave)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.master)

    def press(self, *keys: str, shows: str | Sequence[str] = ()) -> None:
        """Type keys, names of KEYS or the characters themselves, and wait until this is on the screen."""
        for key in keys:
            self.send(KEYS.get(key, key.encode()))
        if shows:
            self.shows(*((shows,) if isinstance(shows, str) else shows))

    def send(self, data: bytes) -> None:
        """Type bytes, whatever they are, as fast as the program takes them in."""
        while data:
            data = data[os.write(self.master, data[:1024]) :]
            self._read(0)

    def type_unread(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def shows(self, *texts: str, seconds: float = 20) -> str:
        """Wait until all texts are on the screen at once, and return it; fails with what is there instead."""
        end = time.monotonic() + seconds
        while not all(text in self.text for text in texts):
            if not self._read(end - time.monotonic()):
                raise AssertionError(f"{texts} not on the screen after {seconds} s:\n{self.text}")
        return self.text

    def ends(self, seconds: float = 10) -> int:
        """Wait for the end of the program and return its status (negative: killed by that signal)."""
        end = time.monotonic() + seconds
        while self._read(min(0.05, end - time.monotonic())) or self.process.poll() is None:
            assert time.monotonic() < end, f"still running after {seconds} s:\n{self.text}"
        return self.process.wait()

    def quit(self) -> None:
        self.press("ctrl+q")
        assert self.ends() == 0

    def hang_up(self) -> None:
        """Take the terminal away, as a closed window does; nothing can be read afterwards."""
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, self.master)
        os.close(null)

    @property
    def text(self) -> str:
        return "\n".join(self.screen.display)

    def at_rest(self, quiet: float = 0.3) -> list[list[Char]]:
        """Wait until nothing was written for a while; gives every cell of the screen, with its colours."""
        while self._read(quiet):
            pass
        screen = self.screen
        return [[seen(screen.buffer[y][x]) for x in range(screen.columns)] for y in range(screen.lines)]

    @property
    def modes_left(self) -> dict[int, bool]:
        """Terminal modes that are not as they were, and their state; the kitty keyboard protocol counts as mode 0."""
        state: dict[int, bool] = {}
        for numbers, letter in _MODE.findall(self.output):
            state |= dict.fromkeys(map(int, numbers.split(b";")), letter == b"h")
        left = {number: on for number, on in state.items() if on != _NORMAL.get(number, False)}
        pushed, popped = len(re.findall(rb"\x1b\[>\d+u", self.output)), self.output.count(b"\x1b[<u")
        return left | ({0: True} if pushed > popped else {})

    def _read(self, seconds: float) -> bool:
        """Take in what the program wrote; False when nothing came in time or its end of the terminal is closed."""
        ready, _, _ = select.select([self.master], [], [], max(0, seconds))
        if not ready:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:  # nobody holds the other end
            return False
        self.output += data
        self.stream.feed(data)
        return bool(data)


def seen(cell: Char) -> Char:
    """A cell as somebody sees it: of a blank the ground, and what goes through all of the cell."""
    if cell.data != " " or cell.reverse or cell.underscore or cell.strikethrough:
        return cell
    return Char(" ", bg=cell.bg)


def _take_terminal() -> None:
    """Make standard input the terminal of the session, and forget what signals the test run was told to ignore."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def quarterdeck(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "quarterdeck", *arguments)
