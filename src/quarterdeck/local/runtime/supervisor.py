"""The small process that leads a sandbox's session: starts its command, reaps, ends with it.

It is run as a script by its path, with the standard library alone: ``supervisor.py LOG INPUT COMMAND...``. It forks the
leader into a session of its own and exits. The leader prints its pid on standard output once the command runs, or an
error on standard error. LOG receives the command's output (a pipe would block or kill it once its reader is gone);
INPUT is what it reads: the null device, or a FIFO that never ends.
"""

import ctypes
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import FrameType

_SET_PARENT_DEATH_SIGNAL = 1
_SET_CHILD_SUBREAPER = 36


def lead(log: str, feed: str, *command: str) -> None:
    """Lead the session: run the command, reap until it ends, and end the remaining processes."""
    os.setsid()
    _process_control(_SET_CHILD_SUBREAPER, 1)
    try:
        child = subprocess.Popen(
            command,
            stdin=os.open(feed, os.O_RDWR),
            stdout=os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600),
            stderr=subprocess.STDOUT,
            preexec_fn=lambda: _process_control(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL),  # noqa: PLW1509 - one thread
        )
    except OSError as error:
        sys.exit(str(error))

    def pass_on(number: int, _frame: FrameType | None) -> None:
        with suppress(ProcessLookupError):
            os.kill(child.pid, number)

    signal.signal(signal.SIGTERM, pass_on)
    print(os.getpid(), flush=True)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for inherited in (0, 1, 2):
        os.dup2(nowhere, inherited)
    while os.wait()[0] != child.pid:
        pass
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while children := _children():
        for pid in children:
            os.kill(pid, signal.SIGKILL)
        os.wait()


def _children() -> list[int]:
    """Return the pids of the direct children, including orphans of the session: the leader is a subreaper."""
    try:
        return [int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]
    except FileNotFoundError:  # the kernel does not provide it
        return []


def _process_control(option: int, value: int) -> None:
    """Call prctl if available (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__" and os.fork() == 0:
    lead(*sys.argv[1:])
