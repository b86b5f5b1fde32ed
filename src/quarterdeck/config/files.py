"""Small private files: read without trusting what is there, written whole or not at all."""

import os
import stat
from collections.abc import Iterable
from pathlib import Path

LARGEST = 256 * 1024
"""Bytes of a file that are read; a larger one is not ours."""


class UnusableFileError(Exception):
    """A file is there but cannot be used; the text names it and says why."""


def read(path: Path, *, private: bool = False, largest: int = LARGEST) -> str | None:
    """Text of a regular file of at most `largest` bytes, None where there is none; never waits.

    Raises UnusableFileError. A `private` file is not used while anybody else may open it, not even by root.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except FileNotFoundError:
        if path.is_symlink():
            raise UnusableFileError(f"{path} is a link to a file that is not there") from None
        return None
    except OSError as error:
        raise UnusableFileError(f"{path} could not be opened: {error.strerror}") from None
    try:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            raise UnusableFileError(f"{path} is not a regular file")
        if facts.st_uid != os.geteuid() and (private or os.geteuid() != 0):
            raise UnusableFileError(f"{path} belongs to another user")
        if private and facts.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise UnusableFileError(f"{path} is open to other users: make it yours alone with chmod 600")
        with os.fdopen(handle, "rb", closefd=False) as file:
            content = file.read(largest + 1)
    finally:
        os.close(handle)
    if len(content) > largest:
        raise UnusableFileError(f"{path} is larger than {largest // 1024} kB")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UnusableFileError(f"{path} is not text in UTF-8 (line {line})") from None


def write(path: Path, pieces: Iterable[str]) -> None:
    """Put a file of mode 0600 in place of the old in one step, following a link.

    The old one stays where a piece cannot be made, or written (OSError).
    """
    import tempfile

    target = path.resolve()
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(handle)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Make a rename last through a power cut."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
