"""Sandboxes as sessions of processes: started independently of the service, identified, and signalled as a whole."""

import asyncio
import functools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from quarterdeck.local.errors import LocalServiceError
from quarterdeck.local.sandboxes import Identity

_SUPERVISOR = str(Path(__file__).with_name("supervisor.py"))
_LAUNCHES_WITHIN = 15.0
"""Seconds for a supervisor to report that its command runs."""
_SETTLES_WITHIN = 5.0
"""Seconds for signalled processes to stop, continue or end."""
_SIGNALLED_AGAIN = 0.03
"""Seconds between two signals to processes that have not settled."""
_HAS_PROC = Path("/proc/self/stat").exists()
_STOPPED = frozenset("Tt")
_GONE = frozenset("ZX")
_PSUTIL_STATES = {psutil.STATUS_STOPPED: "T", psutil.STATUS_ZOMBIE: "Z", psutil.STATUS_DEAD: "X"}


@dataclass(frozen=True)
class Process:
    """A process as reported by the system; `state` is the letter of proc(5)."""

    pid: int
    state: str
    session: int
    ticks: int

    @property
    def stopped(self) -> bool:
        """Whether a signal has stopped it."""
        return self.state in _STOPPED


@functools.cache
def boot_id() -> str:
    """Return a text that differs after each boot."""
    if _HAS_PROC:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return str(int(psutil.boot_time()))


def read_process(pid: int) -> Process | None:
    """Read one process; None if there is none."""
    if not _HAS_PROC:
        return read_with_psutil(pid)
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text[text.rindex(")") + 2 :].split()  # the name before it may contain spaces and parentheses
    return Process(pid, state=fields[0], session=int(fields[3]), ticks=int(fields[19]))


def read_with_psutil(pid: int) -> Process | None:
    """Read one process without /proc; ticks are then hundredths of a second since the epoch."""
    try:
        process = psutil.Process(pid)
        state = _PSUTIL_STATES.get(process.status(), "S")
        return Process(pid, state, os.getsid(pid), int(process.create_time() * 100))
    except (psutil.Error, ProcessLookupError, PermissionError):
        return None


def launch(command: tuple[str, ...], folder: Path, log: Path, feed: Path, environment: Mapping[str, str]) -> Identity:
    """Start a session that runs a command, and return the identity of its leader; blocks for about 30 ms.

    Its output goes to `log`, its input comes from `feed`. Raises `LocalServiceError` if the command cannot be run.
    """
    try:
        report = subprocess.run(
            [sys.executable, "-I", "-S", _SUPERVISOR, str(log), str(feed), *command],
            cwd=folder,
            env={**inherited_environment(), **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_LAUNCHES_WITHIN,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise LocalServiceError("The sandbox did not start in time.") from None
    if not report.stdout.strip().isdecimal():
        raise LocalServiceError(f"The sandbox could not be started: {report.stderr.strip()[-300:] or 'no word why'}")
    leader = int(report.stdout)
    return identify(leader) or Identity(leader, 0, boot_id())  # no live process started at tick 0


def inherited_environment() -> dict[str, str]:
    """Return our environment without variables for Quarterdeck, which include keys."""
    return {name: value for name, value in os.environ.items() if not name.startswith("QUARTERDECK_")}


def identify(pid: int) -> Identity | None:
    """Return the identity of a process; None if it is gone."""
    found = read_process(pid)
    return Identity(pid, found.ticks, boot_id()) if found and found.state not in _GONE else None


def live_process(identity: Identity) -> Process | None:
    """Return a process, None if it is gone, as a zombie is, and any process from before this boot."""
    found = read_process(identity.pid) if identity.boot == boot_id() else None
    return found if found and found.ticks == identity.ticks and found.state not in _GONE else None


def members(leader: Identity) -> list[Process]:
    """Return every live process of the session that `leader` leads or led; blocks for some milliseconds.

    The id of a session is not reused while a member lives, so a process with the leader's pid but another start time
    means that the session is over.
    """
    at_pid = read_process(leader.pid)
    if leader.boot != boot_id() or (at_pid and at_pid.ticks != leader.ticks):
        return []
    processes = (read_process(pid) for pid in psutil.pids())
    return [found for found in processes if found and found.session == leader.pid and found.state not in _GONE]


async def stop_session(leader: Identity) -> bool:
    """Stop every process of the session until there is no new one; returns whether all are stopped."""
    return await _signal_until(leader, signal.SIGSTOP, lambda process: process.stopped)


async def continue_session(leader: Identity) -> bool:
    """Continue every process of the session; returns whether all do."""
    return await _signal_until(leader, signal.SIGCONT, lambda process: not process.stopped)


async def end_session(leader: Identity) -> bool:
    """End every process of the session, by force after some seconds; returns whether all are gone.

    SIGCONT follows SIGTERM, because a stopped process handles SIGTERM only when it continues.
    """
    for number in (signal.SIGTERM, signal.SIGCONT):
        await asyncio.to_thread(_signal_unsettled, leader, number, _never)
    return await _signal_until(leader, 0, _never) or await _signal_until(leader, signal.SIGKILL, _never)


def _never(_process: Process) -> bool:
    return False


async def _signal_until(leader: Identity, number: int, settled: Callable[[Process], bool]) -> bool:
    """Signal the processes that are not settled repeatedly, for some seconds at most."""
    deadline = time.monotonic() + _SETTLES_WITHIN
    while await asyncio.to_thread(_signal_unsettled, leader, number, settled):
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(_SIGNALLED_AGAIN)
    return True


def _signal_unsettled(leader: Identity, number: int, settled: Callable[[Process], bool]) -> int:
    """Signal each process of the session that is not settled; returns how many there were."""
    unsettled = [process for process in members(leader) if not settled(process)]
    for process in unsettled:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process.pid, number)
    return len(unsettled)
