"""A program in a pseudo-terminal of its own: keys go in, what reaches the screen is counted and timed."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Condition, Thread
from types import TracebackType
from typing import Self

import psutil
import pyte

COLUMNS, LINES = 120, 40
PATIENCE = 30.0
ANSWERS = {
    b"\x1b[c": b"\x1b[?62;22c",
    b"\x1b[?2026$p": b"\x1b[?2026;0$y",
    b"\x1b[?2048$p": b"\x1b[?2048;0$y",
}
"""What a plain xterm answers to the questions of Textual: it has no synchronised output and no in-band resize."""
MODE = re.compile(rb"\x1b\[\?([\d;]+)([hl])")
ON_AT_FIRST = {b"7", b"25"}
"""Modes of a terminal that are on when a program starts: it wraps lines, and shows its cursor."""


class Terminal:
    """`with Terminal([...], os.environ) as terminal`: the program runs until the block ends.

    What it writes is read and stamped by a thread at once, so that no program waits for who looks at another.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._command = command
        self._environment = {**environment, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        self._environment["TEXTUAL_ANIMATIONS"] = "none"
        self._written: list[tuple[float, bytes]] = []
        self._news = Condition()
        self._screen = pyte.Screen(COLUMNS, LINES)
        self._stream = pyte.ByteStream(self._screen)
        self._drawn = 0

    def __enter__(self) -> Self:
        self._fd, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        self._began = time.perf_counter()
        self._process = subprocess.Popen(
            self._command, stdin=inner, stdout=inner, stderr=inner, env=self._environment, start_new_session=True
        )
        os.close(inner)
        self._listener = Thread(target=self._listen, daemon=True)
        self._listener.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        try:
            self._process.wait(3)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._listener.join(3)
        os.close(self._fd)

    def until(self, shown: bytes) -> float:
        """Wait until these bytes were written; gives the seconds from the start of the program to then."""
        with self._news:
            if not self._news.wait_for(lambda: shown in self._output, PATIENCE):
                raise TimeoutError(f"{shown!r} was not painted within {PATIENCE:.0f} s: {' '.join(self._command)}")
            seen = b""
            for stamp, chunk in self._written:
                seen = seen[-len(shown) :] + chunk
                if shown in seen:
                    return stamp - self._began
            raise AssertionError(shown)

    def press(self, keys: str) -> None:
        """Type keys, and wait for nothing."""
        os.write(self._fd, keys.encode())

    def answers(self, keys: Sequence[str], pause: Callable[[], float]) -> list[float]:
        """Type keys that move a cursor, at a pace, whatever the program does; gives how long each waited.

        A key is answered by the first bytes after which another line has the background of the cursor, so that what
        changes by itself is not taken for an answer. One that is never answered has waited until the end.
        """
        grounds = [grounds for _, grounds in self._draw()][-1:]
        asked: list[float] = []
        waited: list[float] = []
        for key in keys:
            asked.append(time.perf_counter())
            self.press(key)
            time.sleep(pause())
        time.sleep(1.0)
        end = time.perf_counter()
        for stamp, now in self._draw():
            if [now] != grounds:
                grounds = [now]
                waited += [stamp - each for each in asked[len(waited) :] if each <= stamp]
        return waited + [end - each for each in asked[len(waited) :]]

    def count(self, seconds: float) -> int:
        """Leave the program alone for so long; gives the bytes that it wrote."""
        before = len(self._output)
        time.sleep(seconds)
        return len(self._output) - before

    def leave(self, key: str) -> float:
        """Type the key that ends the program; gives the seconds until it is gone."""
        began = time.perf_counter()
        self.press(key)
        self._process.wait(PATIENCE)
        return time.perf_counter() - began

    @property
    def left_behind(self) -> int:
        """After leaving: how many processes of its session still run, and modes of the terminal are not as before."""
        self._listener.join(3)
        modes: dict[bytes, bytes] = {}
        for numbers, state in MODE.findall(self._output):
            modes |= dict.fromkeys(numbers.split(b";"), state)
        changed = sum((state == b"h") != (mode in ON_AT_FIRST) for mode, state in modes.items())
        return changed + sum(_session(each) == self._process.pid for each in psutil.pids())

    @property
    def most_memory(self) -> float:
        """The most memory the program had so far, in MB."""
        lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024

    @property
    def cpu(self) -> float:
        """CPU seconds of the program so far, all its threads.

        Linux numbers the CPU clock of a process so; see the macro MAKE_PROCESS_CPUCLOCK of its time.h.
        """
        return time.clock_gettime((~self._process.pid << 3) | 2)

    @property
    def _output(self) -> bytes:
        return b"".join(chunk for _, chunk in self._written)

    def _draw(self) -> Iterator[tuple[float, list[str]]]:
        """Draw what was written since; gives the time of each chunk, and the background of each line after it."""
        new = self._written[self._drawn :]
        self._drawn += len(new)
        for stamp, chunk in new:
            self._stream.feed(chunk)
            yield stamp, [self._screen.buffer[line][3].bg for line in range(LINES)]

    def _listen(self) -> None:
        """Take in what the program writes until it is gone, and answer its questions."""
        with suppress(OSError):
            while chunk := os.read(self._fd, 65536):
                stamp = time.perf_counter()
                for question, answer in ANSWERS.items():
                    if question in chunk:
                        os.write(self._fd, answer)
                with self._news:
                    self._written.append((stamp, chunk))
                    self._news.notify_all()


def _session(number: int) -> int:
    try:
        return os.getsid(number)
    except OSError:
        return 0
