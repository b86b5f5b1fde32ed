"""Small files, ours or named by a person: read without trusting their content, written completely or not at all."""

import fcntl
import os
import stat
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

LARGEST = 256 * 1024
"""Maximum size of a file in bytes; a larger one is not ours."""
LARGEST_NAMED = 8 * 1024 * 1024
"""Maximum size in bytes of a file that a person names; settings are far smaller."""


class ConfigError(Exception):
    """A file, or something in it, cannot be used; the text says what and where, and contains no secret."""

    @property
    def sentence(self) -> str:
        """The text as a separate sentence."""
        words = str(self)
        return f"{words[:1].upper()}{words[1:]}."


def read(path: Path, *, private: bool = False, named: bool = False, largest: int = LARGEST) -> str | None:
    """Return the text of a regular file of at most `largest` bytes, None if it does not exist; never blocks.

    Raises ConfigError with its name. A `private` file is not used if anybody else can access it, not even by root; a
    file that a person `named` may belong to anybody.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except FileNotFoundError:
        if path.is_symlink():
            raise ConfigError(f"{path} is a link to a file that is not there") from None
        return None
    except OSError as error:
        raise ConfigError(f"{path} could not be opened: {error.strerror}") from None
    try:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            raise ConfigError(f"{path} is not a regular file")
        if facts.st_uid != os.geteuid() and not named and (private or os.geteuid() != 0):
            raise ConfigError(f"{path} belongs to another user")
        if private and facts.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise ConfigError(f"{path} is open to other users: make it yours alone with chmod 600")
        with os.fdopen(handle, "rb", closefd=False) as file:
            content = file.read(largest + 1)
    except OSError as error:
        raise ConfigError(f"{path} could not be read: {error.strerror}") from None
    finally:
        os.close(handle)
    if len(content) > largest:
        raise ConfigError(f"{path} is larger than {largest // 1024} kB")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path} is not text in UTF-8 (line {line})") from None


def read_named(path: Path) -> str:
    """Return the text of a regular file that a person names; never blocks. Raises ConfigError."""
    text = read(path, named=True, largest=LARGEST_NAMED)
    if text is None:
        raise ConfigError(f"{path} is not there")
    return text


def read_toml(path: Path, *, private: bool = False) -> dict[str, Any]:
    """Return the content of a TOML file, empty if it does not exist.

    Raises ConfigError with the file, and the line of a syntax error.
    """
    return parsed_toml(path, read(path, private=private) or "", private=private)


def parsed_toml(path: Path, text: str, *, private: bool = False) -> dict[str, Any]:
    """Parse the text of a TOML file; raises ConfigError, which quotes nothing from a `private` file."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason, place, line = str(error).partition(" (at line ")
        where = f", line {line.partition(',')[0]}" if place else ", at its end"
        raise ConfigError(f"{path}{where}: not TOML{'' if private else f' ({reason})'}") from None
    except (ValueError, RecursionError):
        raise ConfigError(f"{path} is not TOML a person would write") from None


def make_folder(path: Path) -> None:
    """Create a folder and those above it, as far as they are missing, for this user alone (XDG base directories)."""
    for folder in (*reversed(path.parents), path):
        folder.mkdir(mode=0o700, exist_ok=True)


@contextmanager
def changing(path: Path) -> Iterator[None]:
    """Create the folder of a file if it is missing, and keep all others of ours from changing its files meanwhile.

    Others are processes and threads; a process that ends lets them go on. Raises ConfigError instead of OSError, also
    where that is raised inside.
    """
    try:
        make_folder(path.parent)
        handle = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            with suppress(OSError):  # some network file systems cannot lock a folder
                fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)
    except OSError as error:
        raise ConfigError(f"{path} could not be written: {error.strerror}") from None


def write(path: Path, content: str | bytes) -> None:
    """Replace a file atomically by one of mode 0600, following a link.

    The old file is kept if the content cannot be written (OSError, UnicodeEncodeError).
    """
    target = path.resolve()
    make_folder(target.parent)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(handle)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)  # otherwise a power failure could undo the rename
    finally:
        os.close(folder)


def write_named(path: Path, content: str | bytes, *, over: bool) -> None:
    """Write a file that a person names, like `write`; an existing one is replaced only if `over`.

    Raises FileExistsError, and ConfigError for everything else.
    """
    try:
        if not path.is_file() and (over or path.exists()):
            raise ConfigError(f"{path} is not a file")
        if not over:
            path.touch(mode=0o600, exist_ok=False)
        try:
            write(path, content)
        except OSError:
            if not over:
                path.unlink(missing_ok=True)
            raise
    except FileExistsError:
        raise
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}") from None
