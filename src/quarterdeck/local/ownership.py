"""One owner per data folder, by a lock that the system gives back when its holder dies."""

import fcntl
import os
from pathlib import Path


class Ownership:
    """The lock of a data folder; only its holder may write down that a sandbox is dead.

    Whoever opens the folder asks for it without waiting, and asks again each time it matters: it passes on when its
    holder closes the folder or dies.
    """

    def __init__(self, folder: Path) -> None:
        self._file = os.open(folder / "owner.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._held = False

    def held(self) -> bool:
        """Whether this opening of the folder owns it now."""
        if not self._held:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            self._held = True
        return True

    def close(self) -> None:
        """Give the lock back."""
        os.close(self._file)
