"""The small process that leads a sandbox's session: starts its command, reaps, ends with it.

Run as a script by its path, with the standard library alone: ``supervisor.py LOG INPUT COMMAND...``. It forks the
leader into a session of its own, says the leader's pid on standard output once the command runs, and exits; when the
command cannot be run it says why on standard error and exits with 1. LOG takes the command's output (a pipe would hang
or kill it once its reader is gone); INPUT is what it reads: the null device, or a FIFO that never ends.
"""

import ctypes
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType

_SET_PARENT_DEATH_SIGNAL = 1
_SET_CHILD_SUBREAPER = 36
_GRACE = 3.0
"""Seconds that what the command left behind has to end after SIGTERM."""


def main(log: str, feed: str, *command: str) -> int:
    """Fork the leader and report what became of it."""
    reading, writing = os.pipe()
    leader = os.fork()
    if leader == 0:
        os.close(reading)
        os.setsid()
        os._exit(_lead(log, feed, command, writing))
    os.close(writing)
    with os.fdopen(reading) as report:
        trouble = report.read()
    print(trouble or leader, file=sys.stderr if trouble else sys.stdout)
    return 1 if trouble else 0


def _lead(log: str, feed: str, command: tuple[str, ...], report: int) -> int:
    """Be the leader: run the command, reap until it ends, end what it left, give its exit status."""
    _process_control(_SET_CHILD_SUBREAPER, 1)
    try:
        output = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        source = os.open(feed, os.O_RDWR)
    except OSError as error:
        os.write(report, str(error).encode())
        return 1
    for target, inherited in ((0, source), (1, output), (2, output)):
        os.dup2(inherited, target)
    child = os.fork()
    if child == 0:
        _become(command, report)
    os.close(report)

    def pass_on(number: int, _frame: FrameType | None) -> None:
        with suppress(ProcessLookupError):
            os.kill(child, number)

    signal.signal(signal.SIGTERM, pass_on)
    ended, status = os.wait()
    while ended != child:
        ended, status = os.wait()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _end_children()
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _become(command: tuple[str, ...], report: int) -> None:
    """Turn into the command; what prevents it goes to the report, which running it closes."""
    _process_control(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    for ignored_by_python in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored_by_python, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)  # noqa: S606 - the command of a spec, no shell
    except OSError as error:
        os.write(report, f"{command[0]}: {error.strerror}".encode())
        os._exit(127)


def _end_children() -> None:
    """End every descendant: as subreaper the leader gets those whose parents died."""
    deadline = time.monotonic() + _GRACE
    number = signal.SIGTERM
    asked: set[int] = set()
    while children := _children():
        for child in children - asked:
            os.kill(child, number)
        asked |= children
        if os.waitpid(-1, os.WNOHANG)[0] == 0:
            time.sleep(0.02)
        if number == signal.SIGTERM and time.monotonic() > deadline:
            number = signal.SIGKILL
            asked.clear()


def _children() -> set[int]:
    """Pids of the direct children; none where the kernel does not tell."""
    try:
        return {int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}
    except FileNotFoundError:
        return set()


def _process_control(option: int, value: int) -> None:
    """Call prctl where there is one (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
