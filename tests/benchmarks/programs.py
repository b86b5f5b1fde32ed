"""The programs that are measured, the server behind them, and the terminals that they run in.

The answers of a program are timed: what it writes is read and stamped by a thread at once.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Condition, Thread

import psutil

from tests.cli import pty_kit

COLUMNS, LINES = 120, 40
PATIENCE = 30.0
ANSWERS = {b"\x1b[c": b"\x1b[?62;22c", b"\x1b[?2026$p": b"\x1b[?2026;0$y", b"\x1b[?2048$p": b"\x1b[?2048;0$y"}
"""What a plain xterm answers to the questions of Textual: it has no synchronised output and no in-band resize."""
LOOK = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "TEXTUAL_ANIMATIONS": "none"}
COMPILED = {"PYTHONDONTWRITEBYTECODE": ""}
"""Modules are compiled at their first import only, as those of an installed program are."""


class Terminal(pty_kit.Terminal):
    """The program runs until the block ends; no program waits for who looks at another."""

    def __init__(self, program: Sequence[str], environment: Mapping[str, str]) -> None:
        self._written: list[tuple[float, bytes]] = []
        self._news, self._drawn = Condition(), 0
        self._began = time.perf_counter()
        super().__init__(*program, env={**environment, **LOOK, **COMPILED}, columns=COLUMNS, rows=LINES)
        self._listener = Thread(target=self._listen, daemon=True)
        self._listener.start()

    def until(self, shown: bytes) -> float:
        """Wait until these bytes were written; gives the seconds from the start of the program to then."""
        with self._news:
            if not self._news.wait_for(lambda: shown in self.output, PATIENCE):
                raise TimeoutError(f"{shown!r} was not painted within {PATIENCE:.0f} s: {self.process.args!r}")
            seen = b""
            for stamp, chunk in self._written:
                seen = seen[-len(shown) :] + chunk
                if shown in seen:
                    return stamp - self._began
            raise AssertionError(shown)

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
            self.type_unread(key)
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
        before = len(self.output)
        time.sleep(seconds)
        return len(self.output) - before

    def leave(self, key: str) -> float:
        """Type the key that ends the program; gives the seconds until it is gone."""
        began = time.perf_counter()
        self.type_unread(key)
        self.process.wait(PATIENCE)
        return time.perf_counter() - began

    @property
    def left_behind(self) -> int:
        """After leaving: how many processes of its session still run, and modes of the terminal are not as before."""
        self._listener.join(3)
        return len(self.modes_left) + sum(_session(each) == self.process.pid for each in psutil.pids())

    @property
    def most_memory(self) -> float:
        """The most memory the program had so far, in MB."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024

    @property
    def cpu(self) -> float:
        """CPU seconds of the program so far, all its threads.

        Linux numbers the CPU clock of a process so; see the macro MAKE_PROCESS_CPUCLOCK of its time.h.
        """
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def _draw(self) -> Iterator[tuple[float, list[str]]]:
        """Draw what was written since; gives the time of each chunk, and the background of each line after it."""
        new = self._written[self._drawn :]
        self._drawn += len(new)
        for stamp, chunk in new:
            self.stream.feed(chunk)
            yield stamp, [self.screen.buffer[line][3].bg for line in range(LINES)]

    def _listen(self) -> None:
        """Take in what the program writes until it is gone, and answer its questions."""
        with suppress(OSError):
            while chunk := os.read(self.master, 65536):
                stamp = time.perf_counter()
                for question, answer in ANSWERS.items():
                    if question in chunk:
                        os.write(self.master, answer)
                with self._news:
                    self._written.append((stamp, chunk))
                    self.output += chunk
                    self._news.notify_all()


def _session(number: int) -> int:
    try:
        return os.getsid(number)
    except OSError:
        return 0


PASS, VERSION = [sys.executable, "-c", "pass"], [sys.executable, "-m", "quarterdeck", "--version"]
FRAME = b"Conversations"
CONVERSATION = b"Conversation 59"  # the conversation that was changed last, at the top of the deck's first list
NO_CONVERSATION = b"No conversations"
SANDBOX = b"sandbox-000000"  # the first row of the plain deck
FLOOR_ROW = b"row-30"
SANDBOXES, QUIT = "2", "\x11"
"""Keys of the deck: the list of sandboxes, and leaving."""
ENVIRONMENT: Mapping[str, str] = {"LANG": "C.UTF-8", "QUARTERDECK_API_KEY": "key"}


@contextmanager
def server(sandboxes: int, *arguments: str) -> Iterator[str]:
    """The stand-in for a server, with a hundred conversations too; gives its address."""
    command = [sys.executable, "-m", "tests.benchmarks.server", str(sandboxes), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.terminate()


@contextmanager
def deck(address: str | None = None) -> Iterator[Terminal]:
    """A deck with a home of its own on that server, or on the local service."""
    with TemporaryDirectory() as home:
        folders = {f"XDG_{name}_HOME": str(Path(home, name)) for name in ("CONFIG", "DATA", "STATE")}
        command = [sys.executable, "-m", "quarterdeck", *(("--url", address) if address is not None else ())]
        with Terminal(command, {**os.environ, **ENVIRONMENT, "HOME": home, **folders}) as terminal:
            yield terminal


def at_sandboxes(deck: Terminal, seconds: float, after: bytes = CONVERSATION) -> None:
    """Go to the list of sandboxes once that is painted, and give it so long to read everything."""
    deck.until(after)
    deck.type_unread(SANDBOXES)
    time.sleep(seconds)


def plain(address: str) -> Terminal:
    return Terminal([sys.executable, "-m", "tests.benchmarks.plain", address], os.environ)


def floor() -> Terminal:
    return Terminal([sys.executable, "-m", "tests.benchmarks.floor"], os.environ)
