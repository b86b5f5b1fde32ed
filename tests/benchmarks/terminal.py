"""A program in a pseudo-terminal of its own: keys go in, what reaches the screen is counted and timed."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

QUIET = 0.12
"""Seconds without a byte after which the program is taken to be done."""
PATIENCE = 30.0
NOTHING_MORE: Mapping[str, str] = {}
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

    def __init__(
        self,
        command: Sequence[str],
        *,
        columns: int = 120,
        lines: int = 40,
        environment: Mapping[str, str] = NOTHING_MORE,
    ) -> None:
        self._command = command
        self._size = struct.pack("HHHH", lines, columns, 0, 0)
        self._more = environment

    def __enter__(self) -> "Terminal":
        self._fd, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, self._size)
        environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "TEXTUAL_ANIMATIONS": "none"}
        environment |= self._more
        self._began = time.perf_counter()
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
        cpu, began = self.cpu(), time.perf_counter()
        os.write(self._fd, keys.encode())
        return self._until_quiet(began, cpu)

    def send(self, number: signal.Signals) -> Cost:
        """Send a signal and wait as for keys."""
        cpu, began = self.cpu(), time.perf_counter()
        self._process.send_signal(number)
        return self._until_quiet(began, cpu)

    def start(self) -> Cost:
        """Wait for the first picture; counted from the start of the program."""
        return self._until_quiet(time.perf_counter(), 0.0)

    def until(self, shown: bytes, since: float | None = None, patience: float = PATIENCE) -> float:
        """Read until these bytes were written; gives the seconds since then, by default since the program began."""
        began = self._began if since is None else since
        seen = b""
        while shown not in seen:
            chunk = self._read(patience)
            if chunk is None:
                raise TimeoutError(f"{shown!r} was not painted within {patience:.0f} s: {' '.join(self._command)}")
            seen = seen[-len(shown) :] + chunk
        return time.perf_counter() - began

    def answers(self, keys: Sequence[str], shown: bytes, pause: Callable[[], float]) -> list[float]:
        """Type keys at a pace, whatever the program does; gives how long each waited until these bytes came."""
        waiting: list[float] = []
        answered: list[float] = []
        for key in [*keys, ""]:
            os.write(self._fd, key.encode())
            waiting += [time.perf_counter()] * bool(key)
            until = time.perf_counter() + (pause() if key else 1.0)
            while (rest := until - time.perf_counter()) > 0:
                if shown in (self._read(rest) or b""):
                    now = time.perf_counter()
                    answered += [now - asked for asked in waiting]
                    waiting.clear()
        return answered + [time.perf_counter() - asked for asked in waiting]

    def rest(self, seconds: float) -> Cost:
        """Leave the program alone for so long."""
        cpu, began, written = self.cpu(), time.perf_counter(), 0
        while (rest := began + seconds - time.perf_counter()) > 0:
            written += len(self._read(rest) or b"")
        return Cost(0.0, seconds, self.cpu() - cpu, written)

    def leave(self, key: str) -> float:
        """Type the key that ends the program; gives the seconds until it is gone."""
        began = time.perf_counter()
        os.write(self._fd, key.encode())
        while self._process.poll() is None and time.perf_counter() - began < PATIENCE:
            self._read(0.005)
        return time.perf_counter() - began

    @property
    def most_memory(self) -> float:
        """The most memory the program had so far, in MB."""
        lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024

    def _until_quiet(self, began: float, cpu: float) -> Cost:
        stamps: list[float] = []
        written = 0
        while (chunk := self._read(QUIET if stamps else PATIENCE)) is not None:
            stamps.append(time.perf_counter() - began)
            written += len(chunk)
        if not stamps:
            raise TimeoutError(f"nothing was painted for {PATIENCE:.0f} s: {' '.join(self._command)}")
        return Cost(stamps[0], stamps[-1], self.cpu() - cpu, written)

    def _read(self, patience: float) -> bytes | None:
        """What the program writes next, its questions answered; None when it writes nothing, or is gone."""
        if not select.select([self._fd], [], [], patience)[0]:
            return None
        try:
            chunk = os.read(self._fd, 65536)
        except OSError:
            return None
        for question, answer in ANSWERS.items():
            if question in chunk:
                os.write(self._fd, answer)
        return chunk

    def cpu(self) -> float:
        """CPU seconds of the program so far, all its threads.

        Linux numbers the CPU clock of a process so; see the macro MAKE_PROCESS_CPUCLOCK of its time.h.
        """
        return time.clock_gettime((~self._process.pid << 3) | 2)
