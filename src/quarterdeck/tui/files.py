"""Files that a person names: read without trusting what is there, written for this person alone."""

import os
from pathlib import Path

from quarterdeck.config import files

LARGEST = 8 * 1024 * 1024
"""Bytes of a file that is read; settings are far smaller."""


class FileRefusedError(Exception):
    """A file cannot be read or written; the text says which and why."""


def read(path: Path) -> str:
    """Text of a regular file; never waits for a pipe. Raises FileRefusedError."""
    try:
        text = files.read(path, named=True, largest=LARGEST)
    except files.ConfigError as error:
        raise FileRefusedError(f"{error}.") from None
    if text is None:
        raise FileRefusedError(f"{path} is not there.")
    return text


def write(path: Path, content: str | bytes, *, over: bool) -> None:
    """Write a file of mode 0600, whole or not at all; one that is there only goes if `over`.

    Raises FileExistsError, and FileRefusedError for everything else.
    """
    try:
        if over and not path.is_file():
            raise FileRefusedError(f"{path} is not a file.")
        if not over:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        try:
            files.write(path, content)
        except OSError:
            if not over:
                path.unlink(missing_ok=True)
            raise
    except FileExistsError:
        raise
    except OSError as error:
        raise FileRefusedError(f"{path} cannot be written: {error.strerror}.") from None
