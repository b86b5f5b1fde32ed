"""A name for this process, with which a later process can find out whether it is still running."""

import os
from functools import cache
from pathlib import Path


def this_process() -> str:
    """Return the name of this process: boot id, process id and start time, as far as the system tells them."""
    return _name(os.getpid())


def is_running(name: str) -> bool:
    """Whether the process with that name is running; false for an empty name or an earlier boot."""
    boot, _, rest = name.partition(":")
    number = rest.partition(":")[0]
    if boot != _boot() or not number.isdecimal() or int(number) == 0:
        return False
    try:
        os.kill(int(number), 0)
    except PermissionError:
        return _name(int(number)) == name
    except (OSError, OverflowError):
        return False
    return _name(int(number)) == name


def _name(number: int) -> str:
    """Return a process's name; process ids are reused, but the start time differs (proc(5), field 22)."""
    try:
        began = (
            Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19]
        )
    except (OSError, IndexError):
        began = ""
    return f"{_boot()}:{number}:{began}"


@cache
def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return "boot"
