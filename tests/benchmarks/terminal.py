"""A program in a pseudo-terminal of its own: keys go in, what reaches the screen is counted and timed."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType

QUIET = 0.12
"""Seconds without a byte after which the program is taken to be done."""
PATIENCE = 30.0
ANSWERS = {
    b"\x1b[c": b"\x1b[?62;22c",
    b"\x1b[?2026$p": b"\x1b[?2026;0$y",
    b"\x1b[?2048$p": b"\x1b[?2048;0$y",
}
"""What a plain xterm answers to the questions of Textual: it has no synchronised output and no in-band resize."""


@dataclass(frozen=True)
class Cost:
    """What happened between a key and quiet."""

    first: float
    """Seconds to the first byte."""
    last: float
    """Seconds to the last byte."""
    cpu: float
    """CPU seconds of the program, all its threads."""
    written: int
    """Bytes to the terminal."""


class Terminal:
    """`with Terminal([...]) as terminal`: the program runs until the block ends."""

    def __init__(self, command: Sequence[str], *, columns: int = 120, lines: int = 40) -> None:
        self._command = command
        self._size = struct.pack("HHHH", lines, columns, 0, 0)

    def __enter__(self) -> "Terminal":
        self._fd, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, self._size)
        environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "TEXTUAL_ANIMATIONS": "none"}
        self._process = subprocess.Popen(
            self._command, stdin=inner, stdout=inner, stderr=inner, env=environment, start_new_session=True
        )
        os.close(inner)
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
        os.close(self._fd)

    def press(self, keys: str) -> Cost:
        """Type keys and wait until the program has been quiet for `QUIET` seconds."""
        cpu, began = self._cpu(), time.perf_counter()
        os.write(self._fd, keys.encode())
        return self._until_quiet(began, cpu)

    def start(self) -> Cost:
        """Wait for the first picture; counted from the start of the program."""
        return self._until_quiet(time.perf_counter(), 0.0)

    def _until_quiet(self, began: float, cpu: float) -> Cost:
        stamps: list[float] = []
        written = 0
        while select.select([self._fd], [], [], QUIET if stamps else PATIENCE)[0]:
            chunk = os.read(self._fd, 65536)
            stamps.append(time.perf_counter() - began)
            written += len(chunk)
            for question, answer in ANSWERS.items():
                if question in chunk:
                    os.write(self._fd, answer)
        if not stamps:
            raise TimeoutError(f"nothing was painted for {PATIENCE:.0f} s: {' '.join(self._command)}")
        return Cost(stamps[0], stamps[-1], self._cpu() - cpu, written)

    def _cpu(self) -> float:
        """Linux numbers the CPU clock of a process so; see the macro MAKE_PROCESS_CPUCLOCK of its time.h."""
        return time.clock_gettime((~self._process.pid << 3) | 2)
