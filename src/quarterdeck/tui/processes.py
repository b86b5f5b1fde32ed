"""A name for this process, with which a later process can find out whether it is still running."""

import os
from functools import cache
from pathlib import Path

import psutil


def this_process() -> str:
    """Return the name of this process: boot id, process id and start time, as far as the system tells them."""
    return _name(os.getpid())


def is_running(name: str) -> bool:
    """Whether the process with that name is running; false for an empty name or an earlier boot."""
    return any(f":{number}:" in name and _name(number) == name for number in psutil.pids())


def _name(number: int) -> str:
    """Return a process's name; process ids are reused, but the start time differs (proc(5), field 22).

    One that has ended, but that nobody has waited for, has none.
    """
    try:
        stat = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace")
        state, *fields = stat.rpartition(")")[2].split()
        began = "" if state in "ZX" else fields[18]
    except (OSError, ValueError, IndexError):
        began = ""
    return f"{_boot()}:{number}:{began}"


@cache
def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return "boot"
