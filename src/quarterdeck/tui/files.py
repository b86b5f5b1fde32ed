"""Files that a person names: read without trusting them, written for this person only."""

from pathlib import Path

from quarterdeck.config import files
from quarterdeck.config.files import ConfigError

LARGEST = 8 * 1024 * 1024
"""Maximum bytes read from a file; settings are far smaller."""


def read(path: Path) -> str:
    """Return the text of a regular file; never waits for a pipe. Raises ConfigError."""
    text = files.read(path, named=True, largest=LARGEST)
    if text is None:
        raise ConfigError(f"{path} is not there")
    return text


def write(path: Path, content: str | bytes, *, over: bool) -> None:
    """Write a file of mode 0600, completely or not at all; an existing file is replaced only if `over`.

    Raises FileExistsError, and ConfigError for everything else.
    """
    if over and not path.is_file():
        raise ConfigError(f"{path} is not a file")
    try:
        if not over:
            path.touch(mode=0o600, exist_ok=False)
        try:
            files.write(path, content)
        except OSError:
            if not over:
                path.unlink(missing_ok=True)
            raise
    except FileExistsError:
        raise
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}") from None
